"""The columns of a CSR matrix: how many entries they store, the entries themselves, and Gram matrices."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .workers import added, cuts, each, parts_for, plain

_FEW = 4  # The wanted columns are copied when they hold at most this share of the entries: 1 / _FEW.


class CsrColumns:
    """Access by columns to (indptr, indices, data), read-only arrays of a matrix of this shape."""

    def __init__(
        self, fixed: tuple[NDArray[Any], ...], shape: tuple[int, int], kernels: Any, large: bool, keeps: bool = True
    ) -> None:
        self.fixed, self.entries, self._kernels, self._large = fixed, int(fixed[0][-1]), kernels, large
        self._keeps = keeps  # Whether `few` may make copies.
        self.n, self.d = shape
        self._few: tuple[NDArray[Any], tuple[NDArray[Any], ...]] | None = None  # The last result of `few`,
        self._held: tuple[NDArray[Any], ...] | None = None  # and of `columns`.

    def gram(self, weights: NDArray[Any] | None, columns: NDArray[Any]) -> NDArray[np.float64]:
        """Σ_i w_i a_i a_iᵀ over these columns; of a large matrix in parts, from several threads."""
        self._kernels.make_ready(*self.fixed, self.d, "gram")
        k, place = len(columns), np.full(self.d, -1, np.int64)
        place[columns] = np.arange(k)
        w = np.ones(self.n) if weights is None else plain(np.asarray(weights, np.float64))
        filled = self.entries * k // max(self.n * self.d, 1)  # The mean number of entries of a row in these columns.
        work = self.entries + self.n * filled**2 // 2
        parts = parts_for(work, k * k) if self._large else 1
        few = self.few(columns, make=True) or self.fixed
        if few is not self.fixed:
            filled = few[1].size // max(self.n, 1)
        # A band is some rows of the result. Each band reads all rows of the data.
        bands = 1 if parts > 1 else parts_for(min(work // 16, filled * 2**12), 1)
        at, edges = cuts(self.fixed[0], parts), [k * band // bands for band in range(bands + 1)]
        half = np.zeros((parts, k, k))

        def go(task: int) -> None:
            part, band = divmod(task, bands)
            where = *at[part : part + 2], *edges[band : band + 2]
            self._kernels.gram_part(*few, w, place, *where, half[part])

        each(go, parts * bands)
        total, p = added(half), np.arange(k)
        return np.where(p[:, None] <= p, total, total.T)

    def few(self, columns: NDArray[Any], make: bool = False) -> tuple[NDArray[Any], ...] | None:
        """indptr, indices and data with the entries of these columns alone, if they hold a small share of all entries.

        The last result is kept, and serves any subset of its columns. Sums over rows have the same bits with it,
        because every entry that is left out would have added 0.
        """
        held = self._few
        if held is not None and held[0][columns].all():
            return held[1]
        if not (make and self._large and self._keeps) or _FEW * self.count(columns) > self.entries:
            return None
        wanted, size = np.zeros(self.d, np.bool_), self.count(columns)
        wanted[columns] = True
        indptr, indices, data = self.fixed
        few = np.empty_like(indptr), np.empty(size + 1, indices.dtype), np.empty(size + 1, data.dtype)
        self._kernels.narrow(*self.fixed, wanted, *few)
        few = few[0], few[1][:size], few[2][:size]
        for part in few:
            part.flags.writeable = False  # The kernels are compiled for read-only arrays.
        self._few = wanted, few
        return few

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        self._kernels.make_ready(*self.fixed, self.d, "columns")
        counts: NDArray[np.int64] = self._kernels.column_counts(self.fixed[1][: self.entries], self.d)
        return counts

    def count(self, columns: NDArray[Any]) -> int:
        """Stored entries in these columns"""
        return int(np.sum(self._counts[columns]))

    def columns(self, columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """The first and last entries of these columns, and the row numbers and values of all entries.

        The last result is kept, and serves any subset of its columns.
        """
        held = self._held
        if held is None or not np.isin(columns, held[0], assume_unique=True).all():
            ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._counts[columns])))
            place = np.full(self.d, -1, np.int32)
            place[columns] = np.arange(len(columns))
            entries = np.empty(ptr[-1], np.int32), np.empty(ptr[-1])
            self._kernels.fill_columns(*self.fixed, place, ptr[:-1].copy(), *entries)
            held = self._held = columns.copy(), ptr, *entries
        where = np.searchsorted(held[0], columns)
        return held[1][where], held[1][where + 1], *held[2:]
