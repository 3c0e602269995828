"""What a sum over rows knows, wherever the rows are: it follows from the answers of its parts (`each`, `total`)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from ..xp import Array
from . import pieces
from .base import SumBase
from .constants import Smoothness, smoothness
from .grams import Grams
from .protocol import Facts, SumOverRows


class RowsBase(SumBase):
    """f(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i): a subclass keeps the rows. Rows in one place are one part."""

    def facts(self) -> Facts:
        return self._facts

    @cached_property
    def _facts(self: Any) -> Facts:
        return Facts(self.loss.curvature, self.grams is not None, self.loss.lower, rows=self)

    @cached_property
    def grams(self: Any) -> Grams | None:
        """Gram matrices, where they do not depend on x"""
        return Grams(self) if self.loss.labels != "class" and len(set(self.loss.curvature)) == 1 else None

    def smoothness(self: SumOverRows) -> Smoothness:
        return smoothness(self)

    def notes(self: SumOverRows) -> tuple[str, ...]:
        return (self.loss.remark,) if self.loss.remark else ()

    def rounding(self: SumOverRows, x: Array) -> float:
        """A prediction ⟨a_i, x⟩ loses about ε (Σ_k a_ik² x_k²)^(1/2), the slope sup|φ''| times that, and column j of
        the gradient √(mean a_ij²) times that, by Cauchy and Schwarz. The sums over parts add less than those within.
        """
        d, sizes = self.shape[0], self.column_mean_squares
        sizes = np.full(d, self.mean_row / d) if sizes is None else sizes
        rows = np.sum(np.asarray(x, np.float64).reshape(d, -1) ** 2, axis=1)
        steep = max(map(abs, self.loss.curvature))
        if not self.loss.bounded:  # That at x is near the largest along a small error.
            steep = max(self.each(pieces.largest_bend, x))
        eps = float(np.finfo(np.float64).eps)
        return eps * steep * math.sqrt(float(np.sum(sizes)) * float(np.sum(sizes * rows)))

    @cached_property
    def column_mean_squares(self: Any) -> Array | None:
        """(1/N) Σ_i w_i a_ij² of every column j; None if the storage does not show its entries"""
        sizes = self.total(pieces.squares_of_columns)
        return None if sizes is None else sizes / self.n

    @cached_property
    def column_means(self: Any) -> Array:
        """(1/N) Σ_i w_i a_ij of every column j"""
        return self.total(pieces.sums_of_columns) / self.n

    @property
    def mean_curvature_bound(self: SumOverRows) -> float:
        """sup|φ''| (1/N) Σ w_i ‖a_i‖² / d: the mean of the diagonal of a matrix that majorizes ∇²f everywhere."""
        low, high = self.loss.curvature
        return max(high, -low) * self.mean_row / self.shape[0]
