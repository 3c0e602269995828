"""The waist: what a backend must provide. Rows are the a_i; x is (d,) or (d, c)."""

from __future__ import annotations

from typing import Protocol

from ..xp import Array


class RowMatrix(Protocol):
    """A ∈ ℝ^{N×d}, seen only through products with a subset of its rows."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> Array: ...

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        """A[rows] x, for x (d,) or (d, c)."""

    def pair(self, x: Array, prev: Array, rows: Array | None = None) -> Array:
        """(A[rows] x, A[rows] prev), stacked: (2, m) or (2, m, c), in one pass over the rows."""

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        """A[rows]ᵀ c, for c (m,) or (m, c)."""

    def take(self, rows: Array) -> RowMatrix:
        """A[rows] as a matrix of its own."""

    def norms2(self) -> Array:
        """‖a_i‖² for every row, in float64."""

    def gram(self, weights: Array | None, columns: Array) -> Array:
        """Σ_i w_i a_i a_iᵀ over the given columns (in increasing order), in float64."""
