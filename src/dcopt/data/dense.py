"""Rows of a dense NumPy array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..draw import Draw
from ..linalg.blas_threads import for_product
from ..xp import Array
from .arrays import aligned
from .rows import Can

_CACHE = 2**22  # Blocks of rows with this many bytes stay in the cache while several products use them.
_CHEAP = 2**26  # The number of multiplications that take a few milliseconds.
_SOME, _FAR = 256, 4.0  # The rows from which column means are estimated, and the deviations from 0 that count as far.
_BLOCK = 2048  # The least number of rows of a block whose Gram matrix is added to the others.
# BLAS may compute with what lies behind a short row and set a flag for it; a NaN in a result is found where it matters
_quiet = np.errstate(invalid="ignore", over="ignore")


@dataclass(frozen=True, eq=False)
class DenseRows:
    """A as a C-ordered array."""

    a: Array

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.a,)

    @property
    def shape(self) -> tuple[int, int]:
        return self.a.shape[0], self.a.shape[1]

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    def _rows(self, rows: Array | None) -> Array:
        return self.a if rows is None else self.a.take(rows, axis=0)  # This takes a third of the time of a[rows].

    @_quiet
    def dot(self, x: Array, rows: Array | None = None) -> Array:
        a = self._rows(rows)
        with _threads(a, x):
            return a @ x

    @_quiet
    def pair(self, x: Array, prev: Array, rows: Array | None = None) -> Array:
        a = self._rows(rows)
        with _threads(a, x):
            return np.stack((a @ x, a @ prev))

    @_quiet
    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        if rows is not None:
            a = self._rows(rows)
            with _threads(a, c):
                return a.T @ c
        first, *others = self._blocks()
        with self._for_block(c):
            out = self.a[first].T @ c[first]
            for block in others:
                out += self.a[block].T @ c[block]
        return out

    @_quiet
    def through(self, x: Array, of: Callable[[Array, int, int], Array]) -> tuple[Array, Array]:
        """z = A x and Aᵀ c in one pass: c[start:stop] = of(z[start:stop], start, stop). The bits of tdot."""
        z = np.zeros((self.shape[0], *x.shape[1:]), np.result_type(self.a, x))
        out: Any = None
        moved = bool(x.any())  # Most runs begin at 0.
        with self._for_block(x):
            for block in self._blocks():
                a = self.a[block]
                if moved:
                    np.matmul(a, x, out=z[block])
                g = a.T @ of(z[block], block.start, block.stop)
                out = g if out is None else out + g
        return z, out

    def _for_block(self, x: Array) -> AbstractContextManager[Any]:
        """BLAS's threads for the products of each block with x, or of its transpose with as many columns."""
        return _threads(self.a[next(self._blocks())], x)

    def _blocks(self, least: int = 1) -> Iterator[slice]:
        n = self.shape[0]
        size = max(_CACHE // max(self.a[:1].nbytes, 1), least)
        return (slice(start, min(start + size, n)) for start in range(0, max(n, 1), size))

    def can(self) -> Can:
        return Can(
            one_pass=self.through,
            pair=self.pair,
            gram=self.gram,
            rough=self,
            columns=self,
            entrywise=lambda function: DenseRows(function(self.a)),
        )

    def take(self, rows: Array) -> DenseRows:
        return DenseRows(np.ascontiguousarray(self.a[rows]))

    def norms2(self) -> Array:
        return self._norms2

    @cached_property
    def _norms2(self) -> Array:
        norms = np.einsum("ij,ij->i", self.a, self.a, dtype=np.float64)
        norms.flags.writeable = False
        return norms

    def count(self, columns: Array) -> int:
        """Stored entries in these columns"""
        return self.shape[0] * len(columns)

    def columns(self, columns: Array) -> tuple[Array, Array, Array, Array]:
        """The first and last entries of these columns, and the row numbers and values of all entries"""
        n, values = self.shape[0], np.asarray(self.a.T[columns], np.float64, order="C").ravel()
        begin = np.arange(len(columns)) * n
        return begin, begin + n, np.tile(np.arange(n, dtype=np.int32), len(columns)), values

    def gram(self, weights: Array | None, columns: Array, dtype: Any = np.float64) -> Array:
        """Σ_i w_i a_i a_iᵀ over the given columns; in float32 the products of a block are, not their sum.

        Those of a_i − m, with m near the means of columns that are far from 0, of which float32 would lose the rest:
        Σ w (a − m)(a − m)ᵀ + m sᵀ + s mᵀ + (Σ w) m mᵀ, s = Σ w (a − m).
        """
        k, m = len(columns), None if dtype == np.float64 else self._means(weights, columns)
        side, mass = np.zeros(k), 0.0
        total, whole = np.zeros((k, k)), k == self.shape[1]
        root = None if weights is None or np.any(weights < 0.0) else np.sqrt(weights)
        most = 0.0 if dtype == np.float64 else float(self._norms2.max() * (1.0 if root is None else root.max() ** 2))
        unit = np.sqrt(most) if 0.0 < most < np.inf else 1.0  # The largest float32 number is about 1e38.
        for block in self._blocks(_BLOCK):
            rows: Any = block
            if weights is not None and 2 * np.count_nonzero(weights[rows]) < weights[rows].size:
                rows = block.start + np.flatnonzero(weights[rows])  # Rows of weight 0 add nothing.
            some = self.a[rows] if whole else self.a[rows].take(columns, axis=1)
            if m is not None:
                some = some - m
                w = np.ones(len(some)) if weights is None else weights[rows]
                side, mass = side + w @ some, mass + float(np.sum(w))
            if root is not None:
                some = some * root[rows, None]
            some = np.asarray(some if unit == 1.0 else some / unit, dtype)
            # BLAS computes the product of a matrix with its own transpose in half of the time of another product.
            with for_product(len(some), k, k):
                total += some.T @ (some if weights is None or root is not None else some * weights[rows, None])
        total = total if unit == 1.0 else total * unit**2
        return total if m is None else total + np.outer(m, side) + np.outer(side, m) + mass * np.outer(m, m)

    def _means(self, weights: Array | None, columns: Array) -> Array | None:
        """Means over some rows, for the columns whose mean is several deviations from 0; None if there are none"""
        rows = np.arange(self.shape[0]) if weights is None else np.flatnonzero(weights)
        rows = rows[:: max(len(rows) // _SOME, 1)]
        w = np.ones(len(rows)) if weights is None else np.abs(weights[rows])
        if not w.any():
            return None
        some = np.asarray(self.a[rows].take(columns, axis=1), np.float64)
        mean = w @ some / w.sum()
        far = np.abs(mean) > _FAR * np.sqrt(w @ (some - mean) ** 2 / w.sum())
        return np.where(far, mean, 0.0) if far.any() else None

    def rough_weights(self, weights: Array | None, k: int, rows: int) -> Array | None:
        """Weights of a sample that stands for all rows, and 0 for the others: `rows` rows for each of k columns.

        The sample is larger where that costs no more than a few passes over all rows.
        """
        n, d = self.shape
        share = rows * max(k, n * d / max(k, 1) ** 2) / n
        if share >= 0.5:
            return weights
        kept = Draw(0, 0).each(n) < share
        return np.where(kept, (1.0 if weights is None else weights) / share, 0.0)

    def single_gram(self, weights: Array | None, columns: Array) -> Array:
        """As `gram`, in float32 where it is not cheap."""
        cheap = self.shape[0] * len(columns) ** 2 <= _CHEAP
        return self.gram(weights, columns, np.float64 if cheap else np.float32)


def _threads(a: Array, x: Array) -> AbstractContextManager[Any]:
    """Those of BLAS for a product of a with x, or of its transpose with as many columns."""
    return for_product(a.shape[0], a.shape[1], x.shape[1] if x.ndim > 1 else 1)


def _received(a: Array) -> DenseRows:
    """A copy, perhaps in another process"""
    return DenseRows(aligned(a))
