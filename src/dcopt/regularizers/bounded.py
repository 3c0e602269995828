"""Bounds together with a penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import BadSettings, require
from ..xp import Array, namespace
from .base import Down, Regularizer, Stationarity, Wrapping, length, nothing
from .box import Box
from .elastic_net import ElasticNet
from .l2 import L2
from .profiled import Profiled
from .units import ENTRIES, Kinked, Units, WeightedL1
from .zero import Zero


@dataclass(frozen=True)
class Bounded(Wrapping):
    """r(x) = of(x) if low ≤ x ≤ high, else ∞:   r₁ = that of `of` within the bounds,   r₂ = that of `of`.

    of: a penalty whose r₁ is Σ c_j |x_j| + m_j/2 x_j² over entries; its prox, cut off at the bounds, is that of the
    sum. Over rows or groups that is known where every bound is 0 or infinite: the prox of `of` at the point cut off at
    the bounds. low, high: numbers, one per feature, or of x's shape, ±∞ allowed.
    """

    of: Regularizer
    low: Any = 0.0
    high: Any = math.inf

    def __post_init__(self) -> None:
        known = isinstance(self.of, Zero | L2 | ElasticNet | Kinked | WeightedL1)
        expected = "a penalty over entries, rows or groups, whose prox together with bounds is known"
        require(known, "of", self.of, f"{expected}; not {type(self.of).__name__}")
        box = self.box
        for name in ("low", "high"):
            object.__setattr__(self, name, getattr(box, name))
        if self.units is not ENTRIES:
            cone = all(bool(np.all((np.asarray(b) == 0.0) | np.isinf(b))) for b in (self.low, self.high))
            expected = "0 or infinite bounds where the penalty is over rows or groups: of others the prox is not known"
            require(cone, "low, high", (self.low, self.high), expected)
        mine, other = box.shape, self.of.shape
        good = mine is None or other is None or mine[0] == other[0]
        require(good, "low", mine, f"bounds for as many features as the penalty has, {other}")

    @cached_property
    def box(self) -> Box:
        return Box(self.low, self.high)

    @cached_property
    def kink(self) -> WeightedL1 | None:
        """Σ c_j |x_j|, None where there is no such part"""
        of = self.of.kinked if isinstance(self.of, ElasticNet) else self.of
        return of.kink if isinstance(of, Kinked) else of if isinstance(of, WeightedL1) else None

    @property
    def lam(self) -> float:
        """λ of `of`, where it has one."""
        found: float = self.of.lam  # type: ignore[attr-defined]  # If `of` has none, nor has this.
        return found

    @property
    def units(self) -> Units:
        return ENTRIES if self.kink is None else self.kink.units

    @property
    def rho(self) -> float:
        return self.of.rho

    @property
    def certifies(self) -> Stationarity:
        """As `of`, where r₂ is smooth or `steepest` compares the slopes at its jumps."""
        own = self.of.L2 is not None or (isinstance(self.of, Profiled) and self.of.jumps is not None)
        return "d-stationary" if own else "critical"

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.box.shape or self.of.shape

    def value(self, x: Array) -> float:
        return self.of.value(x) + self.box.r1(x)

    def r1(self, x: Array) -> float:
        return self.of.r1(x) + self.box.r1(x)

    def prox(self, v: Array, step: Any) -> Array:
        if self.units is ENTRIES:
            return self.box.prox(self.of.prox(v, step), step)
        return self.of.prox(self.box.prox(v, step), step)

    def subgrad(self, x: Array) -> Array:
        return self.of.subgrad(x)

    def steepest(self, x: Array, down: Down) -> Array:
        """As that of `of`; where ψ′ jumps, the slope with the larger distance within the bounds."""
        of = self.of
        if not isinstance(of, Profiled) or not of.jumps:
            return of.steepest(x, down)
        xp, a, w = namespace(x), of.units.norms(x), of.subgrad(x)
        for at, left, right in of.jumps:
            tied = a == at
            if int(xp.count_nonzero(tied)) > 0:
                u = down()
                one, two = (of.concave(s + nothing(a), x, a) for s in (left, right))
                farther = self._gaps(u + two, x) > self._gaps(u + one, x)
                here, second = (of.units.spread(xp.astype(b, x.dtype), x) for b in (tied, farther))
                w = w + here * (one + second * (two - one) - w)
        return w

    def distance(self, u: Array, x: Array) -> float:
        """Per entry the distance to [lowest slope, highest slope], without an end where x is at that bound."""
        return math.inf if self.box.r1(x) == math.inf else length(self._gaps(u, x))

    def rounded(self, dtype: Any) -> Regularizer:
        box = self.box.rounded(dtype)
        if box is self.box:
            return self
        made = replace(self)
        made.__dict__["box"] = box
        return made

    def within(self, u: Array) -> Array:
        """What of a direction u from 0 stays within the bounds, which must hold 0."""
        low, high = (ENTRIES.fit(b, u) for b in self.box.bounds)
        xp = namespace(u)
        if bool(xp.any((low > 0.0) | (high < 0.0) | (nothing(u) != 0.0))):
            raise BadSettings(
                "low, high", (self.low, self.high), "bounds with 0 between them, where λ is a share of lam_max"
            )
        return xp.where((low < 0.0) & (high > 0.0), u, xp.where(low < 0.0, xp.minimum(u, 0.0), xp.maximum(u, 0.0)))

    def _gaps(self, u: Array, x: Array) -> Array:
        """The distance of each block of u to ∂r₁(x), x within the bounds"""
        xp = namespace(u, x)
        low, high = (ENTRIES.fit(b, x) for b in self.box.ends(x))
        u = u - self._bend(x) * x + nothing(x)
        if self.kink is None:
            return self._off(u, x, low, high)
        units = self.units
        a = units.norms(x)
        c = units.fit(self.kink.c, x) + 0.0 * a
        off = units.norms(self._off(u - units.along(c, x, a), x, low, high))
        return xp.where(a == 0.0, xp.maximum(units.norms(self._off(u, x, low, high)) - c, 0.0), off)

    def _off(self, u: Array, x: Array, low: Any, high: Any) -> Array:
        """u without what a bound holds: its negative part at `low`, its positive part at `high`"""
        xp = namespace(u, x)
        u = xp.where(x <= low, xp.maximum(u, 0.0), u)
        return xp.where(x >= high, xp.minimum(u, 0.0), u)

    def _bend(self, x: Array) -> Any:
        """m, in a shape that broadcasts to x"""
        if isinstance(self.of, ElasticNet):
            return self.of.bend(x)
        return self.of.lam if isinstance(self.of, L2) else 0.0
