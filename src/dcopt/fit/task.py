"""The task of a fit: rows, labels and a loss, for any penalty and either decomposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..convex import majorizing_gram
from ..data import check
from ..data.intercept import WithIntercept
from ..data.rows import RowMatrix
from ..losses import Loss
from ..measures import null_point, scale
from ..problem import Problem
from ..regularizers import Except, Regularizer, Zero
from ..runs.stop import Settle
from ..runs.trace import Record
from ..solve import solve
from ..state import Result, State
from ..status import Status
from ..sums import LinearSum, SumOverRows
from .solver_choice import SEARCHES, Choice
from .standard import Columns, Scaling

_NO_PENALTY = Zero()
# After one of these statuses another method may make progress.
_MORE = (Status.BUDGET, Status.STALLED, Status.SUBPROBLEM, Status.DIVERGED)
_SHARE = 0.5  # The share of the remaining passes for a method that another may follow.


@dataclass(eq=False)
class Task:
    """F(x) = (1/Σw) Σ w_i φ(⟨a_i, x⟩ + b, label_i) + r(x); labels are coded for the loss."""

    rows: RowMatrix
    labels: NDArray[Any]
    weights: NDArray[Any] | None
    loss: Loss
    width: tuple[int, ...] = ()
    intercept: bool = True
    counts: NDArray[Any] | None = None  # Repetitions: the weights without those of the classes.
    columns: Columns | None = None  # The statistics of the original rows,
    given: RowMatrix | None = None  # the original rows,
    scaling: Scaling | None = None  # and the scaling from these to `rows`.
    problems: dict[str, Problem] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return self.rows.shape[0]

    @property
    def d(self) -> int:
        return self.rows.shape[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the coefficients, without intercepts"""
        return self.d, *self.width

    @property
    def total(self) -> float:
        """The number of observations: the sum of the weights that count repetitions."""
        return float(self.n if self.counts is None else np.sum(self.counts))

    def problem(self, r: Regularizer, decomposition: str = "scalar") -> Problem:
        """The problem with the penalty r. The sum and G are made once for all penalties."""
        own = Except(r) if self.intercept else r
        if decomposition not in self.problems:
            f = self.sum()
            if decomposition == "gram":
                G = majorizing_gram(f)
                self.problems[decomposition] = Problem(G, r=own, f=f, inner_tol=G.resolution)
            else:
                self.problems[decomposition] = Problem(r=own, f=f)
        return replace(self.problems[decomposition], r=own)

    def scale(self, r: Regularizer, measure: str) -> float:
        """The size to which a relative tolerance refers: the measure at the null point, for any λ of the penalty."""
        if measure not in self.scales:
            P = self.problem(r)
            self.scales[measure] = scale(P, measure, null_point(P))
        return self.scales[measure]

    @property
    def fold_codes(self) -> NDArray[Any] | None:
        """The classes, of which every fold gets its share; None for numbers"""
        return None if self.loss.labels == "real" else self.labels

    def sum(self) -> SumOverRows:
        """f; it is made once for all penalties."""
        for P in self.problems.values():
            rows = P.sum.facts().rows
            assert rows is not None  # `problem` made it.
            return rows
        a: Any = WithIntercept(self.rows) if self.intercept else self.rows
        weights = check.sample_weights(self.weights, self.n, self.rows.dtype)
        return LinearSum(a, self.loss, self.labels, weights, self.width)

    def take(self, rows: NDArray[np.int64]) -> Task:
        """The same task on some of its rows."""
        weights, counts = (None if w is None else w[rows] for w in (self.weights, self.counts))
        return replace(
            self, rows=self.rows.take(rows), labels=self.labels[rows], weights=weights, counts=counts, columns=None,
            given=None, problems={}, scales={},
        )  # fmt: skip

    def dealt(self, folds: int, seed: int) -> NDArray[np.int64] | None:
        """The fold of every unit that `take` takes, where these are no rows"""
        return None

    def in_units(self, x: NDArray[Any]) -> NDArray[Any]:
        """A solution in the units of the original data."""
        return x if self.scaling is None else self.scaling.fold(x)

    def scaled(self, x: NDArray[Any]) -> NDArray[Any]:
        """The reverse of `in_units`."""
        return x if self.scaling is None else self.scaling.unfold(x)

    def limits(self, bounds: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
        """Bounds in the units of the original data as bounds on a solution."""
        return bounds if bounds is None or self.scaling is None else self.scaling.bounds(bounds)

    def accuracy(self, x: NDArray[Any]) -> float:
        """The share of rows whose class has the largest score."""
        z = self.rows.dot(np.ascontiguousarray(x[: self.d])) + (x[-1] if self.intercept else 0.0)
        right = np.argmax(z, axis=1) == self.labels if self.width else (z > 0.0) == (self.labels > 0.0)
        return float(np.average(right, weights=self.counts))

    def mean_loss(self, x: NDArray[Any]) -> float:
        """(1/Σw) Σ w_i φ, in float64"""
        value, _ = self.problem(_NO_PENALTY).evaluation_sum.all().value_grad(np.asarray(x, np.float64))
        return value


class Budget(NamedTuple):
    """The budget that `tol`, `measure`, `max_passes`, … of an estimator define."""

    tol: float
    measure: Any
    passes: float
    seconds: float | None
    seed: int
    callbacks: Sequence[Callable[[State], Any]] = ()
    search: bool = False


class Progress(NamedTuple):
    """The progress of a fit between two runs: their cost, their trace, and the start of the next run."""

    x0: NDArray[Any]
    way: int = 0
    passes: float = 0.0
    steps: int = 0
    seconds: float = 0.0
    records: tuple[Record, ...] = ()

    def after(self, result: Result, n: int) -> Progress:
        """The progress after one more run, counted from the beginning of the first."""
        records = [
            r._replace(t=r.t + self.steps, passes=r.passes + self.passes, seconds=r.seconds + self.seconds)
            for r in result.trace
        ]
        return Progress(
            result.x,
            self.way + 1,
            self.passes + result.spent.gradients / n,
            self.steps + result.steps,
            self.seconds + result.seconds,
            (*self.records, *records),
        )


class Done(NamedTuple):
    """The end of a fit: the result of the last run, and the cost and trace of all runs."""

    x: NDArray[Any]
    result: Result
    choice: Choice
    seen: Progress
    ctrl_c: bool = False  # The user ended the run, and no callback did.
    loss: float | None = None  # The mean loss at x, where the run has told it.


def begin(budget: Budget, way: Choice) -> dict[str, Any]:
    """The settings of a run, which its checkpoint keeps."""
    search = True if budget.search and way.method in SEARCHES else None
    return {"measure": budget.measure, "seed": budget.seed, "stop": Settle(), "search": search}


One = Callable[[Problem, Choice, Progress, dict[str, Any]], Result]


def run(
    task: Task, r: Regularizer, at: Progress, ways: Sequence[Choice], budget: Budget, one: One | None = None
) -> Done:
    """Run the choices in order, each from the end of the last, until a certificate or the end of the budget.

    `one` makes a single run with its share of the budget; by default it is `solve`.
    """
    size = task.scale(r, budget.measure)
    callbacks = [Noted(callback) for callback in budget.callbacks]
    for i in range(at.way, len(ways)):
        way, last = ways[i], i + 1 == len(ways)
        P = task.problem(r, way.decomposition)
        # Coordinate descent never raises the model, so that a share of tol suffices, also for equal columns.
        P = replace(P, inner_tol=max(P.inner_tol, 1e-4 * budget.tol * size)) if way.decomposition == "gram" else P
        share: dict[str, Any] = {
            "tol": budget.tol,
            "scale": size,
            "passes": max(0.0, budget.passes - at.passes) * (1.0 if last else _SHARE),
            "seconds": None if budget.seconds is None else max(0.0, budget.seconds - at.seconds),
            "callbacks": callbacks,
        }
        if one is None:
            result = solve(P, way.method, x0=at.x0, trace=5.0, **begin(budget, way), **share)
        else:
            result = one(P, way, at, share)
        at = at.after(result, task.n)
        if last or result.status not in _MORE or at.passes >= budget.passes:
            break
    if result.error is not None:
        raise result.error  # An error of a callback is raised unchanged.
    ctrl_c = result.status is Status.INTERRUPTED and not any(callback.ended for callback in callbacks)
    return Done(result.x, result, way, at, ctrl_c)


class Noted:
    """A callback, with a note whether it has ended the run."""

    def __init__(self, callback: Callable[[State], Any]) -> None:
        self.callback, self.ended = callback, False

    def __call__(self, state: State) -> bool:
        self.ended = bool(self.callback(state))
        return self.ended
