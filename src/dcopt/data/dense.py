"""Rows of a dense NumPy array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..xp import Array


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
