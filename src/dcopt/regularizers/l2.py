"""Half the squared norm, ridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..xp import Array
from .base import AboveZero, Convex, length, settle, stepsize, total


@dataclass(frozen=True)
class L2(AboveZero, Convex):
    """r(x) = λ/2 |x|²."""

    lam: float

    def __post_init__(self) -> None:
        settle(self, "lam", 0.0)

    @property
    def rho(self) -> float:
        return self.lam

    def r1(self, x: Array) -> float:
        return 0.5 * self.lam * total(x * x)

    def prox(self, v: Array, step: Any) -> Array:
        return v / (1.0 + self.lam * stepsize(step, v))

    def distance(self, u: Array, x: Array) -> float:
        return length(u - self.lam * x)
