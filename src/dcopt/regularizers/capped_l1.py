"""Capped l1."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class CappedL1(Profiled):
    """r(x) = λ Σ min(|x_j|, θ); r₂ has a kink at |x_j| = θ."""

    theta: float

    def __post_init__(self) -> None:
        settle(self, "theta", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        return self.lam * namespace(a).minimum(a, self.theta)

    def dpsi(self, a: Array) -> Array:
        xp = namespace(a)
        kept = self.lam + 0.0 * xp.minimum(a, self.theta)  # NaN stays NaN
        return xp.where(a > self.theta, xp.zeros_like(a), kept)

    @property
    def slope0(self) -> float:
        return self.lam

    @property
    def profile_L2(self) -> float | None:
        return None if self.lam > 0.0 else 0.0
