"""PAGE, the estimator of DCA-PAGE (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..draw import Draw, Sampling
from ..errors import NeedsFiniteSum, require_number
from ..sums import Sum
from ..theory import formulas
from ..xp import Array
from .base import Estimate, OnlyG, check_batch, check_sampling, cost_of, distinct


@dataclass(frozen=True)
class PAGE:
    """g_t = ∇f_I(x_t) with probability p, else g_{t−1} + ∇f_I'(x_t) − ∇f_I'(x_{t−1}), |I| = b, |I'| = b'."""

    p: float
    b_small: int
    b: int | None = None  # None: all components (the finite-sum setting). A number: the online setting.
    sampling: Sampling = "iid"

    def __post_init__(self) -> None:
        require_number("p", self.p, 0.0, 1.0, open_low=True)
        check_batch("b_small", self.b_small, None)
        if self.b is not None:
            check_batch("b", self.b, None)
        check_sampling(self.sampling, importance=True)

    def check(self, n: int | None) -> None:
        if self.b is not None:
            check_batch("b", self.b, n)
        elif n is None:
            raise NeedsFiniteSum("PAGE with b=None (all components)")
        check_batch("b_small", self.b_small, n)

    def spread(self, n: int) -> float:
        """√((1−p)/(p b')): corrections add up, for 1/p steps on average"""
        return distinct(self.sampling, self.b_small, n) * formulas.spread(self.p, self.b_small)

    def refresh(self, draw: Draw) -> bool:
        return draw.coin() < self.p

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        batch = f.all() if self.b is None else f.sample(self.b, draw, self.sampling)
        g = batch.grad(x)
        return Estimate(g, OnlyG(g), cost_of(batch))

    def step(self, f: Sum, x: Array, prev: Array, memory: OnlyG, draw: Draw) -> Estimate:
        if self.refresh(draw):
            return self.start(f, x, draw)
        batch = f.sample(self.b_small, draw, self.sampling)
        g = memory.g + batch.diff(x, prev)
        return Estimate(g, OnlyG(g), cost_of(batch, points=2))
