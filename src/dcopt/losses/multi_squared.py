"""Least squares of several targets at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..xp import Array, namespace
from .base import Loss


@dataclass(frozen=True)
class MultiSquared(Loss):
    """ϕ(z) = ‖z − y‖²/2 of k scores and k targets;   ∇²ϕ = I

    x is (d, k), a column for every target. A penalty over rows of x (groups="rows") takes a feature for all of them.
    """

    labels = "real"
    wide = True

    @property
    def curvature(self) -> tuple[float, float]:
        return 1.0, 1.0

    def value(self, z: Array, labels: Array) -> Array:
        e = z - labels
        return 0.5 * namespace(e).sum(e * e, axis=-1)

    def slope(self, z: Array, labels: Array) -> Array:
        return z - labels

    def bend(self, z: Array, labels: Array) -> Array:
        """The eigenvalue of ∇²ϕ"""
        return 0.0 * namespace(z).sum(z - labels, axis=-1) + 1.0  # NaN stays NaN.

    def centre(self, labels: Array, weights: Array) -> Array:
        """The means of the targets"""
        return np.average(labels, axis=0, weights=weights)
