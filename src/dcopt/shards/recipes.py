"""How the part of a sum is made of a shard, whose labels are kept as codes, and of its first rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.csr import CsrRows
from ..data.dense import DenseRows
from ..data.intercept import WithIntercept
from ..data.rows import RowMatrix
from ..datasets.shards.opened import decoded
from ..losses import Loss
from ..sums import LinearSum, PartData, PartsSum, Recipe
from ..xp import Array


@dataclass(frozen=True, eq=False)
class Stored(Recipe):
    """The loss over the rows of a shard, whose labels are kept as codes: −1 and +1, or 0, 1, …"""

    loss: Loss
    classes: NDArray[Any]
    scale: tuple[float, float] | None = None
    intercept: bool = False

    def __call__(self, data: PartData, number: int) -> LinearSum:
        rows: Any = WithIntercept(data.rows) if self.intercept else data.rows
        labels: Any = data.labels
        if self.loss.labels == "real":
            labels = decoded(labels, self.classes)
        elif self.loss.labels == "class" and len(self.classes) == 2:
            labels = labels > 0
        labels = labels.astype(np.int64 if self.loss.labels == "class" else rows.dtype, copy=False)
        weights = None
        if self.scale is not None and data.weights is not None:
            w = np.array(data.weights, np.float64)
            weights = (w / self.scale[0] * self.scale[1]).astype(rows.dtype)
        return LinearSum(rows, self.loss, labels, weights, () if self.loss.labels != "class" else (len(self.classes),))


@dataclass(frozen=True, eq=False)
class Leading(Recipe):
    """The first rows of every shard, which are a sample because the rows were shuffled: no row is copied."""

    of: Recipe
    sizes: tuple[int, ...]

    def __call__(self, data: PartData, number: int) -> LinearSum:
        n, rows = self.sizes[number], data.rows
        weights = None if data.weights is None else data.weights[:n]
        return self.of(PartData(leading(rows, n), data.labels[:n], weights), number)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class ShardsSum(PartsSum):
    """A sum over shards. Packing has summed its columns, and most often shuffled its rows."""

    shuffled: bool = True  # The first rows of a shard are a random sample of it.
    means: NDArray[np.float64] | None = None  # of all columns of A, and the means of their squares; None: of rows with
    mean_squares: NDArray[np.float64] | None = None  # weights, or not known

    @cached_property
    def column_mean_squares(self) -> Array | None:
        return super().column_mean_squares if self.mean_squares is None else self.mean_squares

    @cached_property
    def column_means(self) -> Array:
        return super().column_means if self.means is None else self.means

    def part(self, seed: int, share: float) -> PartsSum:
        """The mean over about this share of every shard: its first rows, or drawn rows where they have an order"""
        if not self.shuffled:
            return super().part(seed, share)
        sizes = tuple(min(size, math.ceil(share * size)) for size in self.sizes)
        kept = self.__dict__.get("_part")
        if kept is None or kept.sizes != sizes:
            kept = self.__dict__["_part"] = PartsSum(self.homes, Leading(self.recipe, sizes), sizes)
        found: PartsSum = kept
        return found


def leading(rows: RowMatrix, n: int) -> RowMatrix:
    """The first n rows, as views of the arrays"""
    if n == rows.shape[0]:
        return rows
    if isinstance(rows, DenseRows):
        return DenseRows(rows.a[:n])
    assert isinstance(rows, CsrRows)  # A shard has no other rows.
    end = int(rows.indptr[n])
    return CsrRows(rows.indptr[: n + 1], rows.indices[:end], rows.data[:end], rows.d, rows.lean)
