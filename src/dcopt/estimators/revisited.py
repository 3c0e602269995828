"""The exact gradient at a point that was looked at before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..draw import Draw
from ..sums import Cost, LinearSum, Sum
from ..xp import Array
from .base import Estimate, OnlyG, both, needs_finite_sum


@dataclass(frozen=True)
class Revisited:
    """g_t = ∇f(x_t), whose components were all evaluated, and paid for, when the last step looked at F(x_t)."""

    def check(self, n: int | None) -> None:
        needs_finite_sum(self, n)

    def start(self, sum: Sum, x: Array, draw: Draw) -> Estimate:
        return self._at(sum, x, both(sum.all()))

    def step(self, sum: Sum, x: Array, prev: Array, memory: Any, draw: Draw) -> Estimate:
        return self._at(sum, x, Cost(0, 0))

    def _at(self, sum: Sum, x: Array, cost: Cost) -> Estimate:
        assert isinstance(sum, LinearSum)
        g = sum.recent.at(x).grad
        return Estimate(g, OnlyG(g), cost)
