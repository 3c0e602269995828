"""The paper's penalty."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class Exponential(Profiled):
    """r(x) = λ Σ (1 - exp(-α |x_j|)); concave in |x|, with a convex kink at 0 (the paper calls r concave)."""

    alpha: float

    def __post_init__(self) -> None:
        settle(self, "alpha", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        return -self.lam * namespace(a).expm1(-self.alpha * a)

    def dpsi(self, a: Array) -> Array:
        return self.slope0 * namespace(a).exp(-self.alpha * a)

    @property
    def slope0(self) -> float:
        return self.lam * self.alpha

    @property
    def profile_L2(self) -> float:
        return self.lam * self.alpha * self.alpha
