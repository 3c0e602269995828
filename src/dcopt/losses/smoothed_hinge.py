"""The hinge with a rounded corner: the convex half of the ramp."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from ..errors import require_number
from ..xp import Array, namespace
from .base import Margin


@dataclass(frozen=True)
class SmoothedHinge(Margin):
    """ϕ(m) = Hₐ(m),   Hₐ′(m) = −clip((a − m)/width, 0, 1),   Hₐ(∞) = 0;   ϕ″ is 0 or 1/width

    H₁ − Hₛ is the smoothed ramp.
    """

    elementwise = True
    steepest = 1.0

    a: float = 1.0
    width: float = 0.5

    def __post_init__(self) -> None:
        require_number("a", self.a, -inf)
        require_number("width", self.width, 0.0, open_low=True)

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 1 / self.width

    def phi(self, m: Array) -> Array:
        u = self.a - m
        t = namespace(m).clip(u, 0.0, self.width)
        return t * (u - 0.5 * t) / self.width

    def dphi(self, m: Array) -> Array:
        return -namespace(m).clip((self.a - m) / self.width, 0.0, 1.0)

    def ddphi(self, m: Array) -> Array:
        t = namespace(m).clip((self.a - m) / self.width, 0.0, 1.0)
        return namespace(m).sign(t * (1.0 - t)) / self.width
