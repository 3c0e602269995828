"""A function in JAX: compiled for few shapes, in float64 where x is. The only place that imports jax."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...data import batches
from ...xp import Array
from .base import Engine, refuse_numbers

_STEPS = 8  # Sizes of batches between two powers of 2: a batch is at most an eighth larger than it was asked.


def padded(b: int) -> int:
    """The least size ≥ b for which functions are compiled: 8 sizes between two powers of 2."""
    step = max(1, (1 << (b - 1).bit_length()) // (2 * _STEPS))
    return -(-b // step) * step


@dataclass(eq=False)
class JaxEngine(Engine):
    """fn and grad are called with JAX arrays. 64 bits are enabled within these calls, and nowhere else.

    A batch is filled up with copies of its last row, whose weight is 0, so that few shapes are compiled.
    """

    name = "JAX"

    def prepare(self, data: Any) -> Any:
        return batches.mapped(lambda leaf: np.asarray(leaf) if batches.kind_of(leaf) == "jax" else leaf, data)

    def take(self, data: Any, rows: Array) -> Any:
        size = self._size(len(rows))
        if size > len(rows):
            rows = np.concatenate((rows, np.full(size - len(rows), rows[-1])))
        return self._arrays(batches.take(data, rows))

    def cut(self, data: Any, start: int, stop: int) -> Any:
        if self._size(stop - start) == stop - start:
            return self._arrays(batches.cut(data, start, stop))
        return self.take(data, np.arange(start, stop))

    def _size(self, b: int) -> int:
        """A mean gradient of the user's would count the copies."""
        return b if self.grad is not None else padded(b)

    def _arrays(self, batch: Any) -> Any:
        return batches.mapped(lambda a: a.toarray() if batches.kind_of(a) == "sparse" else a, batch)

    # ---- the function

    def values(self, x: Array, batch: Any, b: int) -> Array:
        with jax.enable_x64(True):
            return np.asarray(self._values(x, self._in_type(batch, x), np.zeros(self._size(b), x.dtype)))[:b]

    def value_grad(self, x: Array, batch: Any, w: Array) -> tuple[Array, Array]:
        if self.grad is not None:
            return self.values(x, batch, len(w)), self.weighted(x, batch, w)
        with jax.enable_x64(True):
            values, g = self._value_grad(x, self._in_type(batch, x), _filled(w, x))
            return np.asarray(values)[: len(w)], np.asarray(g)

    def diff(self, x: Array, prev: Array, batch: Any, w: Array) -> Array:
        if self.grad is not None:
            return self.weighted(x, batch, w) - self.weighted(prev, batch, w)
        with jax.enable_x64(True):
            return np.asarray(self._diff(x, prev, self._in_type(batch, x), _filled(w, x)))

    def hess_dot(self, x: Array, v: Array, batch: Any, w: Array) -> Array:
        with jax.enable_x64(True):
            return np.asarray(self._hess_dot(x, v, self._in_type(batch, x), _filled(w, x)))

    def given(self, x: Array, batch: Any) -> Any:
        assert self.grad is not None
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, self.grad(self._argument(jnp.asarray(x)), self._in_type(batch, x)))

    def _in_type(self, batch: Any, x: Array) -> Any:
        """The batch with its real numbers in the type of x, where x is not in the type of the sum."""
        if x.dtype == self.dtype:
            return batch
        return batches.mapped(lambda a: a.astype(x.dtype) if np.asarray(a).dtype.kind == "f" else a, batch)

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
        return jax.jit(lambda x, batch, w: self._numbers(x, batch, w.shape[0]))

    def _pulled(self, x: Any, batch: Any, w: Any) -> Any:
        values, pull = jax.vjp(lambda x: self._numbers(x, batch, w.shape[0]), x)
        return values, pull(w)[0]

    @cached_property
    def _value_grad(self) -> Any:
        return jax.jit(self._pulled)

    @cached_property
    def _diff(self) -> Any:
        return jax.jit(lambda x, prev, batch, w: self._pulled(x, batch, w)[1] - self._pulled(prev, batch, w)[1])

    @cached_property
    def _hess_dot(self) -> Any:
        return jax.jit(lambda x, v, batch, w: jax.jvp(lambda x: self._pulled(x, batch, w)[1], (x,), (v,))[1])


def _filled(w: Array, x: Array) -> Array:
    out = np.zeros(padded(len(w)), x.dtype)
    out[: len(w)] = w
    return out
