"""The loss of support vector regression, with rounded corners."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import require_number
from ..xp import Array, namespace
from .base import Loss


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """ϕ(z) = t (a − t/2)/width,   a = |z − y| − ε,   t = clip(a, 0, width),   ϕ″ is 0 or 1/width

    The limit of width → 0 is (|z − y| − ε)₊, which lies above ϕ by width/2 at most. For residuals below ε + width ϕ is
    (|z − y| − ε)₊²/(2 width), the squared form of the loss.
    """

    labels = "real"
    steepest = 1.0

    epsilon: float = 0.1
    width: float = 0.1

    def __post_init__(self) -> None:
        require_number("epsilon", self.epsilon, 0.0)
        require_number("width", self.width, 0.0, open_low=True)

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 1.0 / self.width

    def value(self, z: Array, labels: Array) -> Array:
        xp = namespace(z)
        a = xp.abs(z - labels) - self.epsilon
        t = xp.clip(a, 0.0, self.width)
        return t * (a - 0.5 * t) / self.width

    def slope(self, z: Array, labels: Array) -> Array:
        xp = namespace(z)
        e = z - labels
        return xp.sign(e) * xp.clip((xp.abs(e) - self.epsilon) / self.width, 0.0, 1.0)

    def bend(self, z: Array, labels: Array) -> Array:
        xp = namespace(z)
        a = xp.abs(z - labels) - self.epsilon
        zero = 0.0 * a  # NaN stays NaN.
        return xp.where((a > 0.0) & (a < self.width), zero + 1.0 / self.width, zero)
