"""The Geman-McClure loss: bounded, redescending."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..xp import Array
from .base import Residual, clip


@dataclass(frozen=True)
class GemanMcClure(Residual):
    """ϕ(e) = e²/(2(1 + e²)),   ϕ″ = (1 − 3e²)/(1 + e²)³, least at e² = 1: −1/4"""

    elementwise = True
    unit_steepest = 9 / (16 * math.sqrt(3))  # at e² = 1/3

    @property
    def curvature(self) -> tuple[float, float]:
        return -0.25, 1.0

    def phi(self, e: Array) -> Array:
        a = clip(e, -1e9, 1e9)  # There ϕ is ½ to the last digit, and e² does not overflow.
        u = a * a
        return 0.5 * u / (1.0 + u)

    def dphi(self, e: Array) -> Array:
        w = 1.0 / (1.0 + e * e)
        return e * w * w

    def ddphi(self, e: Array) -> Array:
        w = 1.0 / (1.0 + e * e)
        return (4.0 * w - 3.0) * w * w  # 1 − 3e² = 4 − 3/w
