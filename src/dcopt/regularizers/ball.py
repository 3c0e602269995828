"""The Euclidean ball, by itself or with x ≥ 0 and an l1 term: what sparse and nonnegative PCA are constrained to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import require
from ..xp import Array, namespace
from .base import length, nothing, settle, stepsize, total
from .constraint import Constraint


@dataclass(frozen=True)
class Ball(Constraint):
    """r(x) = l1 |x|₁ if |x|₂ ≤ radius (and x ≥ 0, where `nonnegative`), else ∞."""

    radius: float = 1.0
    l1: float = 0.0
    nonnegative: bool = False

    def __post_init__(self) -> None:
        settle(self, "radius", 0.0, open_low=True)
        settle(self, "l1", 0.0)
        require(isinstance(self.nonnegative, bool), "nonnegative", self.nonnegative, "True or False")

    def r1(self, x: Array) -> float:
        size, xp = length(x), namespace(x)
        if size > self.radius * (1.0 + self.room(x)) or (self.nonnegative and bool(xp.any(x < 0.0))):
            return math.inf
        return self.l1 * total(xp.abs(x))

    def prox(self, v: Array, step: Any) -> Array:
        """Soft threshold, positive part, then scaled into the ball: in this order the three are one prox."""
        xp, step = namespace(v), stepsize(step, v)
        t = self.l1 * step
        x = xp.maximum(v - t, 0.0) + (0.0 if self.nonnegative else xp.minimum(v + t, 0.0))
        size = length(x)
        if not size > self.radius:
            return x
        if isinstance(step, float):
            return x * (self.radius / size)
        return x / (1.0 + step * self._multiplier(x, step))

    def _multiplier(self, x: Array, step: Array) -> float:
        """μ > 0 with |x / (1 + step μ)| = radius, by bisection: the length falls as μ grows."""
        low, high = 0.0, 1.0
        while length(x / (1.0 + step * high)) > self.radius:
            low, high = high, 2.0 * high
        for _ in range(100):
            mid = 0.5 * (low + high)
            low, high = (mid, high) if length(x / (1.0 + step * mid)) > self.radius else (low, mid)
        return high

    def distance(self, u: Array, x: Array) -> float:
        """∂r = l1 ∂|x|₁ + the normals of x ≥ 0 + {μx: μ ≥ 0} on the sphere; the best μ is a projection."""
        if self.r1(x) == math.inf:
            return math.inf
        xp, size = namespace(u, x), length(x)
        on = u - self.l1 * xp.sign(x)
        if size >= self.radius * (1.0 - self.room(x)):
            on = on - max(0.0, total(xp.where(x == 0.0, nothing(on), on * x)) / size**2) * x
        off = xp.maximum((u if self.nonnegative else xp.abs(u)) - self.l1, 0.0)
        return length(xp.where(x == 0.0, off, on) + nothing(u) + nothing(x))
