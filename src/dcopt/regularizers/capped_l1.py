"""Capped l1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..xp import Array, namespace
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class CappedL1(Profiled):
    """r(x) = λ Σ min(|x_j|, θ); r₂ has a kink at |x_j| = θ, where F falls along x_j or −x_j."""

    theta: float

    def __post_init__(self) -> None:
        settle(self, "theta", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        return self.lam * namespace(a).minimum(a, self.theta)

    def dpsi(self, a: Array) -> Array:
        xp = namespace(a)
        return xp.where(a > self.theta, 0.0, self.lam + xp.minimum(a, 0.0))  # Here a ≥ 0, and NaN stays NaN.

    @property
    def slope0(self) -> float:
        return self.lam

    @cached_property
    def jumps(self) -> tuple[tuple[float, float, float], ...]:
        return ((self.theta, self.lam, 0.0),) if self.lam > 0.0 else ()

    @property
    def profile_L2(self) -> float | None:
        return None if self.lam > 0.0 else 0.0
