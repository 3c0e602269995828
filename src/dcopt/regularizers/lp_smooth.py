"""Smoothed lp."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class LpSmooth(Profiled):
    """r(x) = λ Σ (|x_j| + ε)^p - ε^p, 0 < p ≤ 1."""

    p: float
    eps: float

    def __post_init__(self) -> None:
        settle(self, "p", 0.0, 1.0, open_low=True)
        settle(self, "eps", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        xp = namespace(a)  # expm1 avoids the cancellation of the difference of powers for small a.
        return self.lam * self.eps**self.p * xp.expm1(self.p * xp.log1p(a / self.eps))

    def dpsi(self, a: Array) -> Array:
        return self.slope0 * (1.0 + a / self.eps) ** (self.p - 1.0)

    @property
    def slope0(self) -> float:
        return self.lam * self.p * float(self.eps ** (self.p - 1.0))

    @property
    def profile_L2(self) -> float:
        return self.slope0 * (1.0 - self.p) / self.eps
