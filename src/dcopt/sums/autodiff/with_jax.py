"""A function in JAX: compiled for few shapes, in float64 where x is. The only place that imports jax."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...data import batches
from ...xp import Array
from .base import Engine, refuse_numbers

_STEPS = 8  # Sizes of batches between two powers of 2: a batch is at most an eighth larger than it was asked.

_KEPT = 64  # Cotangents that are kept: more sizes of batches than this do not come in turns.


def padded(b: int) -> int:
    """The least size ≥ b for which functions are compiled: 8 sizes between two powers of 2."""
    step = max(1, (1 << (b - 1).bit_length()) // (2 * _STEPS))
    return -(-b // step) * step


@dataclass(eq=False)
class HostData:
    """The data in NumPy, from which rows are taken, and the chunks of full passes, filled up, as arrays of JAX.

    The chunks are a copy of the data, made at the first full pass. Sparse data have none: dense chunks of all rows may
    exceed the memory.
    """

    data: Any
    keeps: bool
    chunks: dict[tuple[int, int], Any] = field(default_factory=dict)


class _Shares(NamedTuple):
    """The cotangent of a batch of b components, filled up with zeros."""

    b: int
    filled: Any


@dataclass(eq=False)
class JaxEngine(Engine):
    """fn and grad are called with JAX arrays. 64 bits are enabled within these calls, and nowhere else.

    A batch is filled up with copies of its last row, whose weight is 0, so that few shapes are compiled.
    """

    name = "JAX"
    # The cotangents of equal weights by the size of the batch. They follow from it, and are no part of a fingerprint.
    equal: dict[Any, _Shares] = field(default_factory=dict, init=False, compare=False)

    def prepare(self, data: Any) -> HostData:
        own = batches.mapped(lambda leaf: np.asarray(leaf) if batches.kind_of(leaf) == "jax" else leaf, data)
        return HostData(own, all(batches.kind_of(leaf) == "numpy" for leaf in batches.leaves(own)))

    def take(self, data: HostData, rows: Array) -> Any:
        b, size = len(rows), self._size(len(rows))
        if size > b:
            filled = np.empty(size, np.int64)
            filled[:b], filled[b:] = rows, rows[-1]
            rows = filled
        batch = batches.take(data.data, rows)
        return batch if data.keeps else _dense(batch)

    def cut(self, data: HostData, start: int, stop: int) -> Any:
        if (start, stop) in data.chunks:
            return data.chunks[start, stop]
        if self._size(stop - start) == stop - start:
            chunk = _dense(batches.cut(data.data, start, stop))
        else:
            chunk = self.take(data, np.arange(start, stop))
        if data.keeps:
            with jax.enable_x64(True):
                chunk = data.chunks[start, stop] = batches.mapped(jnp.asarray, chunk)
        return chunk

    def _size(self, b: int) -> int:
        """A mean gradient of the user's would count the copies."""
        return b if self.grad is not None else padded(b)

    # ---- the function

    def values(self, x: Array, batch: Any, b: int) -> Array:
        with jax.enable_x64(True):
            return np.asarray(self._values(x, self._in_type(batch, x), self._size(b)))[:b]

    def value_grad(self, x: Array, batch: Any, w: Array) -> tuple[Array, Array]:
        if self.grad is not None:
            return super().value_grad(x, batch, w)
        with jax.enable_x64(True):
            values, g = self._value_grad(x, self._in_type(batch, x), w.filled)
            return np.asarray(values)[: w.b], np.asarray(g)

    def pulled(self, x: Array, batch: Any, w: Any) -> Array:
        if self.grad is not None:
            return super().pulled(x, batch, w)
        with jax.enable_x64(True):
            return np.asarray(self._pull(x, self._in_type(batch, x), w.filled))

    def diff(self, x: Array, prev: Array, batch: Any, w: Any) -> Array:
        if self.grad is not None:
            return super().diff(x, prev, batch, w)
        with jax.enable_x64(True):
            return np.asarray(self._diff(x, prev, self._in_type(batch, x), w.filled))

    def hess_dot(self, x: Array, v: Array, batch: Any, w: Any) -> Array:
        with jax.enable_x64(True):
            return np.asarray(self._hess_dot(x, v, self._in_type(batch, x), w.filled))

    def shares(self, w: Array | None, b: int, of: int, dtype: Any) -> Any:
        if self.grad is not None:
            return super().shares(w, b, of, dtype)
        if w is not None:
            return _Shares(b, _filled(w / of, dtype))
        key = b, of, np.dtype(dtype).char
        if key not in self.equal:
            if len(self.equal) >= _KEPT:
                self.equal.clear()
            with jax.enable_x64(True):
                self.equal[key] = _Shares(b, jnp.asarray(_filled(np.full(b, 1.0 / of), dtype)))
        return self.equal[key]

    def given(self, x: Array, batch: Any) -> Any:
        assert self.grad is not None
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, self.grad(self._argument(jnp.asarray(x)), self._in_type(batch, x)))

    def _in_type(self, batch: Any, x: Array) -> Any:
        """The batch with its real numbers in the type of x, where x is not in the type of the sum."""
        if x.dtype == self.dtype:
            return batch
        return batches.mapped(lambda a: a.astype(x.dtype) if a.dtype.kind == "f" else a, batch)

    def _argument(self, x: Any) -> Any:
        if self.tree is None:
            return x
        return self.tree.build(jnp.split(x, np.cumsum(self.tree.sizes)[:-1]))

    def _numbers(self, x: Any, batch: Any, b: int) -> Any:
        """Python runs this once for each shape, when the function is compiled: the checks cost a step nothing."""
        out = self.fn(self._argument(x), batch)
        refuse_numbers(out, b, x.dtype)
        return out

    @cached_property
    def _values(self) -> Any:
        return jax.jit(self._numbers, static_argnums=2)

    def _both(self, x: Any, batch: Any, w: Any) -> Any:
        values, pull = jax.vjp(lambda x: self._numbers(x, batch, w.shape[0]), x)
        return values, pull(w)[0]

    @cached_property
    def _value_grad(self) -> Any:
        return jax.jit(self._both)

    @cached_property
    def _pull(self) -> Any:
        return jax.jit(lambda x, batch, w: self._both(x, batch, w)[1])

    @cached_property
    def _diff(self) -> Any:
        return jax.jit(lambda x, prev, batch, w: self._both(x, batch, w)[1] - self._both(prev, batch, w)[1])

    @cached_property
    def _hess_dot(self) -> Any:
        return jax.jit(lambda x, v, batch, w: jax.jvp(lambda x: self._both(x, batch, w)[1], (x,), (v,))[1])


def _dense(batch: Any) -> Any:
    return batches.mapped(lambda a: a.toarray() if batches.kind_of(a) == "sparse" else a, batch)


def _filled(w: Array, dtype: Any) -> Array:
    out = np.zeros(padded(len(w)), dtype)
    out[: len(w)] = w
    return out
