"""Gram matrices of a loss whose curvature is the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..linalg.symmetric import square
from ..xp import Array
from .pieces import rough_weighted_gram, weighted_gram

if TYPE_CHECKING:
    from .protocol import SumOverRows

ROUGH_ROWS = 32  # rows for every column of a rough Gram matrix: they tell its entries to a sixth
_WHOLE = 2**30  # multiplications that a Gram matrix of all columns may cost: some hundredths of a second


class Grams:
    """(1/N) Σ w_i φ'' a_i a_iᵀ of a loss with constant φ'', on some columns.

    That of all columns is made once, where it costs little and many of them are asked for; else the last one serves all
    steps with the same columns. A part of a larger one has other bits: what comes back is a function of the columns.
    """

    def __init__(self, sum: SumOverRows) -> None:
        self._sum = sum
        n, d = sum.n, sum.shape[0]
        self.exact = n * d * d <= _WHOLE
        self._most = d // 2 if self.exact else d  # columns that are taken alone
        self._last: tuple[Array, Array] | None = None

    def on(self, columns: Array) -> Array:
        """Its rows and columns at these places; a copy."""
        if len(columns) > self._most:
            return square(self._of(np.arange(self._sum.shape[0])), columns)
        return self._of(columns).copy()

    def _of(self, columns: Array) -> Array:
        last = self._last
        if last is None or not np.array_equal(last[0], columns):
            f = self._sum
            rough = rough_weighted_gram, columns, f.n, ROUGH_ROWS
            found = f.total(weighted_gram, columns) if self.exact else f.total(*rough)
            self._last = last = columns.copy(), found * (f.loss.curvature[0] / f.n)
        return last[1]
