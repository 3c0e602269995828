"""What the directions of k-component PCA add: a row, in k directions, half the square of its length there."""

from __future__ import annotations

from dataclasses import dataclass

from ..losses import Loss
from ..xp import Array, namespace


@dataclass(frozen=True)
class HalfSquares(Loss):
    """ϕ(z) = ‖z‖²/2 of the k numbers z = xᵀa of a row (..., k); its Hessian is the identity. Labels are not read."""

    labels = "class"

    @property
    def curvature(self) -> tuple[float, float]:
        return 1.0, 1.0

    def value(self, z: Array, labels: Array) -> Array:
        return 0.5 * namespace(z).sum(z * z, axis=-1)

    def slope(self, z: Array, labels: Array) -> Array:
        return z + 0.0

    def bend(self, z: Array, labels: Array) -> Array:
        return 0.0 * z[..., 0] + 1.0  # NaN stays NaN.
