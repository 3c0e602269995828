"""The simplex: weights of a mixture, portfolios, probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..xp import Array, namespace
from .base import length, nothing, settle, stepsize, total
from .constraint import Constraint


@dataclass(frozen=True)
class Simplex(Constraint):
    """r(x) = 0 if x ≥ 0 and Σ x_j = total, else ∞."""

    total: float = 1.0

    def __post_init__(self) -> None:
        settle(self, "total", 0.0, open_low=True)

    def r1(self, x: Array) -> float:
        size = total(x)
        if math.isnan(size):
            return size
        inside = abs(size - self.total) <= self.total * self.room(x) and not bool(namespace(x).any(x < 0.0))
        return 0.0 if inside else math.inf

    def prox(self, v: Array, step: Any) -> Array:
        """max(v − step μ, 0) with the μ for which the sum is right."""
        xp = namespace(v)
        if math.isnan(total(v)):
            return v * math.nan  # One NaN makes every entry NaN, through μ.
        steps = stepsize(step, v) + 0.0 * v
        mu = _root(v / steps, lambda m: total(xp.maximum(v - steps * m, 0.0)) - self.total)
        x = xp.maximum(v - steps * mu, 0.0)
        return x * (self.total / total(x))

    def distance(self, u: Array, x: Array) -> float:
        """The normals at x are λ on the support and anything ≤ λ elsewhere; the best λ is a root."""
        if not self.r1(x) < math.inf:
            return self.r1(x)
        xp = namespace(u, x)
        off = x == 0.0

        def away(m: float) -> Array:
            return xp.where(off, xp.maximum(u - m, 0.0), u - m)

        if math.isnan(total(u)):
            return math.nan
        return length(away(_root(u, lambda m: total(away(m)))) + nothing(u))


def _root(a: Array, falling: Any) -> float:
    """The m at which a falling function, positive at min a − ∞ and not above 0 from max a on, changes sign."""
    high = float(namespace(a).max(a))
    width = 1.0
    while falling(high - width) < 0.0:
        width *= 2.0
    low = high - width
    for _ in range(200):
        mid = 0.5 * (low + high)
        if mid in (low, high):
            break
        low, high = (mid, high) if falling(mid) > 0.0 else (low, mid)
    return low
