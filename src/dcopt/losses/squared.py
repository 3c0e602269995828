"""Least squares."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array
from .base import Loss


@dataclass(frozen=True)
class Squared(Loss):
    """ϕ(z) = (z − label)²/2,   ϕ″ = 1; not a Residual, since its scale cancels and costs two operations"""

    elementwise = True

    labels = "real"

    @property
    def curvature(self) -> tuple[float, float]:
        return 1.0, 1.0

    def value(self, z: Array, labels: Array) -> Array:
        e = z - labels
        return 0.5 * (e * e)

    def slope(self, z: Array, labels: Array) -> Array:
        return z - labels

    def both(self, z: Array, labels: Array) -> tuple[Array, Array]:
        e = z - labels
        values = e * e
        values *= 0.5  # A third array would cost as much as all the rest.
        return values, e

    def bend(self, z: Array, labels: Array) -> Array:
        return 0.0 * (z - labels) + 1.0  # NaN stays NaN.
