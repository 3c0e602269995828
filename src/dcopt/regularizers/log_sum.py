"""Log-sum (Candès, Wakin and Boyd)."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class LogSum(Profiled):
    """r(x) = λ Σ log(1 + |x_j| / ε)."""

    eps: float

    def __post_init__(self) -> None:
        settle(self, "eps", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        return self.lam * namespace(a).log1p(a / self.eps)

    def dpsi(self, a: Array) -> Array:
        return self.slope0 / (1.0 + a / self.eps)

    @property
    def slope0(self) -> float:
        return self.lam / self.eps

    @property
    def profile_L2(self) -> float:
        return self.lam / self.eps / self.eps
