"""SVRG whose snapshot has the gradient of a large batch in place of all N: what DCA-SVRG can be on a stream."""

from __future__ import annotations

from dataclasses import dataclass

from ..draw import Draw
from ..errors import require_count
from ..estimators.base import Estimate, check_batch, cost_of
from ..estimators.svrg import Anchor
from ..sums import Sum
from ..xp import Array


@dataclass(frozen=True)
class BatchSVRG:
    """g_t = ∇f_J(x̃) + ∇f_I(x_t) − ∇f_I(x̃), |J| = b, |I| = b', a new snapshot x̃ = x_t and J every `period` steps."""

    b: int
    b_small: int
    period: int

    def __post_init__(self) -> None:
        check_batch("b", self.b, None)
        check_batch("b_small", self.b_small, None)
        require_count("period", self.period)

    def check(self, n: int | None) -> None:
        check_batch("b", self.b, n)
        check_batch("b_small", self.b_small, n)

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        batch = f.sample(self.b, draw)
        v = batch.grad(x)
        return Estimate(v, Anchor(x, v), cost_of(batch))

    def step(self, f: Sum, x: Array, prev: Array, memory: Anchor, draw: Draw) -> Estimate:
        if draw.t % self.period == 0:
            return self.start(f, x, draw)
        batch = f.sample(self.b_small, draw)
        return Estimate(memory.v + batch.diff(x, memory.x), memory, cost_of(batch, points=2))
