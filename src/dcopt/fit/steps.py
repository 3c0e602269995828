"""A fit in steps that can be observed, saved and continued: the choice of λ, the runs, the attributes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, require_count
from ..problem import Problem
from ..regularizers import Regularizer
from ..runs.resume import resume
from ..solve import solve
from ..state import Result
from ..store.atomic import previous
from .null import null_model
from .path import grid
from .penalties import with_lam
from .solver_choice import Choice, choices
from .task import Budget, Done, Progress, Task, begin, run
from .tuning import Tuning, fold, score_name


class Fit:
    """An estimator and its data, checked and coded, before anything is solved."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self.estimator = estimator
        self.task: Task = estimator._task(X, y, None)
        self.r: Regularizer = estimator._start(self.task)[0]
        self.note: str | None = None  # The note of the choice of λ.
        self.budget: Budget = estimator._budget(self.task, None, None)[0]
        self.ways = choices(estimator.solver, self.task, self.r)

    def start(self) -> NDArray[Any]:
        """The model without features."""
        return null_model(self.task.problem(self.r))

    def null_intercept(self) -> NDArray[np.float64]:
        """The scores of the model without features, the same for every row: (1,), or (c,) for c classes."""
        made = self.estimator._attributes(self.start())["intercept_"]
        return np.atleast_1d(np.asarray(made, np.float64))

    # ---- λ

    def tuning(self, n_lams: int, ratio: float, folds: int, seed: int) -> Tuning:
        """The grid of λ. Refuses more folds than the rows allow."""
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
        task, budget, solver = self.task, self.budget._replace(callbacks=()), self.estimator.solver

        def point(number: int) -> Callable[[int, float, Done], Any]:
            return lambda k, lam, done: seen(number, lam, done.result.certificate.F)

        runs = tuning.follow(self.estimator, task, self.r, self.start(), budget, False, point(0))
        part = _folds(task, folds, seed) if folds else np.empty(0)
        for k in range(len(tuning.losses), folds):
            train, test = np.flatnonzero(part != k), np.flatnonzero(part == k)
            tuning.add(fold(task, self.r, solver, budget, tuning.lams, train, test, point(k + 1)))
            keep(tuning)
        tuning.choose(rule)
        self.note = tuning.note(score_name(self.estimator._estimator_type_, None))
        self.r = with_lam(self.r, tuning.lam)
        return runs[tuning.index - 1].x if tuning.index else self.start()

    # ---- the run

    def run(
        self,
        at: Progress,
        checkpoint: str | os.PathLike[str] | None = None,
        turn: Callable[[Progress], Any] | None = None,
        go_on: bool = False,
    ) -> Done:
        """Make the runs of an estimator in order, with a checkpoint of the present run.

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

    def keep(self, done: Done) -> Any:
        """The estimator with the attributes of a fitted one."""
        self.estimator._keep(done, self.r, self.task, self.budget)
        self.estimator.notes_ = (*self.estimator.notes_, *([] if self.note is None else [self.note]))
        return self.estimator


def _remove(checkpoint: str | os.PathLike[str] | None) -> None:
    """Remove the checkpoint of the run before, whose end is in the Progress given to `turn`."""
    for path in () if checkpoint is None else (checkpoint, previous(checkpoint)):
        with suppress(FileNotFoundError):
            os.unlink(path)


def _folds(task: Task, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every row, at random and with an even share of every class."""
    if (own := task.dealt(folds, seed)) is not None:
        return own
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
