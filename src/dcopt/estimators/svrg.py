"""SVRG with a loop of fixed length, the estimator of DCA-SVRG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..draw import Draw, Sampling
from ..errors import require_count
from ..sums import Sum
from ..xp import Array
from .base import Estimate, check_batch, check_sampling, cost_of, distinct, needs_finite_sum


class Anchor(NamedTuple):
    """The snapshot and its full gradient."""

    x: Array
    v: Array


@dataclass(frozen=True)
class SVRG:
    """g_t = ∇f(x̃) + ∇f_I(x_t) − ∇f_I(x̃), with a new snapshot x̃ = x_t every `period` steps."""

    b_small: int
    period: int = 1
    sampling: Sampling = "iid"

    def __post_init__(self) -> None:
        check_batch("b_small", self.b_small, None)
        require_count("period", self.period)
        check_sampling(self.sampling, importance=True)

    def check(self, n: int | None) -> None:
        needs_finite_sum(self, n)
        check_batch("b_small", self.b_small, n)

    def spread(self, n: int) -> float:
        """√(M(M−1)/(2b)): ‖x_t − x̃‖² ≤ k Σ ‖x_{j+1} − x_j‖² over the k < M steps since the snapshot, summed over t"""
        own = distinct(self.sampling, self.b_small, n)
        return own * math.sqrt(self.period * (self.period - 1) / (2.0 * self.b_small))

    def refresh(self, draw: Draw) -> bool:
        return draw.t % self.period == 0

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        batch = f.all()
        v = batch.grad(x)
        return Estimate(v, Anchor(x, v), cost_of(batch))

    def step(self, f: Sum, x: Array, prev: Array, memory: Anchor, draw: Draw) -> Estimate:
        if self.refresh(draw):
            return self.start(f, x, draw)
        batch = f.sample(self.b_small, draw, self.sampling)
        return Estimate(memory.v + batch.diff(x, memory.x), memory, cost_of(batch, points=2))
