"""Geman's penalty."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class Geman(Profiled):
    """r(x) = λ Σ |x_j| / (θ + |x_j|)."""

    theta: float

    def __post_init__(self) -> None:
        settle(self, "theta", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        return self.lam * (a / (self.theta + a))

    def dpsi(self, a: Array) -> Array:
        s = self.theta / (self.theta + a)
        return self.slope0 * s * s

    @property
    def slope0(self) -> float:
        return self.lam / self.theta

    @property
    def profile_L2(self) -> float:
        return 2.0 * self.slope0 / self.theta
