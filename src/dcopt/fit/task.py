"""A problem to be fitted: rows, labels and a loss, for any penalty and either decomposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..convex import ScaledIdentity, majorizing_gram
from ..data import check
from ..data.intercept import WithIntercept
from ..data.rows import RowMatrix
from ..losses import Loss
from ..measures.scale import null_point, scale
from ..problem import Problem
from ..regularizers import Except, Regularizer, Zero
from ..runs.stop import Settle
from ..runs.trace import Record
from ..solve import solve
from ..state import Result, State
from ..status import Status
from ..sums import LinearSum
from ..sums.constants import majorizing_kappa
from .solver_choice import SEARCHES, Choice
from .standard import Columns, Scaling

_NO_PENALTY = Zero()
_MORE = (Status.BUDGET, Status.STALLED, Status.SUBPROBLEM, Status.DIVERGED)  # then another method may get further
_SHARE = 0.5  # of the passes that are left, for a method after which there is another


@dataclass(eq=False)
class Task:
    """F(x) = (1/Σw) Σ w_i φ(⟨a_i, x⟩ + b, label_i) + r(x); labels are coded as the loss wants them."""

    rows: RowMatrix
    labels: NDArray[Any]
    weights: NDArray[Any] | None
    loss: Loss
    width: tuple[int, ...] = ()
    intercept: bool = True
    counts: NDArray[Any] | None = None  # repetitions: the weights without those of the classes
    columns: Columns | None = None  # of the rows as they were given,
    given: RowMatrix | None = None  # the rows as they were given,
    scaling: Scaling | None = None  # and how `rows` come from them
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
        """That of the coefficients, without intercepts"""
        return self.d, *self.width

    @property
    def total(self) -> float:
        """The number of observations: the sum of the weights that count repetitions."""
        return float(self.n if self.counts is None else np.sum(self.counts))

    def problem(self, r: Regularizer, decomposition: str = "scalar") -> Problem:
        """The sum and G are made once, whatever penalties follow."""
        own = Except(r) if self.intercept else r
        if decomposition not in self.problems:
            f = self._sum()
            if decomposition == "gram":
                G = majorizing_gram(f)
                self.problems[decomposition] = Problem(G, r=own, f=f, inner_tol=G.resolution)
            else:
                self.problems[decomposition] = Problem(ScaledIdentity(majorizing_kappa(f)), r=own, f=f, tunable=True)
        return replace(self.problems[decomposition], r=own)

    def scale(self, r: Regularizer, measure: str) -> float:
        """The size that a relative tolerance is a share of: that of the null point, whatever the penalty's λ."""
        if measure not in self.scales:
            P = self.problem(r)
            self.scales[measure] = scale(P, measure, null_point(P))
        return self.scales[measure]

    def _sum(self) -> LinearSum:
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
        part = Task(self.rows.take(rows), self.labels[rows], weights, self.loss, self.width, self.intercept, counts)
        part.scaling = self.scaling
        return part

    def in_units(self, x: NDArray[Any]) -> NDArray[Any]:
        """A solution in the units of the data as they were given."""
        return x if self.scaling is None else self.scaling.fold(x)

    def scaled(self, x: NDArray[Any]) -> NDArray[Any]:
        """The reverse of `in_units`."""
        return x if self.scaling is None else self.scaling.unfold(x)

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
    """What `tol`, `measure`, `max_passes`, … of an estimator say."""

    tol: float
    measure: Any
    passes: float
    seconds: float | None
    seed: int
    callbacks: Sequence[Callable[[State], Any]] = ()
    search: bool = False


class Progress(NamedTuple):
    """Where a fit is between two of its ways: what they spent, what they saw, and where the next one starts."""

    x0: NDArray[Any]
    way: int = 0
    passes: float = 0.0
    steps: int = 0
    seconds: float = 0.0
    records: tuple[Record, ...] = ()

    def after(self, result: Result, n: int) -> Progress:
        """With one more way behind it, counted from the beginning of the first."""
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
    """How it ended: the result of the last run, and what all runs spent and saw."""

    x: NDArray[Any]
    result: Result
    choice: Choice
    seen: Progress
    ctrl_c: bool = False  # the user ended it, and no callback did


def begin(budget: Budget, way: Choice) -> dict[str, Any]:
    """What a run is told once, and its checkpoint keeps."""
    search = True if budget.search and way.method in SEARCHES else None
    return {"measure": budget.measure, "seed": budget.seed, "stop": Settle(), "search": search}


One = Callable[[Problem, Choice, Progress, dict[str, Any]], Result]


def run(
    task: Task, r: Regularizer, at: Progress, ways: Sequence[Choice], budget: Budget, one: One | None = None
) -> Done:
    """One way after the other, each from where the last one ended, until a certificate or the end of the budget.

    `one` runs a single way with its share of the budget; by default that is `solve`.
    """
    size = task.scale(r, budget.measure)
    callbacks = [_Noted(callback) for callback in budget.callbacks]
    for i in range(at.way, len(ways)):
        way, last = ways[i], i + 1 == len(ways)
        P = task.problem(r, way.decomposition)
        # coordinate descent never raises the model, so that a share of tol is enough: equal columns need no more
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
        raise result.error  # of a callback: its author wants to see it
    ctrl_c = result.status is Status.INTERRUPTED and not any(callback.ended for callback in callbacks)
    return Done(result.x, result, way, at, ctrl_c)


class _Noted:
    """A callback, and whether it has asked for the end of the run."""

    def __init__(self, callback: Callable[[State], Any]) -> None:
        self.callback, self.ended = callback, False

    def __call__(self, state: State) -> bool:
        self.ended = bool(self.callback(state))
        return self.ended
