"""λ by cross-validation: a warm-started path in every fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from ..errors import BadInput, BadSettings, pick, require
from ..regularizers import Regularizer
from . import say
from .base import DCBase, End
from .classifier import Classifies
from .null import null_model
from .path import follow, grid, summary
from .regressor import Regresses
from .task import Budget, Task


class CrossValidated(DCBase):
    """Fits all rows along a grid below lam_max, then every fold along the same grid, and chooses λ."""

    lam = None
    lam_scale = "absolute"
    warm_start = False
    search = False
    validation_fraction = None

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> End:
        pick("rule", self.rule, ("best", "1se"))
        jobs = self.n_jobs
        good = jobs is None or (isinstance(jobs, int | np.integer) and jobs != 0 and not isinstance(jobs, bool))
        require(good, "n_jobs", jobs, "None or a whole number that is not 0; -1 uses all processors")
        task = self._task(X, y, sample_weight)
        r = self._penalty(task)
        x0 = null_model(task.problem(r))
        lams = grid(task, r, x0, self.n_lams, self.ratio, self.lams)
        context = self._open_tasks(X, y)
        budget = self._budget(task, None, context)[0]
        folds = splits(self.cv, task)
        for rows in (rows for fold in folds for rows in fold):
            if task.weights is not None and not task.weights[rows].any():
                raise BadInput("sample_weight", "all weights of a part of a fold are zero: give another cv")
        runs = follow(task, r, x0, self.solver, budget, lams, self.lams is not None)
        lams = lams[: len(runs)]
        losses = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_fold)(self, task, r, lams, budget, train, test) for train, test in folds
        )
        bad = np.argwhere(np.isnan(losses))
        if bad.size:
            fold, at = bad[0]
            expected = f"scores that are numbers: fold {fold} gave NaN at lam = {lams[at]:.6g}"
            raise BadSettings("scoring", self.scoring, expected)
        self.lams_, self.cv_loss_ = lams, np.array(losses).T
        self.path_ = summary(task, runs, lams, 1.0, self._attributes)
        self.index_ = chosen(self.cv_loss_, self.rule)
        done = runs[self.index_]
        self._keep(done, self._at(r, lams[self.index_]))
        if context is not None:
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes=lambda: self._attributes(done.x))
        return End(say.complaint(task, done, budget), False)

    @staticmethod
    def _at(r: Regularizer, lam: float) -> Regularizer:
        from .penalties import with_lam

        return with_lam(r, float(lam))

    def plot_cv(self, ax: Any = None) -> Any:
        """The mean loss over the folds and its standard error against λ; returns the axes. Needs dcopt[plot]."""
        from .plots import draw_cv

        return draw_cv(self, ax)

    def plot_path(self, ax: Any = None) -> Any:
        """The coefficients against λ; returns the axes. Needs matplotlib (dcopt[plot])."""
        return self.path_.plot_path(ax, getattr(self, "feature_names_in_", None))


def splits(cv: Any, task: Task) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The folds of `cv`: the rows to fit and the rows that are left out."""
    from sklearn.model_selection import check_cv  # a tenth of the time to a first model

    codes = task.labels if task.loss.labels != "real" else None
    expected = f"a number of folds, or pairs (rows to fit, rows to leave out) of {task.n} rows"
    try:
        found = list(check_cv(cv, codes, classifier=codes is not None).split(np.zeros(task.n), codes))
    except (TypeError, ValueError) as why:
        more = "for folds of groups of rows: cv=list(GroupKFold(5).split(X, y, groups))"
        raise BadSettings("cv", cv, f"{expected} ({why}); {more}") from None
    require(bool(found), "cv", cv, "at least one split")
    for fold in found:
        if not isinstance(fold, tuple | list) or len(fold) != 2 or any(np.ndim(rows) != 1 for rows in fold):
            raise BadSettings("cv", cv, f"{expected}; one of its splits is {fold!r}")
    return [(_numbers(train, task.n), _numbers(test, task.n)) for train, test in found]


def _numbers(rows: Any, n: int) -> NDArray[np.int64]:
    """Those of the rows of a part of a fold, which may be a mask"""
    given = np.asarray(rows)
    require(given.size > 0, "cv", rows, "splits whose two parts have rows")
    try:
        given = given if given.dtype == np.bool_ else given.astype(np.int64, casting="same_kind")
        return np.asarray(np.arange(n)[given])
    except (IndexError, TypeError, ValueError) as why:
        raise BadSettings("cv", "a split", f"splits into row numbers below {n}, or masks ({why})") from None


def _fold(
    me: Any, task: Task, r: Regularizer, lams: NDArray[Any], budget: Budget, train: NDArray[Any], test: NDArray[Any]
) -> NDArray[np.float64]:
    """The loss on the rows left out, for every λ."""
    here, there = (task.take(rows) for rows in (train, test))
    x0 = null_model(here.problem(r))
    runs = follow(here, r, x0, me.solver, budget._replace(callbacks=()), lams)
    if me.scoring is None:
        return np.array([there.mean_loss(done.x) for done in runs])
    from sklearn.metrics import get_scorer

    scorer = me.scoring if callable(me.scoring) else get_scorer(me.scoring)
    return np.array([-_score(me, scorer, there, done.x) for done in runs])


def _score(me: Any, scorer: Any, there: Task, x: NDArray[Any]) -> float:
    """A score of scikit-learn's, larger is better, by an estimator that has x as its solution."""
    model = clone(me)
    model.n_features_in_ = there.d
    rows: Any = there.rows
    y = there.labels
    if hasattr(me, "classes_"):
        model.classes_ = me.classes_
        y = me.classes_[y if there.width else (y > 0).astype(np.int64)]
    for name, value in model._attributes(x).items():
        setattr(model, name, value)
    weights = {} if there.counts is None else {"sample_weight": there.counts}
    return float(scorer(model, _matrix(rows), y, **weights))


def _matrix(rows: Any) -> Any:
    if not hasattr(rows, "indices"):
        return rows.a
    from scipy.sparse import csr_array

    return csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)


def chosen(losses: NDArray[np.float64], rule: str) -> int:
    """The λ of the least mean loss, or the largest λ whose mean is within one standard error of it."""
    mean, folds = losses.mean(axis=1), losses.shape[1]
    best = int(np.argmin(mean))
    if rule == "best" or folds < 2:
        return best
    error = float(losses[best].std(ddof=1)) / np.sqrt(folds)
    return int(np.flatnonzero(mean <= mean[best] + error)[0])


class DCClassifierCV(CrossValidated, Classifies):
    """`DCClassifier` with λ by cross-validation.

    n_lams, ratio, lams : the grid: so many λ from lam_max down to ratio · lam_max, or the given ones
    cv, scoring, n_jobs : folds, a score (default: the loss itself) and parallel jobs, as in scikit-learn
    rule : "best", the least mean loss; or "1se", the largest λ within one standard error of it
    Attributes besides those of `DCClassifier`: lam_, lams_, cv_loss_ (λ, folds), index_, path_
    """

    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "scad",
        *,
        n_lams: int = 30,
        ratio: float = 1e-2,
        lams: Any = None,
        cv: Any = None,
        rule: str = "best",
        scoring: Any = None,
        n_jobs: int | None = None,
        groups: Any = None,
        unpenalized: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-4,
        measure: str = "criticality",
        max_passes: float = 1000,
        max_seconds: float | None = None,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.loss, self.penalty, self.n_lams, self.ratio, self.lams = loss, penalty, n_lams, ratio, lams
        self.cv, self.rule, self.scoring, self.n_jobs = cv, rule, scoring, n_jobs
        self.groups, self.unpenalized, self.fit_intercept = groups, unpenalized, fit_intercept
        self.class_weight, self.solver, self.tol, self.measure = class_weight, solver, tol, measure
        self.max_passes, self.max_seconds = max_passes, max_seconds
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state


class DCRegressorCV(CrossValidated, Regresses):
    """`DCRegressor` with λ by cross-validation; settings and attributes as in `DCClassifierCV`."""

    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "scad",
        *,
        n_lams: int = 30,
        ratio: float = 1e-2,
        lams: Any = None,
        cv: Any = None,
        rule: str = "best",
        scoring: Any = None,
        n_jobs: int | None = None,
        groups: Any = None,
        unpenalized: Any = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-4,
        measure: str = "criticality",
        max_passes: float = 1000,
        max_seconds: float | None = None,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.loss, self.penalty, self.n_lams, self.ratio, self.lams = loss, penalty, n_lams, ratio, lams
        self.cv, self.rule, self.scoring, self.n_jobs = cv, rule, scoring, n_jobs
        self.groups, self.unpenalized, self.fit_intercept = groups, unpenalized, fit_intercept
        self.solver, self.tol, self.measure = solver, tol, measure
        self.max_passes, self.max_seconds = max_passes, max_seconds
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state
