"""What all estimators share: from X and y to a task, from a solution to attributes, and nothing half done."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..data import check
from ..errors import BadInput, BadSettings, pick, require, require_count, require_number
from ..job import are_observers
from ..losses import Loss
from ..measures import MEASURES
from ..regularizers import Regularizer
from ..state import Certificate
from ..subproblems.parts import entries
from ..watch import Trace
from . import say
from .callbacks import CallbackSupportMixin, EveryPass, Lines, Patience, scikit_learn_tasks, with_callbacks
from .choice import choices
from .door import examine
from .null import lam_max, null_model
from .parts import WithParts
from .path import PathResult, follow_path
from .penalties import penalty_of, with_lam
from .task import Budget, Done, Progress, Task, run

FLOATS = (np.float64, np.float32)


class End(NamedTuple):
    """What a fit that has set its attributes still has to say."""

    warning: str | None
    ctrl_c: bool


class DCBase(WithParts, CallbackSupportMixin, BaseEstimator):
    """A linear model with a loss and a penalty by name or instance."""

    # ---- what a classifier and a regressor do differently

    @abstractmethod
    def _targets(self, y: NDArray[Any], weights: NDArray[Any] | None, dtype: Any) -> tuple[Any, Any, Loss, Any]:
        """(coded labels, weights, loss, width) of training data; sets what is known of the labels."""

    @abstractmethod
    def _examine_targets(self, y: Any) -> None:
        """Refuse labels that scikit-learn would convert, or fail on without a word about the row."""

    @abstractmethod
    def _attributes(self, x: NDArray[Any]) -> dict[str, Any]:
        """coef_ and intercept_ from a solution."""

    # ---- fit

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to X (N, d), y (N,). `sample_weight` counts repetitions: 2 is the same as the row twice.

        Ctrl-C sets the attributes from where the fit is, and then raises KeyboardInterrupt.
        """
        with nothing_half_done(self):
            end = self._fit(X, y, sample_weight)
        if end.ctrl_c:
            raise KeyboardInterrupt
        say.warn(end.warning)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> End:
        task = self._task(X, y, sample_weight)
        r, x0 = self._start(task)
        last = getattr(self, "x_", None)
        if self.warm_start and last is not None and last.shape == x0.shape:
            x0 = last.astype(x0.dtype)
        ways = choices(self.solver, task.n, task.shape, task.loss, r, bool(self.search))
        if self.search and r.L2 != 0.0 and entries(r, np.zeros(task.shape)) is None:
            expected = f"False: the penalty ({type(r).__name__}) is no sum over single coefficients"
            raise BadSettings("search", True, expected)
        context = self._open_tasks(X, y)
        budget, patience, task = self._budget(task, x0, context)
        done = run(task, r, Progress(x0), ways, budget)
        if patience is not None and patience.over:
            done = _early(done, task, r, patience, budget)
        self._keep(done, r)
        if context is not None:
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes=lambda: self._attributes(done.x))
        return End(None if patience is not None and patience.over else say.complaint(task, done, budget), done.ctrl_c)

    def path(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_lams: int = 50, ratio: float = 1e-2, lams: Any = None,
        ebic_gamma: float = 1.0,
    ) -> PathResult:  # fmt: skip
        """Warm-started solutions for λ from lam_max down to ratio · lam_max (or for `lams`); nothing is fitted."""
        from sklearn.base import clone

        me = clone(self)
        task = me._task(X, y, sample_weight)
        r, x0 = me._penalty(task), None
        budget = me._budget(task, None, None)[0]
        return follow_path(task, r, x0, me.solver, budget, n_lams, ratio, lams, ebic_gamma, me._attributes)

    # ---- its steps

    def _task(self, X: Any, y: Any, sample_weight: Any) -> Task:
        numbers = {"y_numeric": True} if self._estimator_type_ == "regressor" else {}
        examine(X, y=y, sample_weight=sample_weight)
        self._examine_targets(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, **numbers)
        weights = None
        if sample_weight is not None:
            weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64), np.float64)
            if not weights.any():
                raise ValueError("Sample weights must contain at least one non-zero number.")
            check.sample_weights(weights, len(weights), np.float64)  # refuses negative ones
            if not weights.max() <= np.finfo(np.float64).max / len(weights):
                raise BadInput("sample_weight", "their sum, the number of observations, is not finite: scale them")
        rows, counts = check.as_rows(X), weights
        labels, weights, loss, width = self._targets(y, weights, rows.dtype)
        return Task(rows, labels, weights, loss, width, bool(self.fit_intercept), counts)

    def _penalty(self, task: Task) -> Regularizer:
        names = getattr(self, "feature_names_in_", None)
        return penalty_of(self.penalty, self.groups, self.unpenalized, names, task.d, (*task.width, 2)[0])

    def _start(self, task: Task) -> tuple[Regularizer, NDArray[Any]]:
        """The penalty with its λ, and the model without features."""
        r = self._penalty(task)
        pick("lam_scale", self.lam_scale, ("absolute", "max"))
        if self.lam is not None:
            require_number("lam", self.lam, 0.0)
            r = with_lam(r, float(self.lam))
        P = task.problem(r)
        x0 = null_model(P)
        if self.lam_scale == "max":
            r = with_lam(r, r.lam * lam_max(P, x0))  # type: ignore[attr-defined]  # else refused by lam_max
        return r, x0

    def _budget(self, task: Task, x0: NDArray[Any] | None, context: Any) -> tuple[Budget, Patience | None, Task]:
        """What solve is given; the rows that are set aside; and the task without them."""
        pick("measure", self.measure, MEASURES)
        require_number("tol", self.tol, 0.0)
        require_number("max_passes", self.max_passes, 0.0)
        if self.max_seconds is not None:
            require_number("max_seconds", self.max_seconds, 0.0)
        require(isinstance(self.search, bool | np.bool_), "search", self.search, "True or False")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        if self.callbacks is not None:
            are_observers(self.callbacks)
        require(isinstance(self.verbose, int | np.integer | np.bool_), "verbose", self.verbose, "a whole number")
        callbacks, patience = list(self.callbacks or ()), None
        if self.validation_fraction is not None and x0 is not None:
            from sklearn.model_selection import train_test_split  # a tenth of the time to a first model

            share = self.validation_fraction
            require_number("validation_fraction", share, 0.0, 1.0, open_low=True)
            require_count("patience", self.patience)
            classes = None if task.loss.labels == "real" else task.labels
            try:
                keep, aside = train_test_split(
                    np.arange(task.n), test_size=float(share), random_state=seed, stratify=classes
                )
            except ValueError:
                expected = "a share that leaves rows of every class on both sides"
                raise BadSettings("validation_fraction", share, expected) from None
            patience = Patience(task.take(np.sort(aside)), int(self.patience), x0)
            task = task.take(np.sort(keep))
            callbacks.append(EveryPass(task.n, patience))
        if self.verbose:
            callbacks.append(EveryPass(task.n, Lines(int(self.verbose))))
        if context is not None and getattr(self, "_skl_callbacks", None):
            callbacks.append(EveryPass(task.n, scikit_learn_tasks(self, context, self._attributes)))
        passes, seconds = float(self.max_passes), self.max_seconds
        search = bool(self.search) and x0 is not None  # a path stays near the solution before
        return Budget(float(self.tol), self.measure, passes, seconds, seed, callbacks, search), patience, task

    def _open_tasks(self, X: Any, y: Any) -> Any:
        if not hasattr(self, "_init_callback_context"):
            return None
        context = self._init_callback_context(max_subtasks=None)
        return context.call_on_fit_task_begin(estimator=self, X=X, y=y)

    def _keep(self, done: Done, r: Regularizer) -> None:
        """The attributes of a fitted estimator."""
        for name, value in self._attributes(done.x).items():
            setattr(self, name, value)
        self.lam_ = getattr(r, "lam", None)
        self.n_iter_, self.status_ = done.seen.steps, done.result.status.name
        self.certificate_, self.solver_ = say.sentence(done), done.choice
        self.trace_ = Trace(done.result.trace.measure, list(done.seen.records))
        self.objective_ = done.result.certificate.F
        for name in ("stream_", "drift_"):
            self.__dict__.pop(name, None)  # a stream before it is over
        if self.verbose:
            Lines(1).end(self.certificate_)

    # ---- predictions

    def _scores(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        examine(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        scores: NDArray[Any] = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _early(done: Done, task: Task, r: Regularizer, patience: Patience, budget: Budget) -> Done:
    """The best point on the rows set aside, with a certificate of its own."""
    P = task.problem(r, done.choice.decomposition)
    at = P.examine(np.asarray(patience.x, np.float64))
    value, nnz = MEASURES[budget.measure](P, at), int(np.count_nonzero(patience.x))
    size, t = task.scale(r, budget.measure), done.seen.steps - patience.waited
    tol, kind = budget.tol * size, P.r.certifies
    certificate = Certificate(budget.measure, value, tol, "full", t, at.F, nnz, scale=size, kind=kind)
    said = f"early stopping, {patience.waited} passes without a lower loss on {patience.aside.n} rows set aside"
    result = replace(done.result, x=patience.x, certificate=certificate, message=said)
    return done._replace(x=patience.x, result=result)


@contextmanager
def nothing_half_done(estimator: Any) -> Iterator[None]:
    """An error leaves the estimator as it was: fitted as before, or not fitted."""
    before = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    try:
        yield
    except BaseException:
        for name in [name for name in vars(estimator) if name.endswith("_") and not name.endswith("__")]:
            delattr(estimator, name)
        vars(estimator).update(before)
        raise
