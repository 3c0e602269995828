"""Epochs of an estimator's small steps in the metric of the curvature of f: F, looked at where one ends, decides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex
from ..draw import Draw
from ..estimators import Estimator, Full
from ..loop import dca
from ..problem import Problem
from ..regularizers import Regularizer
from ..state import State
from ..subproblems.base import Inner, nowhere
from ..subproblems.parts import Parts, parts
from ..subproblems.quadratic import distances
from ..sums import FREE, AnchoredSum, Cost
from ..xp import Array, finite
from .candidates import Candidate
from .models import DenseModel
from .place import Place
from .program import Program

if TYPE_CHECKING:
    from .settings import Local

TAUS = 3.0, 9.0  # metrics of epochs, in units of Q: > ½ + sℓ for batches that are large enough
_STEPS = 256  # of an epoch, at most: a program costs more than a small batch


@dataclass(frozen=True)
class EpochRule:
    """x_{k+1} = argmin_v τ/2 ⟨v − x_k, Q (v − x_k)⟩ + r1(v) − ⟨w_k − g_k, v⟩,   g_k ≈ ∇f(x_k), x_0 = x

    Algorithm 1 in the metric Q = Q_x of the point x where it begins, until a pass of component gradients is spent. An
    estimator that starts with all components has them from the look at x. Nothing is promised of x_m: F is looked at
    there. Draws are a function of (seed, t) of the step.
    """

    estimator: Estimator
    near: float = 0.01  # relative distance below which there are none: Newton's method squares what is left

    def may_begin(self, here: Place) -> bool:
        """Not near the end, nor where one step solves the problem."""
        return here.relative_distance >= self.near and not here.is_quadratic

    def ends(self, program: Program, Q: DenseModel, how: Local, draw: Draw) -> Iterator[Candidate]:
        """The steps to the ends of epochs. F has to fall by the largest of these, and by what rounding may hide:

        - σ/2 τ/m ‖x_m − x‖²_Q: m steps with a fall of σ/2 τ‖·‖²_Q each come to this at least;
        - a share of the fall that the step of Q promises. Otherwise a run might make small steps only.
        """
        here = program.here
        parts_of_r = parts(here.P.r, here.look.x.shape)
        own = Q.quad(Q.minimize(program.x, program.u, program.r1, program.tol) - program.x) / TAUS[-1]
        for k, tau in enumerate(TAUS):
            metric = FrozenMetric(Q.scaled(tau), program.columns, how.accuracy.share, here.P.r, parts_of_r)
            end, steps, cost = self._epoch(here, metric, draw.inner(k))
            step = (np.asarray(end, np.float64).reshape(here.x.shape) - here.x)[program.columns]
            fall = max(tau / steps * Q.quad(step), own) if np.all(np.isfinite(step)) else np.inf
            yield Candidate(step, 0.5 * how.descent.sigma * fall + 2.0 * here.rounding, cost)

    def _epoch(self, here: Place, metric: FrozenMetric, seed: int) -> tuple[Array, int, Cost]:
        """Where it ends, after how many steps, and what they cost"""
        rows = here.f.facts().rows
        assert rows is not None  # `method._epochs` has asked.
        known = AnchoredSum(rows, here.look)
        begin = State(0, here.look.x, None, None, FREE)
        cost, state = FREE, begin
        for state in islice(dca(replace(here.P, f=known), self.estimator, metric, begin, seed), _STEPS):
            cost = Cost(state.spent.gradients - known.served, state.spent.paper - known.served)
            if cost.gradients >= rows.n or not finite(state.x):
                break
        return state.x, state.t, cost


@dataclass(frozen=True, eq=False)
class FrozenMetric:
    """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨y − ∇G(x), v⟩ over some rows of x, the others as they are

    G cancels: y − ∇G(x) = w − g, whatever G is. It is solved to a share of the distance at x, and not certified: F is
    looked at where the epoch ends.
    """

    Q: DenseModel
    columns: NDArray[np.int64]
    share: float
    r: Regularizer  # r1, where it is the same in every step,
    p: Parts  # and its parts

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        p = self.p if r is self.r else parts(r, warm.shape)
        some = self.columns
        x: NDArray[Any] = np.array(warm, np.float64).reshape(p.c.shape)
        u = np.asarray(y - G.grad(warm), np.float64).reshape(x.shape)[some]
        few, begin = p.at(some), x[some]
        if not finite(u, begin):
            return nowhere(warm)
        off = distances(u, begin, few)
        v = self.Q.minimize(begin, u, few, self.share * float(np.linalg.norm(off)))
        x[some] = np.clip(v, few.low, few.high)  # Rounding must not cross a bound.
        return Inner(x.reshape(warm.shape).astype(warm.dtype, copy=False), None, 1)


def enough(P: Problem) -> int:
    """⌈√(Nd/2)⌉ rows: s ℓ ≤ 1 for the N/2b′ corrections of an epoch of PAGE's, if ℓ² is not above d by much."""
    assert P.n is not None
    return math.ceil(math.sqrt(P.n * math.prod(P.shape) / 2.0))


def wide(estimator: Any, b: int, n: int) -> Estimator:
    """The estimator with batches of at least b rows; the full gradient where a few of these are all rows."""
    if isinstance(estimator, Full):
        return estimator
    size = "b_small" if "b_small" in estimator.__dataclass_fields__ else "b"
    if 4 * max(b, getattr(estimator, size)) > n:
        return Full()
    made: Estimator = replace(estimator, **{size: max(b, getattr(estimator, size))})
    return made
