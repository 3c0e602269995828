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

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

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
from .base import SumBase
from .constants import Smoothness, smoothness
from .curvature import Curvature
from .grams import Grams
from .homes import Given, Here, Homes, Own, PartData, Recipe
from .importance import drawn
from .parts_curvature import PartsCurvature
from .protocol import Facts, Look
from .recipes import AsGiven, Chosen, Reweighted, Sampled


class Width(NamedTuple):
    """What every part must agree on: the loss, the shape of x and the type of the rows."""

    loss: Loss
    shape: tuple[int, ...]
    dtype: Any
    compiled: bool


@dataclass(frozen=True, eq=False)
class PartsSum(SumBase):
    """f(x) = Σ_k (n_k/N) f_k(x), f_k(x) = (1/n_k) Σ w_i φ(⟨a_i, x⟩, label_i); a part may be empty.

    What is cached here is a function of the data alone: it changes the time of a run and none of its numbers.
    """

    homes: Homes
    recipe: Recipe
    sizes: tuple[int, ...]  # the rows of every part

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

    def __getstate__(self) -> dict[str, Any]:
        return {"homes": self.homes, "recipe": self.recipe, "sizes": self.sizes}  # A copy holds no caches.

    # ---- what the parts agree on

    @cached_property
    def width(self) -> Width:
        """The same in every part; refuses parts that differ, by their number."""
        found: Width | None = None
        for k, seen in enumerate(self.homes.each(self.recipe, at_home.width, own=self._everyone)):
            if seen is None:
                continue
            one = Width(*seen)
            if found is not None and (one.shape, one.dtype) != (found.shape, found.dtype):
                said = f"part {k} gives x of shape {one.shape} in {one.dtype}, the parts before it {found.shape} in"
                raise BadInput("parts", f"{said} {found.dtype}")
            found = one if found is None else found
        if found is None:
            raise BadInput("parts", "have no rows")
        return found

    @property
    def loss(self) -> Loss:
        return self.width.loss

    @property
    def shape(self) -> tuple[int, ...]:
        return self.width.shape

    @property
    def classes(self) -> tuple[int, ...]:
        return self.shape[1:]

    @property
    def dtype(self) -> Array:
        return self.width.dtype

    @property
    def compiled(self) -> bool:
        return self.width.compiled

    @cached_property
    def n(self) -> int:
        return sum(self.sizes)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The number of the first row of every part, and N"""
        return np.cumsum((0, *self.sizes), dtype=np.int64)

    # ---- pieces

    @cached_property
    def _everyone(self) -> Own:
        return [() if size else None for size in self.sizes]

    def each(self, piece: Callable[..., Any], *args: Any) -> list[Any]:
        found = self.homes.each(self.recipe, piece, *args, own=self._everyone)
        return [one for one, size in zip(found, self.sizes, strict=True) if size]

    def total(self, piece: Callable[..., Any], *args: Any) -> Any:
        return self.homes.total(self.recipe, piece, *args, own=self._everyone)

    # ---- the verbs of a sum

    def all(self) -> PartsBatch:
        return PartsBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> PartsBatch:
        b = int(b)  # a NumPy uint8 would wrap in the counts
        if sampling == "importance":
            f, below = self.importance
            return PartsBatch(f, drawn(below, draw.numbers(b)), b)
        return PartsBatch(self, draw.rows(self.n, b, sampling), b)

    def look(self, x: Array) -> Look:
        f, grad = self.all().value_grad(x)
        return Look(x.copy(), f, grad, None, self.n)

    def facts(self) -> Facts:
        return self._facts

    @cached_property
    def _facts(self) -> Facts:
        return Facts(self.loss.curvature, self.grams is not None, self.loss.lower, rows=self)

    def curvature(self, here: Look) -> Curvature:
        return PartsCurvature(self, here.x)

    def smoothness(self) -> Smoothness:
        return smoothness(self)

    def best_constant(self) -> Array:
        labels, weights = (np.concatenate(side) for side in zip(*self.each(pieces.labels_and_weights), strict=True))
        return best_constant(self.loss, labels, weights, self.classes)

    def rounding(self, x: Array) -> float:
        """As of `LinearSum`; the sums over parts add less than the sums within them."""
        d, sizes = self.shape[0], self.column_mean_squares
        sizes = np.full(d, self.mean_row / d) if sizes is None else sizes
        rows = np.sum(np.asarray(x, np.float64).reshape(d, -1) ** 2, axis=1)
        steep = max(map(abs, self.loss.curvature))
        if not self.loss.bounded:
            steep = max(self.each(pieces.largest_bend, x))
        eps = float(np.finfo(np.float64).eps)
        return eps * steep * math.sqrt(float(np.sum(sizes)) * float(np.sum(sizes * rows)))

    def notes(self) -> tuple[str, ...]:
        return (self.loss.remark,) if self.loss.remark else ()

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
    def grams(self) -> Grams | None:
        """Gram matrices, where they do not depend on x"""
        return Grams(self) if self.loss.labels != "class" and len(set(self.loss.curvature)) == 1 else None

    @cached_property
    def importance(self) -> tuple[PartsSum, NDArray[np.float64]]:
        """The sum that importance sampling sees, and Σ_{j ≤ i} q_j of its rows"""
        share = np.concatenate(self.each(pieces.shares_of_rows, self.mean_row))
        return PartsSum(self.homes, Reweighted(self.recipe, self.mean_row), self.sizes), np.cumsum(share)

    @cached_property
    def largest_row(self) -> float:
        return float(max(self.each(pieces.largest_row)))

    @cached_property
    def mean_row(self) -> float:
        return self._mean(pieces.mean_row)

    @cached_property
    def mean_weight(self) -> float:
        return self._mean(pieces.mean_weight)

    def _mean(self, piece: Callable[..., Any]) -> float:
        """The mean over all rows, from that of each part"""
        means, sizes = self.each(piece), [size for size in self.sizes if size]
        return math.fsum(mean * (size / self.n) for mean, size in zip(means, sizes, strict=True))

    @cached_property
    def storage(self) -> tuple[bool, bool, int]:
        """Whether Gram matrices are rough in some part, whether all parts show columns, and the stored entries"""
        rough, shown, stored = zip(*self.each(at_home.storage), strict=True)
        return any(rough), all(shown), sum(stored)

    @cached_property
    def column_mean_squares(self) -> Array | None:
        sizes = self.total(pieces.squares_of_columns)
        return None if sizes is None else sizes / self.n

    @cached_property
    def column_means(self) -> Array:
        return self.total(pieces.sums_of_columns) / self.n

    @property
    def mean_curvature_bound(self) -> float:
        low, high = self.loss.curvature
        return max(high, -low) * self.mean_row / self.shape[0]


class PartsBatch(NamedTuple):
    """f_B(x) = Σ_k (b_k/|B|) f_{B_k}(x): the rows of each part in the order in which they were drawn"""

    sum: PartsSum
    rows: Array | None
    size: int

    def _own(self, *extra: Callable[[NDArray[np.int64] | slice], Any]) -> Own:
        """What each part is told: its rows (None: all) and their share of the batch, and what is cut from arrays."""
        f = self.sum
        if self.rows is None:
            cuts = zip(f.sizes, f.starts[:-1], f.starts[1:], strict=True)
            return [
                (None, size / self.size, *(cut(slice(low, high)) for cut in extra)) if size else None
                for size, low, high in cuts
            ]
        return [
            (local, len(local) / self.size, *(cut(places) for cut in extra)) if len(local) else None
            for places, local in f.by_part(self.rows)
        ]

    def _total(self, piece: Callable[..., Any], *args: Any) -> Any:
        return self.sum.homes.total(self.sum.recipe, piece, *args, own=self._own())

    def value_grad(self, x: Array) -> tuple[float, Array]:
        value, g = self._total(at_home.value_grad, x)
        return float(value), g

    def grad(self, x: Array) -> Array:
        return self._total(at_home.grad, x)

    def diff(self, x: Array, prev: Array) -> Array:
        return self._total(at_home.diff, x, prev)

    def slopes(self, x: Array) -> Array:
        found = self.sum.homes.each(self.sum.recipe, at_home.slopes, x, own=self._own())
        if self.rows is None:
            return np.concatenate([some for some in found if some is not None])
        seen = [(places, some) for (places, _), some in zip(self.sum.by_part(self.rows), found, strict=True)]
        first = next(some for _, some in seen if some is not None)
        out = np.empty((self.size, *first.shape[1:]), first.dtype)
        for places, some in seen:
            if some is not None:
                out[places] = some
        return out

    def pull(self, c: Array) -> Array:
        own = self._own(lambda places: c[places])
        return self.sum.homes.total(self.sum.recipe, at_home.pull, own=own)
