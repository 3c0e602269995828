"""The blocks that are penalised together, entries, rows of x (d, c) or groups of features, and Σ c_j |x_j|₂."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import require
from ..xp import Array, namespace
from .base import AboveZero, Convex, Regularizer, length, stepsize, total


def like(c: Array, x: Array) -> Array:
    """c as an array of x's library and precision."""
    xp = namespace(x)
    if xp is np:
        return np.asarray(c, dtype=x.dtype)
    return xp.asarray(c, dtype=x.dtype, device=x.device)


class Units(ABC):
    """The blocks of x whose norms |x_j|₂ are penalised; `a` below is one number per block."""

    @abstractmethod
    def norms(self, x: Array) -> Array:
        """|x_j|₂ per block."""

    def fit(self, c: Any, x: Array) -> Any:
        """Numbers c per block, or one for all, in a shape that broadcasts to norms(x)."""
        if isinstance(c, float):
            return c
        c = like(c, x)
        return c[:, None] if x.ndim == 2 and c.ndim == 1 else c

    def spread(self, a: Any, x: Array) -> Any:
        """One number per block, in a shape that broadcasts to x."""
        return a

    def along(self, size: Array, x: Array, a: Array) -> Array:
        """size_j x_j / |x_j|₂, 0 at 0 (where size_j must be 0); a = norms(x)."""
        return x * self.spread(size / namespace(x).where(a == 0.0, 1.0, a), x)

    def shrink(self, v: Array, c: Any, step: Any) -> Array:
        """argmin_x Σ c_j |x_j|₂ + Σ (x - v)² / (2 step): x = v a / (a + step c) with a = |x_j|₂."""
        xp, t = namespace(v), step * self.spread(c, v)
        a = xp.maximum(self.norms(v) - step * c, 0.0) if isinstance(step, float) else self._radius(v, c, t)
        top = self.spread(a, v) + t
        # The result is exactly 0 where a = 0 (+ 0.0: never -0.0), and exactly v where c = 0.
        return v * (self.spread(a, v) / xp.where(top == 0.0, 1.0, top)) + 0.0

    def _radius(self, v: Array, c: Any, t: Array) -> Array:
        """The root a ≥ 0 of Σ v² / (a + t)² = 1 per block, 0 if none, for steps that differ in a block.

        (Σ v² / (a + t)²)^(-1/2) is concave and increasing in a, so that Newton's method climbs to the root
        from the left; it is linear, and one step is enough, when t is constant in the block.
        """
        xp = namespace(v)
        a = xp.where(c + 0.0 * self.norms(v) == 0.0, self.norms(v), 0.0)
        for _ in range(60):
            top = self.spread(a, v) + t
            top = xp.where(top == 0.0, 1.0, top)
            n, bend = self.norms(v / top), self.norms(v / top / xp.sqrt(top)) ** 2
            new = xp.maximum(a + (n - 1.0) * n * (n / xp.where(bend == 0.0, 1.0, bend)), 0.0)
            done = not bool(xp.any(xp.abs(new - a) > 1e-15 * new))
            a = new
            if done:
                break
        return a


class Entries(Units):
    """Every entry by itself: |x_j|."""

    def norms(self, x: Array) -> Array:
        return namespace(x).abs(x)

    def along(self, size: Array, x: Array, a: Array) -> Array:
        return namespace(x).copysign(size, x)

    def shrink(self, v: Array, c: Any, step: Any) -> Array:
        """soft(v, t) = v - min(max(v, -t), t), t = step c: exact zeros, no -0.0, NaN kept."""
        xp, t = namespace(v), step * c
        return v - xp.minimum(xp.maximum(v, -t), t)


class Rows(Units):
    """Every row of x (d, c), all classes of one feature together; the entries of a vector."""

    def norms(self, x: Array) -> Array:
        xp = namespace(x)
        return xp.abs(x) if x.ndim == 1 else xp.sqrt(xp.vecdot(x, x))[:, None]


class Lists(Units):
    """Groups of features (rows of x), each feature in exactly one."""

    def __init__(self, groups: Sequence[Sequence[int]]) -> None:
        self.order = np.concatenate([np.asarray(g, dtype=np.int64) for g in groups])
        sizes = np.asarray([len(g) for g in groups])
        self.starts = np.cumsum(sizes) - sizes
        self.label = np.empty_like(self.order)  # The group of each feature.
        self.label[self.order] = np.repeat(np.arange(len(groups)), sizes)

    def norms(self, x: Array) -> Array:
        n = self.order.size
        require(x.shape[0] == n, "groups", f"groups of {n} features", f"groups of x's {x.shape[0]} features")
        xp = namespace(x)
        squares = x * x if x.ndim == 1 else xp.vecdot(x, x)
        if xp is np:
            return np.sqrt(np.add.reduceat(squares[self.order], self.starts))
        parts = [xp.sum(squares[xp.asarray(g)]) for g in np.split(self.order, self.starts[1:])]
        return xp.sqrt(xp.stack(parts))

    def fit(self, c: Any, x: Array) -> Any:
        return c if isinstance(c, float) else like(c, x)

    def spread(self, a: Any, x: Array) -> Any:
        if isinstance(a, float):
            return a
        xp = namespace(x)
        b = xp.take(a, self.label if xp is np else xp.asarray(self.label), axis=0)
        return b[:, None] if x.ndim == 2 else b


ENTRIES, ROWS = Entries(), Rows()


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
