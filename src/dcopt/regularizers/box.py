"""Bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import BadSettings, require
from ..xp import Array, namespace
from .base import AboveZero, Convex, length, nothing, total
from .units import ENTRIES


@dataclass(frozen=True)
class Box(AboveZero, Convex):
    """r(x) = 0 if low ≤ x ≤ high, else ∞; bounds: numbers, one per feature, or of x's shape; ±∞ allowed."""

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
            object.__setattr__(self, name, _freeze(bound.tolist()))  # settings can be compared and hashed
        low, high = (np.asarray(bound) for bound in (self.low, self.high))
        alike = low.shape == high.shape or 0 in (low.ndim, high.ndim)
        require(alike, "high", high.shape, f"the shape of low, {low.shape}, or one number")
        good = bool(np.all((low <= high) & (low < math.inf) & (high > -math.inf)))
        require(good, "low", self.low, "low <= high, with a number between them")

    @cached_property
    def bounds(self) -> tuple[Any, Any]:
        low, high = (b if isinstance(b, float) else np.asarray(b) for b in (self.low, self.high))
        return low, high

    @property
    def shape(self) -> tuple[int, ...] | None:
        return np.broadcast_shapes(np.shape(self.low), np.shape(self.high)) or None

    def r1(self, x: Array) -> float:
        if bool(namespace(x).any((x < self._low(x)) | (x > self._high(x)))):
            return math.inf
        return total(nothing(x))

    def prox(self, v: Array, step: Any) -> Array:
        xp = namespace(v)
        return xp.minimum(xp.maximum(v, self._low(v)), self._high(v))

    def distance(self, u: Array, x: Array) -> float:
        """The normal cone holds the positive part of u where x = high, the negative part where x = low."""
        if self.r1(x) == math.inf:
            return math.inf
        xp = namespace(u, x)
        up = xp.where(x >= self._high(x), nothing(u), xp.maximum(u, 0.0))
        down = xp.where(x <= self._low(x), nothing(u), xp.maximum(-u, 0.0))
        return length(up + down + nothing(x))

    def _low(self, x: Array) -> Any:
        return ENTRIES.fit(self.bounds[0], x)

    def _high(self, x: Array) -> Any:
        return ENTRIES.fit(self.bounds[1], x)


@dataclass(frozen=True)
class Nonnegative(Box):
    """r(x) = 0 if x ≥ 0, else ∞."""

    low: float = field(default=0.0, init=False)
    high: float = field(default=math.inf, init=False)


def _freeze(bound: Any) -> Any:
    return tuple(_freeze(b) for b in bound) if isinstance(bound, list) else float(bound)
