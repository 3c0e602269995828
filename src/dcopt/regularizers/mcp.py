"""Minimax concave penalty (Zhang)."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array, namespace
from .base import settle
from .profiled import Profiled


@dataclass(frozen=True)
class MCP(Profiled):
    """ψ(t) = λ s - s² / (2γ), s = min(t, γλ); constant γλ²/2 from γλ on; γ > 0."""

    gamma: float = 3.0

    def __post_init__(self) -> None:
        settle(self, "gamma", 0.0, open_low=True)
        super().__post_init__()

    def psi(self, a: Array) -> Array:
        s = namespace(a).minimum(a, self.gamma * self.lam)
        return s * (self.lam - s / (2.0 * self.gamma))

    def dpsi(self, a: Array) -> Array:
        return self.lam - namespace(a).minimum(a / self.gamma, self.lam)

    @property
    def slope0(self) -> float:
        return self.lam

    @property
    def profile_L2(self) -> float:
        return 1.0 / self.gamma if self.lam > 0.0 else 0.0
