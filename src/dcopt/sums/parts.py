"""f = Σ_k (n_k/N) f_k: a loss over rows in parts, each of which has a home.

The rows of part 0 come first, then those of part 1, and so on. A part owns its rows, labels and weights, and the
predictions z = Ax at the last points; its home is asked by pieces (`homes.py`). All that is added is added over the
tree of part numbers, so that the bits depend on where the rows were cut and on nothing else; with one part they are
those of `LinearSum`.

    PartsSum(homes, recipe)                               any homes: in this process (`Here`), on a cluster
    PartsSum.split(rows, labels, loss, sizes, weights)    the parts of rows in memory

A look has no `home`: what a model asks of the curvature at a point that was looked at is made where the parts are,
from predictions that are kept there, or computed again. So a checkpoint holds nothing of the size of N.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..data.rows import RowMatrix
from ..draw import Draw, Sampling
from ..errors import BadInput
from ..losses import Loss
from ..losses.constant import best_constant
from ..xp import Array
from . import part_pieces as at_home
from . import pieces
from .ahead import Ahead, Drawn
from .batch import LinearBatch
from .curvature import Curvature
from .gathered import MOST, NearBatch, taken, together
from .homes import Given, Here, PartData
from .importance import ImportanceWeights
from .parts_base import PartsBase
from .parts_batch import PartsBatch
from .parts_curvature import PartsCurvature
from .protocol import Look
from .recipes import AsGiven, Chosen, Reweighted, Sampled


@dataclass(frozen=True, eq=False)
class PartsSum(PartsBase):
    """f(x) = Σ_k (n_k/N) f_k(x), f_k(x) = (1/n_k) Σ w_i φ(⟨a_i, x⟩, label_i); a part may be empty.

    What is cached here is a function of the data alone: it changes the time of a run and none of its numbers.
    """

    @classmethod
    def split(
        cls, rows: RowMatrix, labels: Array, loss: Loss, sizes: Sequence[int], weights: Array | None = None,
        classes: tuple[int, ...] = (),
    ) -> PartsSum:  # fmt: skip
        """Parts of rows in memory, `sizes` rows each; labels are coded, and weights have mean 1 over all rows."""
        if sum(sizes) != rows.shape[0] or min(sizes) < 0:
            raise BadInput("sizes", f"are {tuple(sizes)}: expected parts of {rows.shape[0]} rows together")
        ends = np.cumsum((0, *sizes))
        cuts = [np.arange(low, high) for low, high in zip(ends, ends[1:], strict=False)]
        some = [PartData(rows.take(i), labels[i], None if weights is None else weights[i]) for i in cuts]
        return cls(Here.of(map(Given, some)), AsGiven(loss, classes), tuple(map(int, sizes)))

    # ---- the verbs of a sum

    def all(self) -> PartsBatch:
        return PartsBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> PartsBatch | NearBatch:
        """The mean over b rows. Which rows these are is a function of `draw`; where they are computed is not.

        - Large batches: each part computes the mean over its own rows, and the means are added (`of_rows`).
        - Small ones: the rows are brought together in this process (`near`), because a gradient of every part would
          have more numbers than they have. Far homes send the rows of coming steps along (`ahead`).
        """
        b = int(b)  # a NumPy uint8 would wrap in the counts
        f, rows_of = self, self._rows_of(sampling)
        if sampling == "importance":
            f = self.importance.f
        if not f.gathers(b):
            return f.of_rows(rows_of(b, draw))
        found = None if f.ahead is None else f.ahead.batch(b, draw, sampling, rows_of)
        return f.near(rows_of(b, draw)) if found is None else found

    def gathers(self, b: int) -> bool:
        """Whether the rows of a batch are brought together: they are few, and not all in one part of this process."""
        apart = self.homes.ahead > 1 or sum(size > 0 for size in self.sizes) > 1
        return apart and b * (self.storage[2] / self.n) <= MOST

    def near(self, rows: NDArray[np.int64]) -> NearBatch | PartsBatch:
        """The mean over these rows, brought together"""
        of = list(self.by_part(rows))
        found = self.homes.each(self.recipe, taken, own=[(local,) if len(local) else None for _, local in of])
        near, at = together([part for part in found if part is not None]), np.empty(len(rows), np.int64)
        at[np.concatenate([places for places, _ in of])] = np.arange(len(rows))  # rows[i] of the sum is at[i] of `near`
        return self.of_rows(rows) if near is None else NearBatch(LinearBatch(near, at, len(rows)), rows, len(rows))

    def of_rows(self, rows: Array) -> PartsBatch:
        """The mean over these rows"""
        return PartsBatch(self, rows, len(rows))

    def _rows_of(self, sampling: Sampling) -> Drawn:
        """The rows of a step with b of them, a function of its draw"""
        if sampling == "importance":
            weights = self.importance
            return lambda b, draw: weights.rows(draw.numbers(b))
        return lambda b, draw: draw.rows(self.n, b, sampling)

    @cached_property
    def ahead(self) -> Ahead | None:
        """The rows of coming steps, where homes say that they are far"""
        return Ahead(self, self.homes.ahead) if self.homes.ahead > 1 else None

    def look(self, x: Array) -> Look:
        f, grad = self.all().value_grad(x)
        return Look(x.copy(), f, grad, None, self.n)

    def curvature(self, here: Look) -> Curvature:
        return PartsCurvature(self, here.x)

    def best_constant(self) -> Array:
        labels, weights = (np.concatenate(side) for side in zip(*self.each(pieces.labels_and_weights), strict=True))
        return best_constant(self.loss, labels, weights, self.classes)

    def slopes_at(self, here: Look) -> Array:
        return np.concatenate(self.each(at_home.slopes_at, here.x))

    # ---- parts of it

    def take(self, rows: Array) -> PartsSum:
        """The mean over the given rows, which stay where they are, in the order of the parts"""
        own = tuple(local for _, local in self.by_part(np.asarray(rows, np.int64)))
        return PartsSum(self.homes, Chosen(self.recipe, own), tuple(map(len, own)))

    def part(self, seed: int, share: float) -> PartsSum:
        """The mean over the rows i with u_i < share; the last one is cached."""
        kept = self.__dict__.get("_part")
        if kept is None or kept[0] != (seed, share):
            recipe = Sampled(self.recipe, seed, share, tuple(map(int, self.starts)))
            sizes = [len(recipe.rows(k)) for k in range(len(self.sizes))]
            if not any(sizes):
                sizes[int(np.flatnonzero(self.sizes)[0])] = 1
            kept = self.__dict__["_part"] = ((seed, share), PartsSum(self.homes, recipe, tuple(sizes)))
        found: PartsSum = kept[1]
        return found

    def by_part(self, rows: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Of every part: the places in `rows` of its rows, and these rows, counted from its first"""
        part = np.searchsorted(self.starts, rows, side="right") - 1
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(len(self.sizes) + 1))
        for k, first in enumerate(self.starts[:-1]):
            places = order[ends[k] : ends[k + 1]]
            yield places, rows[places] - first

    # ---- what follows from the data

    @cached_property
    def importance(self) -> ImportanceWeights:
        """What importance sampling sees, as in `LinearSum`"""
        share = np.concatenate(self.each(pieces.shares_of_rows, self.mean_row))
        f = PartsSum(self.homes, Reweighted(self.recipe, self.mean_row), self.sizes)
        return ImportanceWeights(f, np.cumsum(share))
