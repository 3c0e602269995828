"""The trimmed lasso; r₁ and r₂ are explicit, without a profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ..xp import Array, namespace
from .base import ButLargest, Down, nothing, ranks, total
from .units import Kinked, WeightedL1


@dataclass(frozen=True)
class TopK(ButLargest, Kinked):
    """r(x) = λ (|x|₁ - sum of the k largest |x_i|): zero at k-sparse x; r₂ has kinks at ties.

    F = f + r falls at every x with nonzero entries tied for the k-th place, and at every x with fewer than k nonzeros
    unless ∇f(x) = 0; `steepest` gives a w that shows where.
    """

    lam: float
    k: int

    @cached_property
    def kink(self) -> WeightedL1:
        return WeightedL1(self.lam)

    def value(self, x: Array) -> float:
        xp = namespace(x)
        a = xp.reshape(xp.abs(x), (-1,))
        if bool(xp.any(xp.isnan(a))):
            return float("nan")
        return self.lam * total(xp.sort(a)[: max(a.shape[0] - self.k, 0)])

    def subgrad(self, x: Array) -> Array:
        """λ sign(x_i) on the k largest (the last ones of a tie), 0 elsewhere."""
        xp = namespace(x)
        rank = ranks(xp.reshape(xp.abs(x), (-1,)))
        top = xp.astype(rank >= rank.shape[0] - self.k, x.dtype)
        return self.lam * xp.reshape(top, x.shape) * xp.sign(x)

    def steepest(self, x: Array, down: Down) -> Array:
        """As `subgrad`; of entries tied for the k-th place those with the largest sᵢuᵢ, and wᵢ = λsᵢ, u = down().

        sᵢ = sign(xᵢ), or sign(uᵢ) where xᵢ = 0. To be among the k adds 2λsᵢuᵢ − λ² to the squared distance of an entry
        that is not 0, and uᵢ² − (|uᵢ| − λ)₊², which grows with |uᵢ| = sᵢuᵢ, to that of a zero.
        """
        xp, size = namespace(x), math.prod(x.shape)
        k = min(self.k, size)
        if k == 0:
            return nothing(x)
        a = xp.reshape(xp.abs(x), (-1,))
        least = xp.sort(a)[size - k]
        top = a >= least
        sign = xp.sign(x)
        if bool(least == 0.0) or int(xp.count_nonzero(top)) != k:
            u = down()
            sign = xp.where(x == 0.0, xp.sign(u), sign)
            above = a > least
            gain = xp.where(top & ~above, xp.reshape(sign * u, (-1,)), -math.inf)
            best = ranks(gain) >= size - (k - int(xp.count_nonzero(above)))
            top = top & (above | best)
        return self.lam * xp.reshape(xp.astype(top, x.dtype), x.shape) * sign
