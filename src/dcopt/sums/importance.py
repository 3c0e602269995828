"""Rows drawn by their length, for data whose rows differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..xp import Array

if TYPE_CHECKING:
    from .linear import LinearSum


class ImportanceWeights(NamedTuple):
    """f as the mean of f_i / (N q_i) over rows i that are drawn with probability q_i, q_i ∝ w_i ‖a_i‖²"""

    f: LinearSum  # with the weights w_i / (N q_i)
    below: Array  # Σ_{j ≤ i} q_j

    @classmethod
    def of(cls, f: LinearSum) -> ImportanceWeights:
        """A row of zeros adds nothing to a gradient and is never drawn; rows that all are 0 are equally likely."""
        w = np.ones(f.n) if f.weights is None else np.asarray(f.weights, np.float64)
        size = f.row_sizes if f.row_sizes.any() else np.ones(f.n)
        share = size / size.mean()  # N q_i
        weights = np.divide(w, share, out=np.zeros(f.n), where=share > 0.0).astype(f.dtype)
        return cls(replace(f, weights=weights), np.cumsum(share))

    def rows(self, numbers: Array) -> Array:
        """The row of each number in [0, 1)"""
        found = np.searchsorted(self.below, numbers * self.below[-1], side="right")
        return np.minimum(found, np.searchsorted(self.below, self.below[-1]))  # the last row with a chance
