"""The quartic loss: the convex half of phase retrieval, ¼(z² − b)² = ¼z⁴ − ½bz² + ¼b²."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array
from .base import Loss


@dataclass(frozen=True)
class Quartic(Loss):
    """ϕ(z) = z⁴/4,   ϕ″ = 3z²: convex, its curvature has no bound; labels are not used.

    Not in the registry of losses: form (S) needs a bounded curvature. It is for a convex part G (`convex.Mean`).
    """

    elementwise = True

    labels = "real"

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, float("inf")

    def value(self, z: Array, labels: Array) -> Array:
        s = z * z
        return 0.25 * (s * s)

    def slope(self, z: Array, labels: Array) -> Array:
        return z * z * z

    def bend(self, z: Array, labels: Array) -> Array:
        return 3.0 * (z * z)
