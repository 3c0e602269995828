"""l1, the lasso; the group lasso with `groups`."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .profiled import Profiled


@dataclass(frozen=True)
class L1(Profiled):
    """r(x) = λ Σ |x_j|: the linear profile, r₂ = 0."""

    def psi(self, a: Array) -> Array:
        return self.lam * a

    def dpsi(self, a: Array) -> Array:
        return self.lam + 0.0 * namespace(a).minimum(a, 1.0)  # This keeps NaN, and infinity causes no warning.

    @property
    def slope0(self) -> float:
        return self.lam

    @property
    def profile_L2(self) -> float:
        return 0.0
