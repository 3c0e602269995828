"""The exact gradient at a point that was looked at before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..draw import Draw
from ..nested import Nested
from ..sums import Cost, LinearSum, Sum
from ..xp import Array
from .base import Estimate, OnlyG, both, needs_finite_sum


@dataclass(frozen=True)
class Revisited:
    """g_t = ∇f(x_t), whose components were all evaluated, and paid for, when the last step looked at F(x_t).

    With samples that grow it is ∇f_t(x_t), paid for where the sample is a new one.
    """

    nested: Nested | None = None

    def check(self, n: int | None) -> None:
        needs_finite_sum(self, n)

    def spread(self, n: int) -> float:
        """0: g_t is ∇f(x_t)"""
        return 0.0

    def start(self, sum: Sum, x: Array, draw: Draw) -> Estimate:
        return self._at(sum, x, draw, None)

    def step(self, sum: Sum, x: Array, prev: Array, memory: Any, draw: Draw) -> Estimate:
        assert isinstance(sum, LinearSum)
        new = self.nested is not None and self.nested.grew(draw.t, sum)
        return self._at(sum, x, draw, None if new else (prev, memory.g))

    def _at(self, sum: Sum, x: Array, draw: Draw, before: tuple[Array, Array] | None) -> Estimate:
        assert isinstance(sum, LinearSum)
        f = sum if self.nested is None else self.nested.sum(sum, draw)
        g = f.recent.at(x).grad
        if before is not None:
            f.recent.came(x, *before)
        return Estimate(g, OnlyG(g), both(f.all()) if before is None else Cost(0, 0))
