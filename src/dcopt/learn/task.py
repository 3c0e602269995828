"""A problem to be fitted: rows, labels and a loss, for any penalty and either decomposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..constants import majorizing_kappa
from ..convex import ScaledIdentity, majorizing_gram
from ..data import check
from ..data.intercept import WithIntercept
from ..data.rows import RowMatrix
from ..losses import Loss
from ..problem import Problem
from ..regularizers import Except, Regularizer, Zero
from ..solve import solve
from ..state import Result, State
from ..status import Status
from ..sums import LinearSum
from .choice import Choice

_NO_PENALTY = Zero()
_MORE = (Status.BUDGET, Status.STALLED, Status.SUBPROBLEM, Status.DIVERGED)  # then another method may get further
_SHARE = 0.25  # of the passes that are left, for a method after which there is another


@dataclass(eq=False)
class Task:
    """F(x) = (1/Σw) Σ w_i φ(⟨a_i, x⟩ + b, label_i) + r(x); labels are coded as the loss wants them."""

    rows: RowMatrix
    labels: NDArray[Any]
    weights: NDArray[Any] | None
    loss: Loss
    width: tuple[int, ...] = ()
    intercept: bool = True
    made: dict[str, Problem] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.rows.shape[0]

    @property
    def d(self) -> int:
        return self.rows.shape[1]

    @property
    def total(self) -> float:
        """The number of observations: the sum of the weights, which count repetitions."""
        return float(self.n if self.weights is None else np.sum(self.weights))

    def problem(self, r: Regularizer, decomposition: str = "scalar") -> Problem:
        """The sum and G are made once, whatever penalties follow."""
        own = Except(r) if self.intercept else r
        if decomposition not in self.made:
            f = self._sum()
            if decomposition == "gram":
                G = majorizing_gram(f)
                self.made[decomposition] = Problem(G, r=own, f=f, inner_tol=max(1e-10, G.least))
            else:
                self.made[decomposition] = Problem(ScaledIdentity(majorizing_kappa(f)), r=own, f=f, tunable=True)
        return replace(self.made[decomposition], r=own)

    def _sum(self) -> LinearSum:
        for made in self.made.values():
            assert isinstance(made.f, LinearSum)
            return made.f
        rows: Any = WithIntercept(self.rows) if self.intercept else self.rows
        weights = check.sample_weights(self.weights, self.n, self.rows.dtype)
        return LinearSum(rows, self.loss, self.labels, weights, self.width)

    def take(self, rows: NDArray[np.int64]) -> Task:
        """The same task on some of its rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Task(self.rows.take(rows), self.labels[rows], weights, self.loss, self.width, self.intercept)

    def mean_loss(self, x: NDArray[Any]) -> float:
        """(1/Σw) Σ w_i φ, in float64"""
        value, _ = self.problem(_NO_PENALTY).known.all().value_grad(np.asarray(x, np.float64))
        return value


class Budget(NamedTuple):
    """What `tol`, `measure`, `max_passes`, … of an estimator say."""

    tol: float
    measure: Any
    passes: float
    seconds: float | None
    seed: int
    callbacks: Sequence[Callable[[State], Any]] = ()


class Done(NamedTuple):
    """How it ended: the result of the last run, and what all runs spent."""

    x: NDArray[Any]
    result: Result
    choice: Choice
    passes: float
    steps: int


def run(task: Task, r: Regularizer, x0: NDArray[Any], ways: list[Choice], budget: Budget) -> Done:
    """One way after the other, each from where the last one ended, until a certificate or the end of the budget."""
    passes, steps, seconds = 0.0, 0, 0.0
    for i, way in enumerate(ways):
        left = None if budget.seconds is None else max(0.0, budget.seconds - seconds)
        most = max(0.0, budget.passes - passes) * (1.0 if i + 1 == len(ways) else _SHARE)
        P = task.problem(r, way.decomposition)
        # coordinate descent never raises the model, so that a share of tol is enough: equal columns need no more
        P = replace(P, inner_tol=max(P.inner_tol, 1e-4 * budget.tol)) if way.decomposition == "gram" else P
        result = solve(
            P, way.method, tol=budget.tol, measure=budget.measure, passes=most,
            steps=_steps(way, most), seconds=left, seed=budget.seed, x0=x0, callbacks=list(budget.callbacks), trace=5.0,
        )  # fmt: skip
        passes += result.spent.gradients / task.n
        steps += result.steps
        seconds += result.seconds
        last = i + 1 == len(ways) or result.status not in _MORE or passes >= budget.passes
        if last:
            break
        x0 = result.x
    if result.error is not None:
        raise result.error  # of a callback: its author wants to see it
    return Done(result.x, result, way, passes, steps)


def _steps(way: Choice, passes: float) -> int | None:
    """A step from a point that is critical already costs "dca-local" nothing: it could be repeated without end."""
    return int(passes) + 10 if way.method == "dca-local" else None
