"""Statistics of all columns, summed while the rows go by: how many entries are stored, their sums and their squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block import Block


class ColumnSums:
    """Σ_i 1[a_ij is stored], Σ_i a_ij and Σ_i a_ij² of every column j; columns are added as they appear."""

    def __init__(self, sums: NDArray[np.float64] | None = None) -> None:
        self.sums = np.zeros((3, 0)) if sums is None else sums

    def widen(self, d: int) -> None:
        if d > self.sums.shape[1]:
            self.sums = np.concatenate((self.sums, np.zeros((3, d - self.sums.shape[1]))), axis=1)

    def add(self, block: Block) -> None:
        if block.indices is None:
            data = block.data.astype(np.float64, copy=False)
            self.widen(data.shape[1])
            self.sums += np.stack((np.full(data.shape[1], float(len(data))), data.sum(0), np.square(data).sum(0)))
            return
        if not block.entries:
            return
        # Only the columns from the first to the last that occur here are touched.
        low, high = int(block.indices.min()), int(block.indices.max()) + 1
        self.widen(high)
        at, data = block.indices - low, block.data
        self.sums[0, low:high] += np.bincount(at, minlength=high - low)
        self.sums[1, low:high] += np.bincount(at, data, high - low)
        self.sums[2, low:high] += np.bincount(at, np.square(data, dtype=np.float64), high - low)

    def table(self, n: int, d: int) -> dict[str, NDArray[Any]]:
        """What is kept with the set: counts, means and mean squares"""
        self.widen(d)
        count, total, squares = self.sums[:, :d]
        return {"counts": count.astype(np.int64), "means": total / n, "mean_squares": squares / n}
