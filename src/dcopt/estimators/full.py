"""The exact gradient: deterministic DCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..draw import Draw
from ..sums import Sum
from ..xp import Array
from .base import Estimate, OnlyG, cost_of, needs_finite_sum


@dataclass(frozen=True)
class Full:
    """g_t = ∇f(x_t)"""

    def check(self, n: int | None) -> None:
        needs_finite_sum(self, n)

    def spread(self, n: int) -> float:
        """0: g_t is ∇f(x_t)"""
        return 0.0

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        batch = f.all()
        g = batch.grad(x)
        return Estimate(g, OnlyG(g), cost_of(batch))

    def step(self, f: Sum, x: Array, prev: Array, memory: Any, draw: Draw) -> Estimate:
        return self.start(f, x, draw)
