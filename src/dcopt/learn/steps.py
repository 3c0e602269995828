"""A fit in steps that can be watched, kept and continued: λ first, then run after run, then the attributes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, require_count
from ..problem import Problem
from ..regularizers import Regularizer
from ..resume import resume
from ..solve import solve
from ..state import Result
from ..store.atomic import previous
from .choice import Choice, choices
from .cv import chosen
from .null import null_model
from .path import PathResult, follow, grid, summary
from .penalties import with_lam
from .task import Budget, Done, Progress, Task, begin, run

FOLD_RULES = ("best", "1se")
CRITERIA = ("bic", "ebic")


@dataclass
class Tuning:
    """How λ is chosen: the grid, and scores on the rows left out of every fold so far (none for a criterion).

    Of every fold: `losses`, the mean loss for every λ; `hits`, the share of rows whose class is found, NaN for numbers;
    `nulls`, both for the model without features.
    """

    lams: NDArray[np.float64]
    losses: list[NDArray[np.float64]] = field(default_factory=list)
    hits: list[NDArray[np.float64]] = field(default_factory=list)
    nulls: list[tuple[float, float]] = field(default_factory=list)
    path: PathResult | None = None
    index: int = -1

    @property
    def lam(self) -> float:
        return float(self.lams[self.index])


class Fit:
    """An estimator and its data, checked and coded, before anything is solved."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self.estimator = estimator
        self.task: Task = estimator._task(X, y, None)
        self.r: Regularizer = estimator._penalty(self.task)
        if estimator.lam is not None:
            self.r = with_lam(self.r, float(estimator.lam))
        self.budget: Budget = estimator._budget(self.task, None, None)[0]
        self.ways = choices(estimator.solver, self.task.n, self.task.shape, self.task.loss, self.r)

    def start(self) -> NDArray[Any]:
        """The model without features."""
        return null_model(self.task.problem(self.r))

    def null_intercept(self) -> NDArray[np.float64]:
        """The scores of the model without features, the same for every row: (1,), or (c,) for c classes."""
        made = self.estimator._attributes(self.start())["intercept_"]
        return np.atleast_1d(np.asarray(made, np.float64))

    # ---- λ

    def tuning(self, n_lams: int, ratio: float, folds: int, seed: int) -> Tuning:
        """The grid. Refuses folds that the rows do not have."""
        if folds:
            _folds(self.task, folds, seed)
        return Tuning(grid(self.task, self.r, self.start(), n_lams, ratio, None))

    def tune(
        self,
        tuning: Tuning,
        folds: int,
        seed: int,
        rule: str,
        keep: Callable[[Tuning], Any],
        seen: Callable[[int, float, float], Any],
    ) -> NDArray[Any]:
        """Choose λ by a rule over the folds (`FOLD_RULES`) or, with folds = 0, by a criterion; x for the λ before it.

        The path of all rows comes first: it may end before the grid does, and the folds end with it. Folds that a
        Tuning has losses of are not run again. `keep` is called after every fold, `seen` after every λ with the number
        of the fold (0 for all rows), λ and F.
        """
        task = self.task
        runs = self._follow(task, tuning.lams, 0, seen, whole=False)
        tuning.lams = tuning.lams[: len(runs)]
        tuning.path = summary(task, runs, tuning.lams, 1.0, self.estimator._attributes)
        part = _folds(task, folds, seed) if folds else np.empty(0)
        for k in range(len(tuning.losses), folds):
            here, there = task.take(np.flatnonzero(part != k)), task.take(np.flatnonzero(part == k))
            points = [done.x for done in self._follow(here, tuning.lams, k + 1, seen)]
            null = null_model(here.problem(self.r))
            tuning.losses.append(np.array([there.mean_loss(x) for x in points]))
            tuning.hits.append(np.array([_hits(there, x) for x in points]))
            tuning.nulls.append((there.mean_loss(null), _hits(there, null)))
            keep(tuning)
        tuning.index = chosen(np.array(tuning.losses).T, rule) if folds else tuning.path.best(rule)
        self.r = with_lam(self.r, tuning.lam)
        return runs[tuning.index - 1].x if tuning.index else self.start()

    def _follow(
        self, task: Task, lams: NDArray[Any], fold: int, seen: Callable[[int, float, float], Any], whole: bool = True
    ) -> list[Done]:
        def point(lam: float, done: Done) -> None:
            seen(fold, lam, done.result.certificate.F)

        budget, x0 = self.budget._replace(callbacks=()), null_model(task.problem(self.r))
        return follow(task, self.r, x0, self.estimator.solver, budget, lams, whole, point)

    # ---- the run

    def run(
        self,
        at: Progress,
        checkpoint: str | os.PathLike[str] | None = None,
        turn: Callable[[Progress], Any] | None = None,
        go_on: bool = False,
    ) -> Done:
        """One way after the other, as an estimator does it, with a checkpoint of the one at hand.

        `turn` is called before a way begins, with all that is needed to begin it again. `go_on`: the first of them has
        a checkpoint, and is continued to the same bits.
        """
        first, budget = at.way, self.budget

        def one(P: Problem, way: Choice, now: Progress, share: dict[str, Any]) -> Result:
            if go_on and now.way == first and checkpoint is not None:
                return resume(checkpoint, P, way.method, **share)
            if turn is not None:
                turn(now)
            _remove(checkpoint)
            return solve(P, way.method, x0=now.x0, trace=1.0, checkpoint=checkpoint, **begin(budget, way), **share)

        return run(self.task, self.r, at, self.ways, budget, one)

    def keep(self, done: Done, x: NDArray[Any]) -> Any:
        """The estimator with the attributes of a fitted one; `x` is the solution in the units of the data."""
        self.estimator._keep(done, self.r)
        for name, value in self.estimator._attributes(x).items():
            setattr(self.estimator, name, value)
        return self.estimator


def _hits(task: Task, x: NDArray[Any]) -> float:
    """The share of rows whose class is found; NaN where the targets are numbers."""
    if task.loss.labels == "real":
        return math.nan
    z = task.rows.dot(x[: task.d]) + (x[task.d] if task.intercept else 0.0)
    found, labels = (z.argmax(axis=1), task.labels) if task.width else (z > 0.0, task.labels > 0)
    return float(np.mean(found == labels))


def _remove(checkpoint: str | os.PathLike[str] | None) -> None:
    """That of the way before, which is over: its end is in the Progress that `turn` was given."""
    for path in () if checkpoint is None else (checkpoint, previous(checkpoint)):
        with suppress(FileNotFoundError):
            os.unlink(path)


def _folds(task: Task, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every row: shuffled, and every class dealt out evenly."""
    require_count("folds", folds, 2)
    if task.n < folds:
        raise BadInput("data", f"{task.n} rows are too few for {folds} folds")
    rng = np.random.default_rng(seed)
    groups: Sequence[Any] = [np.arange(task.n)]
    if task.loss.labels != "real":
        groups = [np.flatnonzero(task.labels == label) for label in np.unique(task.labels)]
    least = min(map(len, groups))
    if least < 2:
        raise BadInput("y", "a class with 1 row: cross-validation needs 2 of each")
    part, dealt = np.empty(task.n, np.int64), 0
    for group in groups:
        part[rng.permutation(group)] = (dealt + np.arange(len(group))) % folds
        dealt += len(group)
    return part
