"""The choice of λ: a path on all rows, the same λ on every fold, and a rule. Estimators and `dcopt fit` share it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..regularizers import Regularizer
from .criteria import CRITERIA
from .null import null_model
from .path import PathResult, follow, summary
from .relaxed import relaxed
from .task import Budget, Done, Task

FOLD_RULES = ("best", "1se")  # The least loss on the rows left out; the largest λ near it.
RULES = (*FOLD_RULES, *CRITERIA)  # Of a criterion the least value along the path, without folds.


class FoldEnd(NamedTuple):
    """The loss and score of a fold on its left-out rows, for each λ and for the model without features."""

    losses: NDArray[np.float64]
    hits: NDArray[np.float64]
    null: tuple[float, float]  # The loss and the hits of the model without features.


class Step(NamedTuple):
    """One λ is done, on all rows (part 0) or in a fold (part 1, 2, …)."""

    part: int
    parts: int  # The number of folds.
    at: int  # The number of the λ, from 1 on.
    of: int
    lam: float
    F: float
    nnz: int
    left: float | None  # The seconds until the last fold ends, if they can be estimated.


@dataclass
class Tuning:
    """How λ is chosen: the grid, and scores on the rows left out of every fold so far (none for a criterion).

    Of every fold: `losses`, the mean loss for every λ; `hits`, the share of rows whose class is found, or a score of
    the user's, NaN for numbers; `nulls`, both for the model without features.
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

    @property
    def along(self) -> PathResult:
        """The path, after `follow` has made it."""
        assert self.path is not None
        return self.path

    def follow(
        self, estimator: Any, task: Task, r: Regularizer, x0: NDArray[Any], budget: Budget, whole: bool,
        seen: Callable[[int, float, Done], Any] | None, refit: bool = False,
    ) -> list[Done]:  # fmt: skip
        """The solutions on all rows. Unless `whole`, they and the grid end where 99.9 % of the loss is removed.

        `refit`: each model again, without its penalty.
        """
        runs = follow(task, r, x0, estimator.solver, budget, self.lams, whole, seen)
        runs = relaxed(task, r, runs, estimator.solver, budget) if refit else runs
        self.path = summary(task, runs, self.lams, 1.0, estimator, r)
        self.lams = self.path.lams
        return runs

    def add(self, end: FoldEnd) -> None:
        self.losses.append(end.losses)
        self.hits.append(end.hits)
        self.nulls.append(end.null)

    def choose(self, rule: str) -> int:
        """The index of λ by a rule of RULES."""
        self.index = self.along.best(rule) if rule in CRITERIA else chosen(np.array(self.losses).T, rule)
        return self.index

    @property
    def scores(self) -> NDArray[np.float64]:
        """(folds, λ), larger is better: hits, or of numbers the share of the null model's loss that is removed."""
        nulls = np.array(self.nulls).reshape(-1, 2)
        hits = np.array(self.hits).reshape(len(nulls), len(self.lams))
        if not np.isnan(hits).any():
            return hits
        losses, null = np.array(self.losses), nulls[:, :1]
        left: NDArray[np.float64] = np.divide(losses, null, out=np.ones_like(losses), where=null > 0.0)
        return 1.0 - left

    @property
    def null_scores(self) -> NDArray[np.float64]:
        """(folds,), of the model without features."""
        hits = np.array(self.nulls).reshape(-1, 2)[:, 1]
        return np.where(np.isnan(hits), 0.0, hits)

    def note(self, kind: str) -> str | None:
        """A note if the chosen model is no better on left-out rows than one without features."""
        if not self.losses:
            return "the criterion chooses the model without features" if self.along.nnz[self.index] == 0 else None
        score, null = float(self.scores[:, self.index].mean()), float(self.null_scores.mean())
        if score > null:
            return None
        what = f"{kind} {score:.4g} on the rows left out, {null:.4g} without features"
        share = " (the share of the largest class)" if kind == "accuracy" else ""
        return f"the chosen λ is no better than no features: {what}{share}"


class Pace:
    """Reports every λ, with the seconds left, which are estimated from the times of the path on all rows."""

    def __init__(self, folds: int, lams: int, tell: Callable[[Step], Any]) -> None:
        self.folds, self.of, self.tell = folds, lams, tell
        self.began, self.took, self.done, self.shared = time.monotonic(), list[float](), list[float](), True

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"shared": False}  # A process does not see the progress of the others.

    def begin_folds(self) -> None:
        self.of, self.began = len(self.took), time.monotonic()

    def __call__(self, part: int, at: int, lam: float, done: Done) -> None:
        elapsed = time.monotonic() - self.began
        if part == 0:
            self.took.append(elapsed - sum(self.took))
            left: float | None = elapsed / (at + 1) * (self.of * (self.folds + 1) - at - 1)
        else:
            self.done.append(self.took[at])  # Threads may append at the same time.
            ended, all_of_it = sum(self.done), self.folds * sum(self.took)
            left = elapsed * max(all_of_it - ended, 0.0) / ended if self.shared and ended > 0.0 else None
        certificate = done.result.certificate
        self.tell(Step(part, self.folds, at + 1, self.of, lam, certificate.F, certificate.nnz, left))


def fold(
    task: Task, r: Regularizer, solver: str, budget: Budget, lams: NDArray[Any], train: NDArray[Any],
    test: NDArray[Any], seen: Callable[[int, float, Done], Any] | None = None,
    score: Callable[[NDArray[np.int64], NDArray[Any]], float] | None = None, refit: bool = False,
) -> FoldEnd:  # fmt: skip
    """Solutions for all λ on some rows, and their losses and scores on others. `refit`: those without a penalty."""
    here, there = (task.take(rows) for rows in (train, test))
    x0 = null_model(here.problem(r))
    budget = budget._replace(callbacks=())
    runs = follow(here, r, x0, solver, budget, lams, seen=seen)
    xs = [done.x for done in (relaxed(here, r, runs, solver, budget) if refit else runs)]

    def hits(x: NDArray[Any]) -> float:
        if score is not None:
            return score(test, x)
        return math.nan if task.loss.labels == "real" else there.accuracy(x)

    losses, null = np.array([there.mean_loss(x) for x in xs]), there.mean_loss(x0)
    return FoldEnd(losses, np.array([hits(x) for x in xs]), (null, hits(x0)))


def score_name(kind: str, scoring: Any) -> str:
    """The name of the scores of a fold."""
    if scoring is not None:
        return scoring if isinstance(scoring, str) else "score"
    return "accuracy" if kind == "classifier" else "share of the loss removed"


def chosen(losses: NDArray[np.float64], rule: str) -> int:
    """The λ of the least mean loss, or the largest λ whose mean is within one standard error of it."""
    mean, folds = losses.mean(axis=1), losses.shape[1]
    best = int(np.argmin(mean))
    if rule == "best" or folds < 2:
        return best
    error = float(losses[best].std(ddof=1)) / np.sqrt(folds)
    return int(np.flatnonzero(mean <= mean[best] + error)[0])
