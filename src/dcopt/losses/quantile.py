"""The loss of quantile regression, with a rounded corner."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import require_number
from ..xp import Array, namespace
from .base import Loss, weighted_quantile


@dataclass(frozen=True)
class Quantile(Loss):
    """ϕ(z) = s (u − width s/2),   u = y − z,   s = clip(u/width, q − 1, q),   ϕ″ is 1/width near 0, then 0

    The limit of width → 0 is the pinball loss q u₊ + (1 − q) u₋, which lies above ϕ by width max(q, 1 − q)²/2 at most.
    """

    labels = "real"

    q: float = 0.5
    width: float = 0.1

    def __post_init__(self) -> None:
        require_number("q", self.q, 0.0, 1.0, open_low=True)
        require_number("q", 1.0 - self.q, 0.0, 1.0, open_low=True)
        require_number("width", self.width, 0.0, open_low=True)

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 1.0 / self.width

    @property
    def steepest(self) -> float:  # type: ignore[override]
        return max(self.q, 1.0 - self.q)

    def centre(self, labels: Array, weights: Array) -> float:
        """The weighted quantile"""
        return weighted_quantile(labels, weights, self.q)

    def value(self, z: Array, labels: Array) -> Array:
        u = labels - z
        s = namespace(u).clip(u / self.width, self.q - 1.0, self.q)
        return s * (u - (0.5 * self.width) * s)

    def slope(self, z: Array, labels: Array) -> Array:
        u = labels - z
        return -namespace(u).clip(u / self.width, self.q - 1.0, self.q)

    def bend(self, z: Array, labels: Array) -> Array:
        t = (labels - z) / self.width
        xp, zero = namespace(t), 0.0 * t  # NaN stays NaN.
        return xp.where((t > self.q - 1.0) & (t < self.q), zero + 1.0 / self.width, zero)
