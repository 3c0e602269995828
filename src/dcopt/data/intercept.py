"""A column of ones behind any row matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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

    @property
    def entries(self) -> int:
        """Stored entries"""
        n, d = self.a.shape
        return int(getattr(self.a, "entries", n * d)) + n

    def count(self, columns: Array) -> int:
        """Stored entries in these columns"""
        n, d = self.a.shape
        inner = columns[columns < d]
        return int(self.a.count(inner)) + n * (len(columns) - len(inner))  # type: ignore[attr-defined]

    def columns(self, columns: Array) -> tuple[Array, Array, Array, Array]:
        """The first and last entries of these columns, and the row numbers and values of all entries"""
        n, d = self.a.shape
        inner = columns[columns < d]
        begin, end, rows, values = self.a.columns(inner)  # type: ignore[attr-defined]
        if len(inner) == len(columns):
            return begin, end, rows, values
        last, ones = len(rows), (np.arange(n, dtype=np.int32), np.ones(n))
        ends = np.append(begin, last), np.append(end, last + n)
        return *ends, np.concatenate((rows, ones[0])), np.concatenate((values, ones[1]))

    def gram(self, weights: Array | None, columns: Array) -> Array:
        return self._gram(self.a.gram, weights, columns)

    @property
    def rough_gram(self) -> Callable[..., Array]:
        """As rough as that of A, if it has one: of the same rows in all of its parts."""
        a: Any = self.a
        rough: Callable[..., Array | None] = a.rough_weights

        def gram(weights: Array | None, columns: Array, rows: int) -> Array:
            return self.single_gram(rough(weights, len(columns), rows), columns)

        return gram

    def rough_weights(self, weights: Array | None, k: int, rows: int) -> Array | None:
        """Those of A"""
        return self.a.rough_weights(weights, k, rows)  # type: ignore[attr-defined]

    def single_gram(self, weights: Array | None, columns: Array) -> Array:
        """As `gram`, in float32 where it is not cheap."""
        return self._gram(self.a.single_gram, weights, columns)  # type: ignore[attr-defined]

    def _gram(self, gram: Callable[..., Array], weights: Array | None, columns: Array) -> Array:
        n, d = self.a.shape
        inner = columns[columns < d]
        if len(inner) == len(columns):
            return gram(weights, columns)
        w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        sums, total = np.asarray(self.a.tdot(w), np.float64)[inner, None], float(np.sum(w))
        return np.block([[gram(weights, inner), sums], [sums.T, np.full((1, 1), total)]])
