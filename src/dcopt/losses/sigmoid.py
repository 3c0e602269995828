"""The sigmoid loss, a smooth count of errors."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from ..xp import Array
from .base import Margin, expit


@dataclass(frozen=True)
class Sigmoid(Margin):
    """ϕ(m) = 1 / (1 + eᵐ) = s,   ϕ″ = s(1 − s)(1 − 2s), stationary at s = (1 ± 1/√3)/2: ±1/(6√3)"""

    elementwise = True
    steepest = 0.25

    @property
    def curvature(self) -> tuple[float, float]:
        return -1 / (6 * sqrt(3)), 1 / (6 * sqrt(3))

    def phi(self, m: Array) -> Array:
        return expit(-m)

    def dphi(self, m: Array) -> Array:
        s = expit(-m)
        return s * (s - 1.0)

    def ddphi(self, m: Array) -> Array:
        s = expit(-m)
        return s * (1.0 - s) * (1.0 - 2.0 * s)
