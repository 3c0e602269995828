"""Recipes: how a part of a `PartsSum` is made of the rows, labels and weights that were loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import check
from ..data.intercept import WithIntercept
from ..draw import Draw
from ..losses import Loss
from .homes import PartData, Recipe
from .importance import importance_weights
from .linear import LinearSum


@dataclass(frozen=True, eq=False)
class Coded(Recipe):
    """The loss over the rows of a part: labels coded for it, and weights scaled to mean 1 over all parts.

    `classes` are those of all parts: a part may lack some of them. `scale` is (the largest weight w, N / Σ w/largest).
    """

    loss: Loss
    classes: NDArray[Any] | None = None
    scale: tuple[float, float] | None = None
    intercept: bool = False

    def __call__(self, data: PartData, number: int) -> LinearSum:
        rows: Any = WithIntercept(data.rows) if self.intercept else data.rows
        n, kind = data.rows.shape[0], self.loss.labels
        labels, weights = check.codes(data.labels, n, kind, self.classes, rows.dtype), None
        if self.scale is not None:
            w = np.ones(n) if data.weights is None else np.array(data.weights, np.float64)
            weights = (w / self.scale[0] * self.scale[1]).astype(rows.dtype)
        width = () if kind != "class" or self.classes is None else (len(self.classes),)
        return LinearSum(rows, self.loss, labels, weights, width)


@dataclass(frozen=True, eq=False)
class AsGiven(Recipe):
    """The same with labels that are coded and weights that have mean 1 over all parts."""

    loss: Loss
    width: tuple[int, ...] = ()

    def __call__(self, data: PartData, number: int) -> LinearSum:
        return LinearSum(data.rows, self.loss, data.labels, data.weights, self.width)


@dataclass(frozen=True, eq=False)
class Sampled(Recipe):
    """The rows i of all N with u_i < share, of each part its own; row 0 where there are none."""

    of: Recipe
    seed: int
    share: float
    starts: tuple[int, ...]  # the number of the first row of every part, and N

    def rows(self, number: int) -> NDArray[np.int64]:
        """Those of one part, counted from its first"""
        low, high = self.starts[number : number + 2]
        return np.flatnonzero(Draw(self.seed, 0).each(high, low) < self.share)

    def __call__(self, data: PartData, number: int) -> LinearSum:
        whole: LinearSum = self.of(data, number)
        rows = self.rows(number)
        return whole.take(rows if len(rows) else np.zeros(1, np.int64))


@dataclass(frozen=True, eq=False)
class Chosen(Recipe):
    """Some rows of every part"""

    of: Recipe
    rows: tuple[NDArray[np.int64], ...]

    def __call__(self, data: PartData, number: int) -> LinearSum:
        whole: LinearSum = self.of(data, number)
        return whole.take(self.rows[number])


@dataclass(frozen=True, eq=False)
class Reweighted(Recipe):
    """The weights w_i / (N q_i) of rows that are drawn with q_i ∝ w_i ‖a_i‖², whose mean over all rows is `mean`.

    With a mean of 0 all rows are 0, and equally likely.
    """

    of: Recipe
    mean: float

    def __call__(self, data: PartData, number: int) -> LinearSum:
        f: LinearSum = self.of(data, number)
        return replace(f, weights=importance_weights(f, self.mean)[0])
