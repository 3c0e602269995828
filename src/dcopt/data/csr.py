"""Rows of a CSR matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

kernels: Any = None  # csr_kernels, from the first matrix on: Numba costs a third of a second to import


@dataclass(frozen=True, eq=False)
class CsrRows:
    """A as (indptr, indices, data), columns in any order, each at most once in a row."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    d: int

    def __post_init__(self) -> None:
        global kernels
        if kernels is None:
            from . import csr_kernels as kernels
        self._get_ready("vector")

    def _get_ready(self, use: str) -> bool:
        kernels.make_ready(self.indptr, self.indices, self.data, self.d, use)
        return True

    @cached_property
    def _paired(self) -> bool:
        return self._get_ready("pair")

    @cached_property
    def _wide(self) -> bool:
        return self._get_ready("matrix")

    @property
    def shape(self) -> tuple[int, int]:
        return self.indptr.size - 1, self.d

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @cached_property
    def _all(self) -> NDArray[np.int64]:
        return np.arange(self.shape[0], dtype=np.int64)

    def _arrays(self, rows: NDArray[np.int64] | None) -> tuple[NDArray[Any], ...]:
        return self.indptr, self.indices, self.data, self._all if rows is None else rows

    def dot(self, x: NDArray[Any], rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        kernel = kernels.dotk if x.ndim == 2 and self._wide else kernels.dot1
        z: NDArray[Any] = kernel(*self._arrays(rows), x)
        return z

    def pair(
        self, x: NDArray[Any], prev: NDArray[Any], rows: NDArray[np.int64] | None = None
    ) -> NDArray[Any]:
        if x.ndim == 1 and self._paired:
            both: NDArray[Any] = kernels.dot2(*self._arrays(rows), x, prev)
            return both
        z = self.dot(np.concatenate((x, prev), axis=1), rows)
        return np.stack((z[:, : x.shape[1]], z[:, x.shape[1] :]))

    def tdot(self, c: NDArray[Any], rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        kernel = kernels.tdotk if c.ndim == 2 and self._wide else kernels.tdot1
        out: NDArray[Any] = kernel(*self._arrays(rows), c, self.d)
        return out

    def take(self, rows: NDArray[np.int64]) -> CsrRows:
        rows = np.asarray(rows, dtype=np.int64)
        sizes = self.indptr[rows + 1] - self.indptr[rows]
        indptr = np.concatenate((np.zeros(1, self.indptr.dtype), np.cumsum(sizes, dtype=self.indptr.dtype)))
        # position of each stored entry: its offset in the new row plus the start of the old one
        where = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        return CsrRows(indptr, self.indices[where], self.data[where], self.d)

    def gram(self, weights: NDArray[Any] | None, columns: NDArray[Any]) -> NDArray[np.float64]:
        place = np.full(self.d, -1, np.int64)
        place[columns] = np.arange(len(columns))
        w = np.ones(self.shape[0]) if weights is None else np.asarray(weights, np.float64)
        half: NDArray[np.float64] = kernels.gram(self.indptr, self.indices, self.data, w, place, len(columns))
        return half + np.triu(half, 1).T

    def norms2(self) -> NDArray[np.float64]:
        out: NDArray[np.float64] = kernels.norms2(self.indptr, self.data)
        return out
