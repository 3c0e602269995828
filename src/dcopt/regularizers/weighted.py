"""Σ c_j |x_j|₂: the convex half of every regularizer with a kink at zero."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ..xp import Array, namespace
from .base import AboveZero, Convex, Regularizer, length, stepsize, total
from .units import ENTRIES, Units


class WeightedL1(AboveZero, Convex):
    """r(x) = Σ_j c_j |x_j|₂ over the blocks j of x; c ≥ 0 a float, or an array: one per block."""

    def __init__(self, c: Any, units: Units = ENTRIES) -> None:
        self.c, self.units = c, units

    def r1(self, x: Array) -> float:
        return total(self.units.fit(self.c, x) * self.units.norms(x))

    def prox(self, v: Array, step: Any) -> Array:
        return self.units.shrink(v, self.units.fit(self.c, v), stepsize(step, v))

    def distance(self, u: Array, x: Array) -> float:
        """|u_j - c_j x_j / |x_j|| where x_j ≠ 0, (|u_j| - c_j)₊ where x_j = 0."""
        xp, units = namespace(u, x), self.units
        a = units.norms(x)
        c = units.fit(self.c, x) + 0.0 * a  # One number per block, NaN where x is NaN.
        off = units.norms(u - units.along(c, x, a))
        return length(xp.where(a == 0.0, xp.maximum(units.norms(u) - c, 0.0), off))


class Kinked(Regularizer):
    """r₁(x) = Σ c_j |x_j|₂: a subclass defines it (`kink`), and value, subgrad and L2."""

    @property
    @abstractmethod
    def kink(self) -> WeightedL1:
        """r₁."""

    def r1(self, x: Array) -> float:
        return self.kink.r1(x)

    def prox(self, v: Array, step: Any) -> Array:
        return self.kink.prox(v, step)

    def distance(self, u: Array, x: Array) -> float:
        return self.kink.distance(u, x)
