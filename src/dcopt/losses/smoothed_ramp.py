"""The ramp loss with rounded corners."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from ..errors import require, require_number
from ..xp import Array, namespace
from .base import Margin


@dataclass(frozen=True)
class SmoothedRamp(Margin):
    """ϕ(m) = H₁(m) − Hₛ(m),   Hₐ′(m) = −clip((a − m)/width, 0, 1),   Hₐ(∞) = 0

    Hₐ is the hinge (a − m)₊ with its corner replaced by a parabola on [a − width, a]; ϕ falls from
    1 − s to 0. width ≤ 1 − s keeps the parabolas apart: ϕ″ is 0, 1/width or −1/width and nothing else.
    """

    elementwise = True
    steepest = 1.0

    s: float = 0.0
    width: float = 0.5

    def __post_init__(self) -> None:
        require_number("s", self.s, -inf, 1.0)
        require_number("width", self.width, 0.0, open_low=True)
        # Rounding is allowed for: s = 0.9, width = 0.1 is valid, though 1 − 0.9 < 0.1 in floats.
        fits = self.s + self.width <= 1.0 + 1e-12
        require(fits, "width", self.width, f"at most 1 - s = {1.0 - self.s:g}")

    @property
    def curvature(self) -> tuple[float, float]:
        return -1 / self.width, 1 / self.width

    def phi(self, m: Array) -> Array:
        xp, w = namespace(m), self.width
        m = xp.clip(m, self.s - w, 1.0)  # ϕ is constant outside; H₁ − Hₛ would cancel far to the left
        u, v = 1.0 - m, xp.clip(self.s - m, 0.0, w)
        t = xp.clip(u, 0.0, w)
        return (t * (u - 0.5 * t) - 0.5 * v * v) / w

    def dphi(self, m: Array) -> Array:
        xp, w = namespace(m), self.width
        return xp.clip((self.s - m) / w, 0.0, 1.0) - xp.clip((1.0 - m) / w, 0.0, 1.0)

    def ddphi(self, m: Array) -> Array:
        xp, w = namespace(m), self.width
        t, v = xp.clip((1.0 - m) / w, 0.0, 1.0), xp.clip((self.s - m) / w, 0.0, 1.0)
        return (xp.sign(t * (1.0 - t)) - xp.sign(v * (1.0 - v))) / w  # sign keeps NaN, which a comparison would not.
