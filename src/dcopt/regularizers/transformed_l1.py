"""Transformed l1 (Nikolova; Zhang and Xin)."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class TransformedL1(Profiled):
    """r(x) = λ Σ (a+1) |x_j| / (a + |x_j|): l0 as a → 0, l1 as a → ∞."""

    a: float

    def __post_init__(self) -> None:
        settle(self, "a", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        return self.lam * (self.a + 1.0) * (a / (self.a + a))

    def dpsi(self, a: Array) -> Array:
        s = self.a / (self.a + a)
        return self.slope0 * s * s

    @property
    def slope0(self) -> float:
        return self.lam * (self.a + 1.0) / self.a

    @property
    def profile_L2(self) -> float:
        return 2.0 * self.slope0 / self.a
