"""Smoothly clipped absolute deviation (Fan and Li)."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class SCAD(Profiled):
    """ψ(t) = λ min(t, aλ) - q² / (2(a-1)), q = t - λ clipped to [0, (a-1)λ]; λ²(a+1)/2 from aλ on; a > 2."""

    a: float = 3.7

    def __post_init__(self) -> None:
        settle(self, "a", 2.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        q = namespace(a).clip(a - self.lam, 0.0, (self.a - 1.0) * self.lam)
        return self.lam * namespace(a).minimum(a, self.a * self.lam) - q * (q / (2.0 * (self.a - 1.0)))

    def dpsi(self, a: Array) -> Array:
        return self.lam - namespace(a).clip((a - self.lam) / (self.a - 1.0), 0.0, self.lam)

    @property
    def slope0(self) -> float:
        return self.lam

    @property
    def profile_L2(self) -> float:
        return 1.0 / (self.a - 1.0) if self.lam > 0.0 else 0.0
