"""Huber's loss: convex, linear beyond c."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .base import Residual, absolute, clip


@dataclass(frozen=True)
class Huber(Residual):
    """ϕ(e) = e²/2 for |e| ≤ 1, |e| − 1/2 beyond;   ϕ″ is 1, then 0"""

    elementwise = True
    unit_steepest = 1.0

    c: float = 1.345  # 95 % efficient under normal errors.

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 1.0

    def phi(self, e: Array) -> Array:
        a = absolute(e)
        t = clip(a, 0.0, 1.0)
        return t * (a - 0.5 * t)

    def dphi(self, e: Array) -> Array:
        return clip(e, -1.0, 1.0)

    def ddphi(self, e: Array) -> Array:
        xp = namespace(e)
        zero = 0.0 * e  # NaN stays NaN.
        return xp.where(xp.abs(e) > 1.0, zero, zero + 1.0)
