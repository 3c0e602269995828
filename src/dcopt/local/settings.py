"""The settings of the local method."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..draw import Draw
from ..errors import CannotSolve
from ..problem import Problem
from ..regularizers import Except
from ..state import State
from ..subproblems.parts import is_sum_over_entries, separable
from ..sums import Cost, Sum
from .epochs import EpochRule
from .policy import Accuracy, Descent, Escape, Ridge, WorkingSet


@dataclass(frozen=True)
class Samples:
    """f_t = (1/n_t) Σ_{i: u_i < s_t} f_i,   u_i uniform, one for each row and run;   s_t = 1/16, 1/4, 1/2, then 1

    Each sample holds the one before, so that little of what was learnt is lost. Which rows a step sees is a function of
    (seed, t) alone. `steps` are those on each share; samples with fewer than `rows` rows for each unknown are left out,
    as what they choose among the columns is chance.
    """

    shares: tuple[float, ...] = (1 / 16, 1 / 4, 1 / 2)
    steps: tuple[int, ...] = (3, 2, 2)
    rows: float = 2.0

    def share(self, t: int, f: Sum) -> float:
        """s_t"""
        for share, steps in zip(self.shares, self.steps, strict=True):
            if share * (f.n or 0) < self.rows * math.prod(f.shape):
                continue
            if t < steps:
                return share
            t -= steps
        return 1.0

    def length(self, f: Sum) -> int:
        """The number of steps on samples"""
        return next(t for t in range(sum(self.steps) + 1) if self.share(t, f) >= 1.0)

    def sum(self, f: Sum, draw: Draw) -> Sum:
        """f_t, the same object for all steps that see the same rows."""
        share, rows = self.share(draw.t, f), f.facts().rows
        return f if share >= 1.0 or rows is None else rows.part(draw.seed, share)


ALL = Samples((), ())  # every step sees all rows


NEEDS_ROWS = "it needs f as a sum over rows of data (dcopt.erm)"


@dataclass(frozen=True)
class Local:
    """x⁺ = argmin_v τ/2 ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨w − ∇f(x), v⟩,   Q = (1/N) Σ w_i |φ''(⟨a_i, x⟩)| a_i a_iᵀ + μR

    It is the DCA step of F = G_x − H_x + r1 − r2 with G_x = τ/2 ⟨·, Q ·⟩, where τ = 1, 3, 9, … is the first with

        F(x⁺) ≤ F(x) − σ/2 τ ⟨x⁺ − x, Q (x⁺ − x)⟩,

    which holds for every τ that makes G_x majorize f along the step, so that the search ends. Before τ = 1 the
    curvature of F itself is tried in the place of Q, as far as that is positive definite: near the end Newton's step.
    Every look at F is a pass, and gives the next gradient too.
    """

    samples: Samples = ALL
    epochs: EpochRule | None = None  # small steps of an estimator that are tried first
    escape: Escape | None = None  # leaps to lower critical points of the model that are tried first
    leaps_only: bool = False  # A step tries leaps wherever x is, and nothing else: it comes after a critical point.
    descent: Descent = Descent()
    accuracy: Accuracy = Accuracy()
    ridge: Ridge = Ridge()
    working_set: WorkingSet = WorkingSet()

    def check(self, P: Problem, name: str = "dca-local", instead: str = "dca") -> Problem:
        """P itself; refuses a sum without a model of its curvature, and a penalty that is not separable."""
        if P.f is None or not P.f.facts().has_model:
            raise CannotSolve(name, NEEDS_ROWS, instead)
        if not separable(P.r):
            own = type(P.r.of if isinstance(P.r, Except) else P.r).__name__
            raise CannotSolve(name, f"r = {own} is not separable by coefficient or by row", instead)
        return P

    def can_search(self, P: Problem) -> bool:
        """Whether there may be a lower critical point that leaps find: r is a sum over entries, and r2 is not 0."""
        return P.r.L2 != 0.0 and is_sum_over_entries(P.r, P.shape)

    def begin(self, P: Problem, state: State) -> State:
        """The first state with what its first step asks of it: one pass, if that step sees all rows."""
        if state.memory is not None or self.samples.share(state.t, P.sum) < 1.0:
            return state
        look = P.sum.look(state.x)
        n = P.n or 0
        return state._replace(x=look.x, memory=look, spent=state.spent.plus(Cost(n, n)))
