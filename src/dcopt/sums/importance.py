"""Rows drawn by their length, for data whose rows differ."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..xp import Array
from .pieces import shares_of_rows, weights

if TYPE_CHECKING:
    from .linear import LinearSum


def importance_weights(f: LinearSum, mean: float) -> tuple[Array, Array]:
    """w_i / (N q_i), and the shares N q_i, where the mean of w_i ‖a_i‖² over all rows is given"""
    share = shares_of_rows(f, mean)
    return np.divide(weights(f), share, out=np.zeros(f.n), where=share > 0.0).astype(f.dtype), share


class ImportanceWeights(NamedTuple):
    """f as the mean of f_i / (N q_i) over rows i that are drawn with probability q_i, q_i ∝ w_i ‖a_i‖²"""

    f: Any  # the sum with the weights w_i / (N q_i)
    below: Array  # Σ_{j ≤ i} q_j

    @classmethod
    def of(cls, f: LinearSum) -> ImportanceWeights:
        """A row of zeros adds nothing to a gradient and is never drawn; rows that all are 0 are equally likely."""
        own, share = importance_weights(f, f.mean_row)
        return cls(replace(f, weights=own), np.cumsum(share))

    def rows(self, numbers: Array) -> Array:
        """The row of each number in [0, 1)"""
        return drawn(self.below, numbers)


def drawn(below: Array, numbers: Array) -> Array:
    """The row of each number in [0, 1), where below_i = Σ_{j ≤ i} q_j up to a factor"""
    found = np.searchsorted(below, numbers * below[-1], side="right")
    return np.minimum(found, np.searchsorted(below, below[-1]))  # the last row with a chance
