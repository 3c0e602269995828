"""The difference of two norms; r₁ and r₂ are explicit, without a profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ..xp import Array, namespace
from .base import AboveZero, Down, Stationarity, length, ranks, settle, total
from .units import Kinked, WeightedL1


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

    @property
    def certifies(self) -> Stationarity:
        return "d-stationary"

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

    def steepest(self, x: Array, down: Down) -> Array:
        """As `subgrad`; at 0 λβe, e the unit vector with the largest ⟨u, e⟩ − λ|e|₁, u = down().

        e = z/|z| with z = sign(u)(|u| − λ)₊ where some |u_i| > λ; else all of e is at the largest |u_i|, because
        Σ (|u_i| − λ)|e_i| ≤ max (|u_i| − λ) |e|₁ and |e|₁ ≥ |e|₂ = 1. So 0 is d-stationary iff max |u_i| ≤ (1 − β)λ.
        """
        if (norm := length(x)) != 0.0:
            return x * (self.lam * self.beta / norm)
        xp, u = namespace(x), down()
        a = xp.abs(u)
        z = xp.maximum(a - self.lam, 0.0)
        if bool(xp.any(z > 0.0)):
            z = z / xp.max(z)  # The squares of the scaled numbers neither overflow nor vanish.
            z = z / length(z)
        else:
            flat = xp.reshape(a, (-1,))
            z = xp.reshape(xp.astype(ranks(flat) == flat.shape[0] - 1, x.dtype), x.shape)
        return self.lam * self.beta * z * xp.sign(u)
