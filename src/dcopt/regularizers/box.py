"""Bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..errors import BadSettings, require
from ..xp import Array, namespace
from .base import length, nothing, total
from .constraint import Constraint, is_single
from .units import ENTRIES


@dataclass(frozen=True)
class Box(Constraint):
    """r(x) = 0 if low ≤ x ≤ high, else ∞; bounds: numbers, one per feature, or of x's shape; ±∞ allowed.

    A point of float32 ends at the last number of float32 inside of a bound; the nearest one may be outside.
    """

    low: Any
    high: Any

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            try:
                bound = np.asarray(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError):
                raise BadSettings(name, getattr(self, name), "numbers") from None
            good = bound.ndim <= 2 and not np.isnan(bound).any()
            require(good, name, getattr(self, name), "numbers, not NaN")
            object.__setattr__(self, name, _freeze(bound.tolist()))  # Settings must be comparable and hashable.
        low, high = (np.asarray(bound) for bound in (self.low, self.high))
        alike = low.shape == high.shape or 0 in (low.ndim, high.ndim)
        require(alike, "high", high.shape, f"the shape of low, {low.shape}, or one number")
        good = bool(np.all((low <= high) & (low < math.inf) & (high > -math.inf)))
        require(good, "low", self.low, "low <= high, with a number between them")

    @cached_property
    def bounds(self) -> tuple[Any, Any]:
        """The bounds for points of the type of x."""
        low, high = self._given
        return (_inside(low, -math.inf), _inside(high, math.inf)) if self.single else (low, high)

    @cached_property
    def _given(self) -> tuple[Any, Any]:
        low, high = (b if isinstance(b, float) else np.asarray(b) for b in (self.low, self.high))
        return low, high

    @cached_property
    def of_single(self) -> Self:
        made = super().of_single
        low, high = made.bounds
        expected = "a number of float32 between low and high, as the data are of float32; float64 has more of them"
        require(bool(np.all(low <= high)), "low", self.low, expected)
        return made

    @property
    def shape(self) -> tuple[int, ...] | None:
        return np.broadcast_shapes(np.shape(self.low), np.shape(self.high)) or None

    def r1(self, x: Array) -> float:
        low, high = self._fit(self.ends(x) if is_single(x) else self._given, x)
        if bool(namespace(x).any((x < low) | (x > high))):
            return math.inf
        return total(nothing(x))

    def prox(self, v: Array, step: Any) -> Array:
        xp, (low, high) = namespace(v), self._fit(self.ends(v), v)
        return xp.minimum(xp.maximum(v, low), high)

    def distance(self, u: Array, x: Array) -> float:
        """The normal cone holds the positive part of u where x = high, the negative part where x = low."""
        if self.r1(x) == math.inf:
            return math.inf
        xp, (low, high) = namespace(u, x), self._fit(self.ends(x), x)
        up = xp.where(x >= high, nothing(u), xp.maximum(u, 0.0))
        down = xp.where(x <= low, nothing(u), xp.maximum(-u, 0.0))
        return length(up + down + nothing(x))

    def ends(self, x: Array) -> tuple[Any, Any]:
        """The bounds for a point like x."""
        return self.of_single.bounds if is_single(x) else self.bounds

    def _fit(self, bounds: tuple[Any, Any], x: Array) -> tuple[Any, Any]:
        return ENTRIES.fit(bounds[0], x), ENTRIES.fit(bounds[1], x)


@dataclass(frozen=True)
class Nonnegative(Box):
    """r(x) = 0 if x ≥ 0, else ∞."""

    low: float = field(default=0.0, init=False)
    high: float = field(default=math.inf, init=False)


def _inside(bound: Any, outwards: float) -> Any:
    """The last number of float32 that is not beyond the bound, as a float64."""
    given = np.asarray(bound, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        near = given.astype(np.float32)
        beyond = near > given if outwards > 0.0 else near < given
        inner = np.where(beyond, np.nextafter(near, np.float32(-outwards)), near).astype(np.float64)
    return float(inner) if inner.ndim == 0 else inner


def _freeze(bound: Any) -> Any:
    return tuple(_freeze(b) for b in bound) if isinstance(bound, list) else float(bound)
