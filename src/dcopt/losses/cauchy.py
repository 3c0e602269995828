"""The Cauchy (Lorentzian) loss: grows like a logarithm."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array
from .base import Residual, log1p


@dataclass(frozen=True)
class Cauchy(Residual):
    """ϕ(e) = log(1 + e²)/2,   ϕ″ = (1 − e²)/(1 + e²)², least at e² = 3: −1/8"""

    elementwise = True
    unit_steepest = 0.5  # at e = 1

    @property
    def curvature(self) -> tuple[float, float]:
        return -0.125, 1.0

    def phi(self, e: Array) -> Array:
        return 0.5 * log1p(e * e)

    def dphi(self, e: Array) -> Array:
        return e / (1.0 + e * e)

    def ddphi(self, e: Array) -> Array:
        w = 1.0 / (1.0 + e * e)
        return (2.0 * w - 1.0) * w  # 1 − e² = 2 − 1/w
