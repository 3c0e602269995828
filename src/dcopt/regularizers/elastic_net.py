"""l1 plus half the squared norm."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..xp import Array
from .base import AboveZero, Convex, settle, stepsize, total
from .l1 import L1


@dataclass(frozen=True)
class ElasticNet(AboveZero, Convex):
    """r(x) = Σ_j weights_j (λ |x_j|₂ + μ/2 |x_j|₂²); groups and weights as for every profile."""

    lam: float
    mu: float
    groups: Any = field(default=None, kw_only=True)
    weights: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        settle(self, "lam", 0.0)
        settle(self, "mu", 0.0)
        object.__setattr__(self, "groups", self.kinked.groups)
        object.__setattr__(self, "weights", self.kinked.weights)

    @cached_property
    def kinked(self) -> L1:
        return L1(self.lam, groups=self.groups, weights=self.weights)

    @property
    def rho(self) -> float:
        return self.mu * (1.0 if self.weights is None else min(self.weights))

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.kinked.shape

    def r1(self, x: Array) -> float:
        return self.kinked.r1(x) + 0.5 * total(self.bend(x) * x * x)

    def prox(self, v: Array, step: Any) -> Array:
        """prox of the kinked part at v / (1 + step μ) with step / (1 + step μ)."""
        step = stepsize(step, v)
        scale = 1.0 + step * self.bend(v)
        return self.kinked.prox(v / scale, step / scale)

    def distance(self, u: Array, x: Array) -> float:
        return self.kinked.distance(u - self.bend(x) * x, x)

    def bend(self, x: Array) -> Any:
        """μ weights_j, in a shape that broadcasts to x."""
        if self.weights is None:
            return self.mu
        units = self.kinked.units
        return self.mu * units.spread(units.fit(self.weights, x), x)
