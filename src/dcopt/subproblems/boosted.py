"""The line search of BDCA behind any sub-solver."""

from __future__ import annotations

from dataclasses import dataclass

from ..convex import Convex
from ..problem import Problem
from ..regularizers import Regularizer
from ..sums import Cost
from ..xp import Array
from .base import Inner, Subsolver, norm


@dataclass(frozen=True, eq=False)
class Boosted:
    """x⁺ = z + α d,   z the DCA step from x, d = z − x:   F(z + α d) ≤ F(z) − σ α² ‖d‖², else α = 0.

    α is tried from `alpha` down by `shrink`. With a nonsmooth r1, d may be no descent direction at z: then every trial
    fails and the DCA step stays. Every evaluation of F counts as a pass over the components.
    """

    P: Problem
    solver: Subsolver
    alpha: float = 1.0
    shrink: float = 0.1
    sigma: float = 1e-3
    trials: int = 3

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        step = self.solver(G, r, y, warm=warm, tol=tol)
        z, looks = step.x, 1
        d, alpha = z - warm, self.alpha
        length2 = norm(d) ** 2
        bound = self.P.examine(z).F  # The points come from the run and need no check.
        if length2 > 0.0:
            for _ in range(self.trials):
                trial = z + alpha * d
                looks += 1
                if self.P.examine(trial).F <= bound - self.sigma * alpha * alpha * length2:
                    return step._replace(x=trial, residual=None, cost=self._paid(step, looks))
                alpha *= self.shrink
        return step._replace(cost=self._paid(step, looks))

    def _paid(self, step: Inner, looks: int) -> Cost:
        more = looks * (self.P.n or 0)
        return step.cost.plus(Cost(more, more))
