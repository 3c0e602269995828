"""A quadratic whose matrix is known: a look at it costs no pass over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..draw import Draw, Sampling
from ..linalg.symmetric import square
from ..xp import Array
from .base import SumBase
from .curvature import Curvature
from .protocol import Facts, Look, Sum


class KnownQuadratic(SumBase):
    """f(x₀) + ⟨g, x − x₀⟩ + ½ ⟨x − x₀, Q (x − x₀)⟩, g and Q of some columns, x = x₀ elsewhere

    It is f if the curvature of f is the same everywhere. It is a function of a look at x₀ and of Q alone. It has no
    components, and is its own batch. The slopes along other columns are 0, so that a step leaves them where they are.
    """

    n = 0
    rows, size = None, 0  # of the batch

    def __init__(self, f: Sum, seen: Look, columns: NDArray[np.int64]) -> None:
        self._seen, self._columns, self._facts = seen, columns, f.facts()
        self.shape, self.dtype = f.shape, f.dtype
        C = f.curvature(seen)
        assert C is not None and C.constant  # That is what is known.
        self._C: Any = KnownCurvature(C, columns)

    def facts(self) -> Facts:
        return Facts(self._facts.curvature, self._facts.constant, self._facts.lower)

    def curvature(self, here: Look) -> Curvature:
        C: Curvature = self._C
        return C

    def look(self, x: Array) -> Look:
        return Look(x.copy(), *self.value_grad(x), None, self.n)

    def value_grad(self, x: Array) -> tuple[float, Array]:
        some, seen = self._columns, self._seen
        step = (x - seen.x)[some]
        bent, grad = self._C.Q @ step, np.zeros_like(seen.grad)
        grad[some] = seen.grad[some] + bent
        return seen.f + float(np.sum(step * (seen.grad[some] + 0.5 * bent))), grad

    def all(self) -> KnownQuadratic:
        return self

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> KnownQuadratic:
        return self

    def grad(self, x: Array) -> Array:
        return self.value_grad(x)[1]

    def diff(self, x: Array, prev: Array) -> Array:
        return self.grad(x) - self.grad(prev)

    def slopes(self, x: Array) -> Array:
        return self.grad(x)

    def pull(self, c: Array) -> Array:
        return c


class KnownCurvature:
    """C, whose Gram matrix on some columns was made before and serves all parts of them."""

    shows_columns = False  # Q is here: nothing is gained by columns.

    def __init__(self, C: Curvature, columns: NDArray[np.int64]) -> None:
        self._C, self._columns, self.Q = C, columns, C.gram(columns)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._C, name)

    def gram(self, columns: Array) -> NDArray[np.float64]:
        return square(self.Q, np.asarray(np.searchsorted(self._columns, columns)))
