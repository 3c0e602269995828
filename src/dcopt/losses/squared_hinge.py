"""The squared hinge: the loss of smooth support vector machines."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..xp import Array, namespace
from .base import Margin, clip


@dataclass(frozen=True)
class SquaredHinge(Margin):
    """ϕ(m) = (1 − m)₊²/2,   ϕ″ is 1, then 0 from m = 1 on"""

    elementwise = True

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 1.0

    def phi(self, m: Array) -> Array:
        t = clip(1.0 - m, 0.0, math.inf)
        return 0.5 * (t * t)

    def dphi(self, m: Array) -> Array:
        return -clip(1.0 - m, 0.0, math.inf)

    def ddphi(self, m: Array) -> Array:
        zero = 0.0 * m  # NaN stays NaN.
        return namespace(m).where(m < 1.0, zero + 1.0, zero)
