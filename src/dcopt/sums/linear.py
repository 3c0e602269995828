"""The mean of a loss over rows of data."""

from __future__ import annotations

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
from .batch import LinearBatch
from .curvature import Curvature
from .fused import Fused, fused
from .importance import ImportanceWeights
from .linear_curvature import LinearCurvature
from .protocol import Look
from .rows_base import RowsBase


@dataclass(frozen=True, eq=False)
class LinearSum(RowsBase):
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

    def curvature(self, here: Look) -> Curvature:
        return LinearCurvature(self, here.home)

    def best_constant(self) -> Array:
        weights = np.ones(self.n) if self.weights is None else np.asarray(self.weights, np.float64)
        return best_constant(self.loss, np.asarray(self.labels), weights, self.classes)

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
