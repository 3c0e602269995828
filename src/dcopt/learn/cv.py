"""λ by cross-validation: a warm-started path in every fold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..errors import BadInput, BadSettings, elsewhere, pick, require
from ..fit.criteria import CRITERIA
from ..fit.null import null_model
from ..fit.parts import OTHER_NAMES
from ..fit.path import grid
from ..fit.penalties import with_lam
from ..fit.task import Budget, Task
from ..fit.tuning import RULES, FoldEnd, Pace, Tuning, fold, score_name
from ..losses import WithOffset
from ..regularizers import Regularizer
from . import messages
from .base import DCBase
from .callbacks import PathLines
from .classifier import Classifies
from .ending import End, uneven_columns
from .folds import splits
from .jobs import in_one_thread, require_jobs, with_one_blas_thread
from .offsets import NO_OFFSETS, Offsets
from .regressor import Regresses


class CrossValidated(DCBase):
    """Fits all rows along a grid below lam_max, then every fold along the same grid, and chooses λ."""

    lam = None
    lam_scale = "absolute"
    warm_start = False
    search = False
    validation_fraction = None

    def _fit(self, X: Any, y: Any, sample_weight: Any, offsets: Offsets = NO_OFFSETS) -> End:
        pick("rule", self.rule, RULES)
        require_jobs(self.n_jobs)
        require(isinstance(self.relaxed, bool | np.bool_), "relaxed", self.relaxed, "True or False")
        task = self._task(X, y, sample_weight, offsets)
        if isinstance(task.loss, WithOffset) and self.scoring is not None:
            raise BadSettings("scoring", self.scoring, "None with an offset or an exposure: a score would not see them")
        r = self._penalty(task)
        x0 = null_model(task.problem(r))
        tuning = Tuning(grid(task, r, x0, self.n_lams, self.ratio, self.lams))
        context = self._open_tasks(X, y)
        budget = self._budget(task, None, context)[0]
        folds = [] if self.rule in CRITERIA else splits(self.cv, task)
        for rows in (rows for pair in folds for rows in pair):
            if task.weights is not None and not task.weights[rows].any():
                raise BadInput("sample_weight", "all weights of a part of a fold are zero: give another cv")
        pace = Pace(len(folds), len(tuning.lams), PathLines(int(self.verbose))) if self.verbose else None
        seen = None if pace is None else partial(pace, 0)
        runs = tuning.follow(self, task, r, x0, budget, self.lams is not None, seen, self.relaxed)
        if pace is not None:
            pace.begin_folds()
        # Folds that run one after the other have BLAS's one thread too: it decides the last bits of sums.
        one = partial(with_one_blas_thread if self.n_jobs in (None, 1) else in_one_thread, _fold)
        ends = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(one)(
                self, task, r, tuning.lams, budget, train, test, None if pace is None else partial(pace, k + 1)
            )
            for k, (train, test) in enumerate(folds)
        )
        for k, end in enumerate(ends):
            bad = np.flatnonzero(np.isnan(end.hits))
            if bad.size and self.scoring is not None:
                expected = f"scores that are numbers: fold {k} gave NaN at lam = {tuning.lams[bad[0]]:.6g}"
                raise BadSettings("scoring", self.scoring, expected)
            # If the user gives a score, the rules use it.
            tuning.add(end if self.scoring is None else end._replace(losses=-end.hits))
        self.index_ = tuning.choose(self.rule)
        self.lams_, self.path_ = tuning.lams, tuning.along
        shape = len(folds), len(tuning.lams)
        self.cv_loss_ = np.array(tuning.losses).reshape(shape).T
        self.cv_scores_, self.null_scores_ = tuning.scores.reshape(shape).T, tuning.null_scores
        done, r = runs[self.index_], with_lam(r, tuning.lam)
        self._keep(done, r, task, budget)
        note = tuning.note(score_name(self._estimator_type_, self.scoring))
        self.notes_ = (*self.notes_, *self.path_.notes, *([] if note is None else [note]))
        if context is not None:
            attributes = self._attributes(task.in_units(done.x))
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes=lambda: attributes)
        return End(messages.complaint(task, done, budget), uneven_columns(self, task, r), False)

    def plot_cv(self, ax: Any = None) -> Any:
        """The mean loss over the folds and its standard error against λ; returns the axes. Needs dcopt[plot]."""
        from ..fit.plots import draw_cv

        check_is_fitted(self)
        return draw_cv(self, ax)

    def plot_path(self, ax: Any = None) -> Any:
        """The coefficients, or with standardize=True their effects, against λ; returns the axes. Needs matplotlib."""
        from ..fit.plots import draw_path

        check_is_fitted(self)
        return draw_path(self.path_, ax, self.path_.names, bool(self.standardize), self.lam_)


def _fold(
    me: Any, task: Task, r: Regularizer, lams: NDArray[Any], budget: Budget, train: NDArray[Any], test: NDArray[Any],
    seen: Callable[[int, float, Any], Any] | None,
) -> FoldEnd:  # fmt: skip
    """The result of a fold, with a score of scikit-learn if one is given, for which larger is better."""
    if me.scoring is None:
        return fold(task, r, me.solver, budget, lams, train, test, seen, None, me.relaxed)
    from sklearn.metrics import get_scorer

    scorer = me.scoring if callable(me.scoring) else get_scorer(me.scoring)

    def score(rows: NDArray[np.int64], x: NDArray[Any]) -> float:
        return _score(me, scorer, task, rows, x)

    return fold(task, r, me.solver, budget, lams, train, test, seen, score, me.relaxed)


def _score(me: Any, scorer: Any, task: Task, rows: NDArray[np.int64], x: NDArray[Any]) -> float:
    """The score of an estimator with the solution x, on some rows in the units of the data."""
    assert task.given is not None
    model = clone(me)
    model.n_features_in_ = task.d
    y = task.labels[rows]
    if hasattr(me, "classes_"):
        model.classes_ = me.classes_
        y = me.classes_[y if task.width else (y > 0).astype(np.int64)]
    for name, value in model._attributes(task.in_units(x)).items():
        setattr(model, name, value)
    weights = {} if task.counts is None else {"sample_weight": task.counts[rows]}
    return float(scorer(model, _matrix(task.given.take(rows)), y, **weights))


def _matrix(rows: Any) -> Any:
    csr = rows.can().csr
    if csr is None:
        return rows.a
    from scipy.sparse import csr_array

    return csr_array((csr.data, csr.indices, csr.indptr), shape=rows.shape)


class DCClassifierCV(CrossValidated, Classifies):
    """`DCClassifier` with λ by cross-validation.

    n_lams, ratio, lams : the grid: so many λ from lam_max down to ratio · lam_max, or the given ones; ratio=None is
        1e-3, or 1e-2 where there are more features than observations
    cv, scoring, n_jobs : folds, a score (default: the loss itself) and parallel jobs, as in scikit-learn
    rule : "best", the least mean loss; "1se", the largest λ within one standard error of it; "aic", "bic",
        "ebic", the least of this criterion along the path, without folds
    relaxed : refit every model of the path, in folds as well, without a penalty on its features
    Attributes besides those of `DCClassifier`: lam_, lams_, index_, path_; of the folds cv_loss_, cv_scores_ (λ, folds)
    and null_scores_ (folds,), those of the model without features: accuracy, for numbers the share of the loss that is
    removed, or what `scoring` says
    """

    @elsewhere(**OTHER_NAMES | dict.fromkeys(("lam", "alpha", "C"), "lams=, or DCClassifier for one value"))
    def __init__(
        self,
        loss: Any = "logistic",
        penalty: Any = "scad",
        *,
        n_lams: int = 100,
        ratio: float | None = None,
        lams: Any = None,
        cv: Any = None,
        rule: str = "best",
        relaxed: bool = False,
        scoring: Any = None,
        n_jobs: int | None = None,
        groups: Any = None,
        unpenalized: Any = None,
        positive: bool = False,
        bounds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = False,
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
        self.relaxed = relaxed
        self.groups, self.unpenalized = groups, unpenalized
        self.positive, self.bounds = positive, bounds
        self.fit_intercept, self.standardize = fit_intercept, standardize
        self.class_weight, self.solver, self.tol, self.measure = class_weight, solver, tol, measure
        self.max_passes, self.max_seconds = max_passes, max_seconds
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state


class DCRegressorCV(CrossValidated, Regresses):
    """`DCRegressor` with λ by cross-validation; settings and attributes as in `DCClassifierCV`."""

    @elsewhere(**OTHER_NAMES | dict.fromkeys(("lam", "alpha", "C"), "lams=, or DCRegressor for one value"))
    def __init__(
        self,
        loss: Any = "squared",
        penalty: Any = "scad",
        *,
        n_lams: int = 100,
        ratio: float | None = None,
        lams: Any = None,
        cv: Any = None,
        rule: str = "best",
        relaxed: bool = False,
        scoring: Any = None,
        n_jobs: int | None = None,
        groups: Any = None,
        unpenalized: Any = None,
        positive: bool = False,
        bounds: Any = None,
        fit_intercept: bool = True,
        standardize: bool = False,
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
        self.relaxed = relaxed
        self.groups, self.unpenalized = groups, unpenalized
        self.positive, self.bounds = positive, bounds
        self.fit_intercept, self.standardize = fit_intercept, standardize
        self.solver, self.tol, self.measure = solver, tol, measure
        self.max_passes, self.max_seconds = max_passes, max_seconds
        self.callbacks, self.verbose, self.random_state = callbacks, verbose, random_state
