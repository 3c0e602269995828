"""The stochastic part as a function of the user's: fn(x, batch) gives one number for each component."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data import batches
from ..draw import Draw, Sampling
from ..errors import BadSettings, require
from ..xp import Array
from .autodiff import Engine
from .base import SumBase
from .protocol import Facts

CHUNK = 8192  # Components that are evaluated at once; memory grows with it, and smaller chunks cost more calls.


class ComponentBatch(NamedTuple):
    """f_B(x) = (1/|B|) Σ_{i∈B} w_i f_i(x), with f_i(x) = fn(x, data[i])"""

    sum: Components
    rows: Array | None
    size: int

    def value_grad(self, x: Array) -> tuple[float, Array]:
        total, g = 0.0, np.zeros(x.shape, np.float64)
        at = self._in(x)
        for batch, w, b in self._pieces():
            values, part = self.sum.engine.value_grad(at, batch, self._shares(w, b, at))
            total += float(np.sum(values if w is None else values * w, dtype=np.float64))
            g += part
        return total / self.size, g.astype(x.dtype, copy=False)

    def value(self, x: Array) -> float:
        """f_B(x) alone"""
        return float(np.sum(self.values(x))) / self.size

    def values(self, x: Array) -> Array:
        """w_i f_i(x) of every component, in float64"""
        at, found = self._in(x), []
        for batch, w, b in self._pieces():
            values = self.sum.engine.values(at, batch, b).astype(np.float64)
            found.append(values if w is None else values * w)
        return np.concatenate(found)

    def grad(self, x: Array) -> Array:
        return self._added(self.sum.engine.pulled, x)

    def diff(self, x: Array, prev: Array) -> Array:
        return self._added(self.sum.engine.diff, x, prev)

    def hess_dot(self, x: Array, v: Array) -> Array:
        """∇²f_B(x) v"""
        return self._added(self.sum.engine.hess_dot, x, v)

    def slopes(self, x: Array) -> Array:
        """w_i ∇f_i(x) of every component, (b, *shape), where grad= gives one gradient for each."""
        if not self.sum.engine.each:
            raise BadSettings("grad", self.sum.engine.grad, "a function that gives one gradient for each component")
        found = []
        for batch, w, b in self._pieces():
            g = self.sum.engine.gradients(self._in(x), batch, b)
            found.append(g if w is None else g * w.reshape(-1, *(1,) * (g.ndim - 1)).astype(g.dtype))
        return np.concatenate(found).astype(x.dtype, copy=False)

    def pull(self, c: Array) -> Array:
        return np.sum(c, axis=0, dtype=np.float64).astype(c.dtype, copy=False) / self.size

    def _in(self, x: Array) -> Array:
        """x in a type that fn accepts"""
        return x if self.sum.double else x.astype(self.sum.dtype, copy=False)

    def _shares(self, w: Array | None, b: int, at: Array) -> Any:
        return self.sum.engine.shares(w, b, self.size, at.dtype)

    def _added(self, part: Callable[..., Array], x: Array, *more: Array) -> Array:
        """Σ over the pieces in float64, and the result in the type of x"""
        at = [self._in(point) for point in (x, *more)]
        g: Array = None
        for batch, w, b in self._pieces():
            own = part(*at, batch, self._shares(w, b, at[0]))
            g = own if g is None else g.astype(np.float64, copy=False) + own
        return g.astype(x.dtype, copy=False)

    def _pieces(self) -> Iterator[tuple[Any, Array | None, int]]:
        """Batches of at most `chunk` components, the weights of these (None: all 1), and their number."""
        of = self.sum
        for start in range(0, self.size, of.chunk):
            stop = min(self.size, start + of.chunk)
            if self.rows is None:
                batch, rows = of.engine.cut(of.own, start, stop), slice(start, stop)
            else:
                rows = self.rows[start:stop]
                batch = of.engine.take(of.own, rows)
            yield batch, None if of.weights is None else of.weights[rows], stop - start


@dataclass(frozen=True, eq=False, repr=False)
class Components(SumBase):
    """f(x) = (1/N) Σ w_i fn(x, data[i]), with mean weight 1: made by `dcopt.components`.

    fn is called with a batch and gives one number for each of its components. Weights, sums and chunks are kept outside
    of it: its gradient is one backward pass with the weights as cotangent.
    """

    data: Any
    engine: Engine
    weights: Array | None = None
    known: Facts = field(default_factory=Facts)
    chunk: int = CHUNK
    own: Any = field(default=None, compare=False)  # the data as the framework takes batches from it
    double: bool = True  # Whether fn can be evaluated in float64.
    start: Any = field(default=None, compare=False)  # the x at which fn was tried first: 0, or `like`

    @cached_property
    def n(self) -> int:
        return batches.count(self.data)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.engine.shape

    @property
    def dtype(self) -> Any:
        return np.dtype(self.engine.dtype)

    def __repr__(self) -> str:
        name = getattr(self.engine.fn, "__name__", type(self.engine.fn).__name__)
        return f"Components({name} in {self.engine.name}, {self.n} components, x {self.shape})"

    def all(self) -> ComponentBatch:
        return ComponentBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> ComponentBatch:
        b = int(b)
        return ComponentBatch(self, draw.rows(self.n, b, sampling), b)

    def facts(self) -> Facts:
        return self.known

    def notes(self) -> tuple[str, ...]:
        if self.double:
            return ()
        return ("F and the measure are evaluated in float32: fn does not accept x in float64",)

    def hess_dot(self, x: Array, v: Array, rows: Array | None = None) -> Array:
        """∇²f(x) v by autodiff, or that of the mean over the given rows"""
        require(self.engine.differentiates, "grad", self.engine.grad, "None: products with the Hessian need autodiff")
        batch = self.all() if rows is None else ComponentBatch(self, np.asarray(rows, np.int64), len(rows))
        return batch.hess_dot(np.asarray(x), np.asarray(v))

    def take(self, rows: Array) -> Components:
        """The mean over the given rows, as a sum of its own."""
        return self.over(batches.take(self.data, rows), None if self.weights is None else self.weights[rows])

    def over(self, data: Any, weights: Array | None = None) -> Components:
        """The mean of the same function over other data"""
        return replace(self, data=data, own=self.engine.prepare(data), weights=weights)

    # ---- the parameters as a tree

    def ravel(self, tree: Any) -> Array:
        """x, one vector, from parameters in the structure of `like`"""
        return np.array(tree if self.engine.tree is None else self.engine.tree.ravel(tree))

    def unravel(self, x: Array) -> Any:
        """The parameters in the structure of `like`, as NumPy arrays"""
        return np.array(x) if self.engine.tree is None else self.engine.tree.unravel(np.array(x))
