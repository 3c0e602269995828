"""The difference of two norms; r₁ and r₂ are stated, there is no profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ..xp import Array, namespace
from .base import AboveZero, length, settle, total
from .weighted import Kinked, WeightedL1


@dataclass(frozen=True)
class L1MinusL2(AboveZero, Kinked):
    """r(x) = λ (|x|₁ - β |x|₂), 0 ≤ β ≤ 1: zero at 1-sparse x when β = 1; r₂ has a kink at 0."""

    lam: float
    beta: float = 1.0

    def __post_init__(self) -> None:
        settle(self, "lam", 0.0)
        settle(self, "beta", 0.0, 1.0)

    @property
    def L2(self) -> float | None:
        return None if self.lam * self.beta > 0.0 else 0.0

    @cached_property
    def kink(self) -> WeightedL1:
        return WeightedL1(self.lam)

    def value(self, x: Array) -> float:
        """|x|₁ - |x|₂ = R - Q / (M + |x|₂): M the largest, R, Q the sums of the rest, of its squares."""
        xp = namespace(x)
        a = xp.sort(xp.reshape(xp.abs(x), (-1,)))
        rest, most = a[:-1], float(a[-1])
        q = total(rest * rest)
        norm = math.sqrt(most * most + q)
        gap = total(rest) - (q / (most + norm) if norm != 0.0 else 0.0)
        return self.lam * (gap + (1.0 - self.beta) * norm)

    def subgrad(self, x: Array) -> Array:
        """λβ x / |x|₂, 0 at 0."""
        norm = length(x)
        return x * (self.lam * self.beta / (norm if norm != 0.0 else 1.0))
