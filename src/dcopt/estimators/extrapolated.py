"""The extrapolated point of pDCAe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..draw import Draw
from ..errors import require_count
from ..sums import Sum
from ..xp import Array, namespace
from .base import Estimate, cost_of, needs_finite_sum


class Momentum(NamedTuple):
    """The last extrapolated point, θ_{k−1}, θ_k and the steps since the last restart."""

    u: Array
    before: float
    theta: float
    age: int


@dataclass(frozen=True)
class Extrapolated:
    """g_t = ∇f(u_t) with ∇G taken at u_t too,   u_t = x_t + β_t (x_t − x_{t−1}),   β_t = (θ_{t−1} − 1)/θ_t < 1.

    θ_{t+1} = (1 + √(1 + 4θ_t²))/2; it starts again at 1 every `period` steps, and when the last step went against
    the momentum, ⟨u_{t−1} − x_t, x_t − x_{t−1}⟩ > 0. w stays at x_t. For convex f.
    """

    period: int = 200

    def __post_init__(self) -> None:
        require_count("period", self.period)

    def check(self, n: int | None) -> None:
        needs_finite_sum(self, n)

    def spread(self, n: int) -> float:
        """0: g_t is ∇f(u_t), with ∇G at u_t"""
        return 0.0

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        return self._at(f, x, 1.0, 1.0, 0)

    def step(self, f: Sum, x: Array, prev: Array, memory: Momentum, draw: Draw) -> Estimate:
        u, before, theta, age = memory
        against = float(namespace(x).sum((u - x) * (x - prev))) > 0.0
        if against or age >= self.period:
            before, theta, age = 1.0, 1.0, 0
        return self._at(f, x + (before - 1.0) / theta * (x - prev), before, theta, age)

    def _at(self, f: Sum, u: Array, before: float, theta: float, age: int) -> Estimate:
        batch = f.all()
        following = (1.0 + math.sqrt(1.0 + 4.0 * theta * theta)) / 2.0
        return Estimate(batch.grad(u), Momentum(u, theta, following, age + 1), cost_of(batch), u)
