"""Rows of a dense NumPy array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..xp import Array

_BLOCK = 4096  # rows whose products are formed at once


@dataclass(frozen=True, eq=False)
class DenseRows:
    """A as a C-ordered array."""

    a: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.a.shape[0], self.a.shape[1]

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    def _rows(self, rows: Array | None) -> Array:
        return self.a if rows is None else self.a.take(rows, axis=0)  # a third of the time of a[rows]

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        return self._rows(rows) @ x

    def pair(
        self, x: Array, prev: Array, rows: Array | None = None
    ) -> Array:
        a = self._rows(rows)
        return np.stack((a @ x, a @ prev))

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        return self._rows(rows).T @ c

    def take(self, rows: Array) -> DenseRows:
        return DenseRows(np.ascontiguousarray(self.a[rows]))

    def norms2(self) -> Array:
        return np.einsum("ij,ij->i", self.a, self.a, dtype=np.float64)

    def count(self, columns: Array) -> int:
        """Entries in these columns"""
        return int(self.shape[0] * len(columns))

    def columns(self, columns: Array) -> tuple[Array, Array, Array]:
        """These columns as (ptr, row numbers, values), in 64 bits"""
        n, values = self.shape[0], np.asarray(self.a[:, columns].T, np.float64).ravel()
        return np.arange(len(columns) + 1) * n, np.tile(np.arange(n), len(columns)), values

    def gram(self, weights: Array | None, columns: Array) -> Array:
        total = np.zeros((len(columns), len(columns)))
        whole = len(columns) == self.shape[1]
        root = None if weights is None or np.any(weights < 0.0) else np.sqrt(weights)
        for start in range(0, self.shape[0], _BLOCK):
            rows: Any = slice(start, start + _BLOCK)
            if weights is not None and 2 * np.count_nonzero(weights[rows]) < weights[rows].size:
                rows = start + np.flatnonzero(weights[rows])  # the others add nothing
            block = np.asarray(self.a[rows] if whole else self.a[rows][:, columns], np.float64)
            if root is not None:
                block = block * root[rows, None]
            # the product of a matrix with its own transpose takes half of the time of any other
            total += block.T @ (block if weights is None or root is not None else block * weights[rows, None])
        return total
