"""The logistic loss."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array
from .base import Margin, absolute, exp, expit, log1p


@dataclass(frozen=True)
class Logistic(Margin):
    """ϕ(m) = log(1 + e⁻ᵐ),   ϕ″ = σ(m)σ(−m) in (0, 1/4]"""

    elementwise = True
    steepest = 1.0

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 0.25

    def phi(self, m: Array) -> Array:
        a = absolute(m)
        return log1p(exp(-a)) + 0.5 * (a - m)  # (|m| − m)/2 = (−m)₊, exactly

    def dphi(self, m: Array) -> Array:
        return -expit(-m)

    def ddphi(self, m: Array) -> Array:
        s = expit(-absolute(m))  # The smaller of the two, so that 1 − s does not cancel.
        return s * (1.0 - s)
