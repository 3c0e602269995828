"""The paper's loss for two classes."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from ..xp import Array
from .base import Margin, expit


@dataclass(frozen=True)
class SquaredSigmoid(Margin):
    """ϕ(m) = (1 − σ(m))² = s²,   s = σ(−m),   s′ = −s(1 − s)

    ϕ″ = 2s²(1 − s)(2 − 3s) is stationary where 12s² − 15s + 4 = 0, s = (15 ∓ √33)/24: (39 ± 55√33)/2304.
    """

    elementwise = True
    steepest = 8 / 27  # at s = 2/3

    @property
    def curvature(self) -> tuple[float, float]:
        return (39 - 55 * sqrt(33)) / 2304, (39 + 55 * sqrt(33)) / 2304

    def phi(self, m: Array) -> Array:
        s = expit(-m)
        return s * s

    def dphi(self, m: Array) -> Array:
        s = expit(-m)  # This is not 1 − σ(m), so that well classified rows keep their relative accuracy.
        return 2.0 * (s * s) * (s - 1.0)

    def both(self, z: Array, labels: Array) -> tuple[Array, Array]:
        s = expit(-(labels * z))
        return s * s, labels * (2.0 * (s * s) * (s - 1.0))

    def ddphi(self, m: Array) -> Array:
        s = expit(-m)
        return 2.0 * (s * s) * (1.0 - s) * (2.0 - 3.0 * s)
