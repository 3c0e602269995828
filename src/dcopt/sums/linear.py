"""The mean of a loss over rows of data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ..data.arrays import aligned
from ..data.rows import Can, RowMatrix
from ..draw import Draw, Sampling
from ..losses import Loss
from ..losses.constant import best_constant
from ..xp import Array
from .base import SumBase
from .batch import LinearBatch
from .constants import Smoothness, smoothness
from .curvature import Curvature
from .fused import Fused, fused
from .grams import Grams
from .importance import ImportanceWeights
from .linear_curvature import LinearCurvature
from .pieces import largest_bend, squares_of_columns, sums_of_columns
from .protocol import Facts, Look


@dataclass(frozen=True, eq=False)
class LinearSum(SumBase):
    """f(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i), with mean weight 1.

    What is cached here is a function of the data alone: it changes the time of a run and none of its numbers.
    """

    a: RowMatrix
    loss: Loss
    labels: Array
    weights: Array | None = None
    classes: tuple[int, ...] = ()  # (c,) for a loss of c numbers a row

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # A copy holds no caches.

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {name: aligned(state[name]) for name in ("labels", "weights")})

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.a.shape[1], *self.classes)

    @property
    def dtype(self) -> Array:
        return self.a.dtype

    @property
    def n(self) -> int:
        return self.a.shape[0]

    @cached_property
    def can(self) -> Can:
        """What the rows declare"""
        return self.a.can()

    # ---- the verbs of a sum

    def all(self) -> LinearBatch:
        return LinearBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> LinearBatch:
        b = int(b)  # a NumPy uint8 would wrap in the counts
        if sampling == "importance":
            return LinearBatch(self.importance.f, self.importance.rows(draw.numbers(b)), b)
        return LinearBatch(self, draw.rows(self.n, b, sampling), b)

    def look(self, x: Array) -> Look:
        z, f, grad = self.all().look(x)
        return Look(x.copy(), f, grad, z, self.n)

    def facts(self) -> Facts:
        return self._facts

    @cached_property
    def _facts(self) -> Facts:
        return Facts(self.loss.curvature, self.grams is not None, self.loss.lower, rows=self)

    def curvature(self, here: Look) -> Curvature:
        return LinearCurvature(self, here.home)

    def smoothness(self) -> Smoothness:
        return smoothness(self)

    def best_constant(self) -> Array:
        weights = np.ones(self.n) if self.weights is None else np.asarray(self.weights, np.float64)
        return best_constant(self.loss, np.asarray(self.labels), weights, self.classes)

    def rounding(self, x: Array) -> float:
        """A prediction ⟨a_i, x⟩ loses about ε (Σ_k a_ik² x_k²)^(1/2), the slope sup|φ''| times that, and column j of
        the gradient √(mean a_ij²) times that, by Cauchy and Schwarz.
        """
        d, sizes = self.a.shape[1], self.column_mean_squares
        sizes = np.full(d, self.mean_row / d) if sizes is None else sizes
        rows = np.sum(np.asarray(x, np.float64).reshape(d, -1) ** 2, axis=1)
        steep = max(map(abs, self.loss.curvature))
        if not self.loss.bounded:  # That at x is near the largest along a small error.
            steep = largest_bend(self, x)
        eps = float(np.finfo(np.float64).eps)
        return eps * steep * math.sqrt(float(np.sum(sizes)) * float(np.sum(sizes * rows)))

    def notes(self) -> tuple[str, ...]:
        return (self.loss.remark,) if self.loss.remark else ()

    # ---- pieces and parts of it

    def each(self, piece: Callable[..., Any], *args: Any) -> list[Any]:
        """All rows are one part."""
        return [piece(self, *args)]

    def total(self, piece: Callable[..., Any], *args: Any) -> Any:
        """All rows are one part."""
        return piece(self, *args)

    def slopes_at(self, here: Look) -> Array:
        return self.all().slopes_at(here.home)

    def take(self, rows: Array) -> LinearSum:
        """The mean over the given rows, as a sum of its own."""
        batch = LinearBatch(self, rows, len(rows))
        weights = None if self.weights is None else batch.mine(self.weights)
        return LinearSum(self.a.take(rows), self.loss, batch.mine(self.labels), weights, self.classes)

    def part(self, seed: int, share: float) -> LinearSum:
        """The mean over the rows i with u_i < share; the last one is cached."""
        kept = self.__dict__.get("_part")
        if kept is None or kept[0] != (seed, share):
            rows = np.flatnonzero(Draw(seed, 0).each(self.n) < share)
            kept = self.__dict__["_part"] = ((seed, share), self.take(rows if len(rows) else np.zeros(1, np.int64)))
        found: LinearSum = kept[1]
        return found

    # ---- what follows from the data

    @cached_property
    def fused(self) -> Fused | None:
        """Loss and rows compiled together, where they allow it."""
        return fused(self.can, self.a.shape[1], self.loss, self.labels, self.weights)

    @cached_property
    def grams(self) -> Grams | None:
        """Gram matrices, where they do not depend on x."""
        return Grams(self) if self.loss.labels != "class" and len(set(self.loss.curvature)) == 1 else None

    @cached_property
    def importance(self) -> ImportanceWeights:
        """Which rows importance sampling draws."""
        return ImportanceWeights.of(self)

    @cached_property
    def row_sizes(self) -> Array:
        """w_i ‖a_i‖², from one look at the rows"""
        return self._row_sizes()

    def _row_sizes(self) -> Array:
        norms = self.a.norms2()
        return norms if self.weights is None else norms * self.weights

    @cached_property
    def column_mean_squares(self) -> Array | None:
        """(1/N) Σ_i w_i a_ij² of every column j; None if the matrix does not show its entries"""
        sizes = squares_of_columns(self)
        return None if sizes is None else sizes / self.n

    @cached_property
    def column_means(self) -> Array:
        """(1/N) Σ_i w_i a_ij of every column j"""
        return sums_of_columns(self) / self.n

    @cached_property
    def mean_curvature_bound(self) -> float:
        """sup|φ''| (1/N) Σ w_i ‖a_i‖² / d: the mean of the diagonal of a matrix that majorizes ∇²f everywhere."""
        low, high = self.loss.curvature
        return max(high, -low) * self.mean_row / self.a.shape[1]

    @cached_property
    def largest_row(self) -> float:
        """max w_i ‖a_i‖²"""
        return self._sizes_of_rows[0]

    @cached_property
    def mean_row(self) -> float:
        """(1/N) Σ w_i ‖a_i‖²"""
        return self._sizes_of_rows[1]

    @cached_property
    def _sizes_of_rows(self) -> tuple[float, float]:
        """The largest w_i ‖a_i‖² and their mean; the numbers themselves are not kept for it."""
        sizes = self.__dict__.get("row_sizes")
        if sizes is None:
            sizes = self._row_sizes()
        return float(sizes.max()), float(np.mean(sizes))

    @cached_property
    def mean_weight(self) -> float:
        """(1/N) Σ w_i"""
        return 1.0 if self.weights is None else float(np.mean(self.weights))

    @property
    def compiled(self) -> bool:
        """Whether the first use of the rows compiles or loads kernels"""
        return self.can.compiled
