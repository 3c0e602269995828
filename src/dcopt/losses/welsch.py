"""The Welsch loss: bounded, redescending."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..xp import Array
from .base import Residual, clip, exp, expm1


@dataclass(frozen=True)
class Welsch(Residual):
    """ϕ(e) = (1 − e^(−e²))/2,   ϕ″ = (1 − 2e²)e^(−e²), least at e² = 3/2: −2e^(−3/2)"""

    elementwise = True
    unit_steepest = math.exp(-0.5) / math.sqrt(2)  # at e² = 1/2

    @property
    def curvature(self) -> tuple[float, float]:
        return -2 * math.exp(-1.5), 1.0

    def phi(self, e: Array) -> Array:
        return -0.5 * expm1(-e * e)

    def dphi(self, e: Array) -> Array:
        return e * exp(-e * e)

    def ddphi(self, e: Array) -> Array:
        u = clip(e * e, 0.0, 1e3)  # e⁻¹⁰⁰⁰ is 0.
        return (1.0 - 2.0 * u) * exp(-u)
