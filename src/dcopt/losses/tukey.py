"""Tukey's biweight: constant beyond c."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..xp import Array
from .base import Residual, clip


@dataclass(frozen=True)
class Tukey(Residual):
    """ϕ(e) = (1 − (1 − e²)₊³)/6,   ϕ″ = (1 − e²)₊(1 − 5e²), least at e² = 3/5: −4/5"""

    elementwise = True
    unit_steepest = 16 / (25 * math.sqrt(5))  # at e² = 1/5

    c: float = 4.685  # 95 % efficient under normal errors

    @property
    def curvature(self) -> tuple[float, float]:
        return -0.8, 1.0

    def phi(self, e: Array) -> Array:
        u = clip(e * e, 0.0, 1.0)
        return u * (0.5 - u * (0.5 - u / 6.0))  # The cube is expanded to avoid cancellation at small e.

    def dphi(self, e: Array) -> Array:
        v = 1.0 - clip(e * e, 0.0, 1.0)
        return e * v * v

    def ddphi(self, e: Array) -> Array:
        u = clip(e * e, 0.0, 1.0)
        return (1.0 - u) * (1.0 - 5.0 * u)
