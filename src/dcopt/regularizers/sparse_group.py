"""Single coefficients and whole groups at once: the sparse group lasso."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..errors import require_number
from ..xp import Array, namespace
from .base import AboveZero, Convex, length, settle, stepsize, total
from .l1 import L1
from .units import Units


@dataclass(frozen=True)
class SparseGroup(AboveZero, Convex):
    """r(x) = λ Σ_g weights_g (share |x_g|₁ + (1 − share) |x_g|₂): groups leave, and single coefficients within a group.

    groups, weights: as for every profile; without groups it is l1. share = 1 is l1, share = 0 the group lasso. The prox
    is exact: soft thresholding of the entries, then of the norms of the groups, also where each entry has its own step.
    """

    lam: float
    share: float = 0.5
    groups: Any = field(default=None, kw_only=True)
    weights: Any = field(default=None, kw_only=True)
    homogeneous: ClassVar[bool] = True  # r₁(tx) = t r₁(x) for t > 0

    def __post_init__(self) -> None:
        settle(self, "lam", 0.0)
        require_number("share", self.share, 0.0, 1.0)
        object.__setattr__(self, "share", float(self.share))
        object.__setattr__(self, "groups", self.grouped.groups)
        object.__setattr__(self, "weights", self.grouped.weights)

    @cached_property
    def grouped(self) -> L1:
        """The part over groups."""
        return L1(self.lam * (1.0 - self.share), groups=self.groups, weights=self.weights)

    @property
    def units(self) -> Units:
        return self.grouped.units

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.grouped.shape

    def r1(self, x: Array) -> float:
        return total(self.single(x) * namespace(x).abs(x)) + self.grouped.r1(x)

    def prox(self, v: Array, step: Any) -> Array:
        return self.grouped.prox(_soft(v, stepsize(step, v) * self.single(v)), step)

    def distance(self, u: Array, x: Array) -> float:
        """Of a group that is 0 (|soft(u_g, c)| − C_g)₊; of others entry by entry, soft(u_j, c) where x_j = 0."""
        xp, units, c = namespace(u, x), self.units, self.single(x)
        a = units.norms(x)
        C = units.fit(self.grouped.kink.c, x) + 0.0 * a
        left = _soft(u, c + 0.0 * x)
        off = xp.where(x == 0.0, left, u - c * xp.sign(x) - units.along(C, x, a))
        return length(xp.where(a == 0.0, xp.maximum(units.norms(left) - C, 0.0), units.norms(off)))

    def least_lam(self, g: Array) -> float:
        """The least λ with −g ∈ ∂r(0), by bisection in every group: |soft(g, λ share w)| = λ (1 − share) w."""
        units = self.units
        one = np.ones_like(units.norms(g))
        w = one if self.weights is None else one * units.fit(self.weights, g)
        paid = w > 0.0
        w = np.where(paid, w, 1.0)
        top = np.maximum(self.share, 1.0 - self.share) * w
        low, high = np.zeros_like(w), units.norms(g) / top
        for _ in range(64):
            middle = 0.5 * (low + high)
            inside = units.norms(_soft(g, units.spread(middle * self.share * w, g))) <= middle * (1.0 - self.share) * w
            low, high = np.where(inside, low, middle), np.where(inside, middle, high)
        return float(np.max(high[paid], initial=0.0))

    def single(self, x: Array) -> Any:
        """λ share weights_g, in a shape that broadcasts to x"""
        c = self.lam * self.share
        if self.weights is None:
            return c
        return c * self.units.spread(self.units.fit(self.weights, x), x)


def _soft(v: Array, t: Any) -> Array:
    """v − min(max(v, −t), t)"""
    xp = namespace(v)
    return v - xp.minimum(xp.maximum(v, -t), t)
