"""A column of ones behind any row matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..xp import Array, namespace
from .rows import RowMatrix


@dataclass(frozen=True, eq=False)
class WithIntercept:
    """(A, 1): the last entry (row) of x is the intercept."""

    a: RowMatrix

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.a.shape
        return n, d + 1

    @property
    def dtype(self) -> Array:
        return self.a.dtype

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        return self.a.dot(x[:-1], rows) + x[-1]

    def pair(self, x: Array, prev: Array, rows: Array | None = None) -> Array:
        z = self.a.pair(x[:-1], prev[:-1], rows)
        return z + namespace(z).stack((x[-1], prev[-1]))[:, None]

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        xp = namespace(c)
        return xp.concat((self.a.tdot(c, rows), xp.sum(c, axis=0, keepdims=True)))

    def through(self, x: Array, of: Callable[[Array, int, int], Array]) -> tuple[Array, Array]:
        """z = (A, 1) x and (A, 1)ᵀ c, c = of(z, start, stop), in one pass where A can."""
        through = getattr(self.a, "through", None)
        if through is None:
            z = self.dot(x)
            return z, self.tdot(of(z, 0, len(z)))
        c: dict[tuple[int, int], Array] = {}

        def shifted(z: Array, start: int, stop: int) -> Array:
            c[start, stop] = of(z + x[-1], start, stop)
            return c[start, stop]

        z, out = through(x[:-1], shifted)
        xp = namespace(z)
        ones = xp.sum(xp.concat([c[part] for part in sorted(c)]), axis=0, keepdims=True)
        return z + x[-1], xp.concat((out, ones))

    def take(self, rows: Array) -> WithIntercept:
        return WithIntercept(self.a.take(rows))

    def norms2(self) -> Array:
        return self.a.norms2() + 1.0

    def count(self, columns: Array) -> int:
        """Stored entries in these columns"""
        n, d = self.a.shape
        inner = columns[columns < d]
        return int(self.a.count(inner)) + n * (len(columns) - len(inner))  # type: ignore[attr-defined]

    def columns(self, columns: Array) -> tuple[Array, Array, Array]:
        """These columns as (ptr, row numbers, values), in 64 bits"""
        n, d = self.a.shape
        inner = columns[columns < d]
        ptr, rows, values = self.a.columns(inner)  # type: ignore[attr-defined]
        if len(inner) == len(columns):
            return ptr, rows, values
        last = np.concatenate((ptr, [ptr[-1] + n]))
        return last, np.concatenate((rows, np.arange(n))), np.concatenate((values, np.ones(n)))

    def gram(self, weights: Array | None, columns: Array) -> Array:
        n, d = self.a.shape
        inner = columns[columns < d]
        if len(inner) == len(columns):
            return self.a.gram(weights, columns)
        w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        sums = np.asarray(self.a.tdot(w), np.float64)[inner, None]
        return np.block([[self.a.gram(weights, inner), sums], [sums.T, np.sum(w)]])
