"""PAGE, the estimator of DCA-PAGE (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..draw import Draw, Sampling
from ..errors import NeedsFiniteSum, require, require_number
from ..sums import Sum
from ..theory import formulas
from ..xp import Array
from .base import Estimate, OnlyG, check_batch, check_sampling, cost_of, distinct


@dataclass(frozen=True)
class PAGE:
    """g_t = ∇f_I(x_t) with probability p_t, else g_{t−1} + ∇f_I'(x_t) − ∇f_I'(x_{t−1}), |I| = b, |I'| = b' < b.

    p is one probability, or the sequence (p_1, p_2, …), the last of which goes on. b' may be N where b is all N.
    """

    p: float | tuple[float, ...]
    b_small: int
    b: int | None = None  # None: all components (the finite-sum setting). A number: the online setting.
    sampling: Sampling = "iid"

    def __post_init__(self) -> None:
        if isinstance(self.p, tuple | list | np.ndarray):
            object.__setattr__(self, "p", probabilities(self.p))
        else:
            require_number("p", self.p, 0.0, 1.0, open_low=True)
        check_batch("b_small", self.b_small, None)
        if self.b is not None:
            check_batch("b", self.b, None)
            less = self.b_small < self.b or not self.corrects
            require(less, "b_small", self.b_small, f"less than b = {self.b}, or p = 1: corrections are the small steps")
        check_sampling(self.sampling, importance=True)

    def check(self, n: int | None) -> None:
        if self.b is not None:
            check_batch("b", self.b, n)
        elif n is None:
            raise NeedsFiniteSum("PAGE with b=None (all components)")
        check_batch("b_small", self.b_small, n)

    def spread(self, n: int) -> float:
        """√((1−p)/(p b')): corrections add up, for 1/p steps on average; of a sequence, the most that a step adds to"""
        return distinct(self.sampling, self.b_small, n) * formulas.spread(self.p, self.b_small)

    @property
    def corrects(self) -> bool:
        """Whether there are steps that correct the last estimate."""
        return min(self.p) < 1.0 if isinstance(self.p, tuple) else self.p < 1.0

    def chance(self, t: int) -> float:
        """p_t, t ≥ 1"""
        return self.p[min(t, len(self.p)) - 1] if isinstance(self.p, tuple) else self.p

    def refresh(self, draw: Draw) -> bool:
        return draw.coin() < self.chance(draw.t)

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


def probabilities(p: Any) -> tuple[float, ...]:
    """(p_1, p_2, …): numbers in [0, 1], the last above 0, since it goes on"""
    require(len(p) > 0, "p", p, "a probability, or a sequence of at least one")
    for k, value in enumerate(p):
        require_number(f"p[{k}]", value, 0.0, 1.0, open_low=k + 1 == len(p))
    return tuple(map(float, p))
