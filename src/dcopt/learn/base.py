"""The base of all estimators: from X and y to a task, and from a solution to attributes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data import check
from ..errors import BadSettings, elsewhere, pick, require, require_count, require_number
from ..fit.null import lam_max, null_model
from ..fit.parts import WithParts
from ..fit.penalties import LAM_SHARE, LAM_SHARE_WIDE, chosen_lam, limits, penalty_of, with_lam
from ..fit.solver_choice import choices
from ..fit.standard import columns_of, scaling_of
from ..fit.subset import begun
from ..fit.task import Budget, Done, Task, run
from ..losses import Loss, WithOffset
from ..measures import MEASURES
from ..regularizers import Regularizer
from ..runs.run import require_observers
from ..runs.trace import Trace
from ..subproblems.parts import entries, homogeneous
from ..sums import Parted
from . import messages
from .callbacks import (
    CallbackSupportMixin,
    EveryPass,
    Lines,
    Patience,
    say_end,
    scikit_learn_tasks,
    with_callbacks,
)
from .door import examine, weights_of
from .ending import End, early, notes_of, nothing_half_done, uneven_columns
from .export import Exported
from .offsets import NO_OFFSETS, Offsets
from .parted import parted_scores, parted_task
from .paths import Followed
from .table import Described

FLOATS = (np.float64, np.float32)


def _together(task: Task) -> int:
    """How many coefficients a feature has, as `penalty_of` asks: for more than two they enter together."""
    return max(task.width[0], 3) if task.width and task.loss.labels == "real" else (*task.width, 2)[0]


class DCBase(Described, Followed, Exported, WithParts, CallbackSupportMixin, BaseEstimator):
    """A linear model with a loss and a penalty by name or instance."""

    # ---- methods that a classifier and a regressor define

    @abstractmethod
    def _targets(self, y: NDArray[Any], weights: NDArray[Any] | None, dtype: Any) -> tuple[Any, Any, Loss, Any]:
        """(coded labels, weights, loss, width) of training data; sets the attributes that describe the labels."""

    @abstractmethod
    def _examine_targets(self, y: Any) -> None:
        """Refuse labels that scikit-learn would convert, or would refuse without naming the row."""

    @abstractmethod
    def _attributes(self, x: NDArray[Any]) -> dict[str, Any]:
        """coef_ and intercept_ from a solution."""

    # ---- fit

    @with_callbacks
    @elsewhere(groups="cv=list(GroupKFold(5).split(X, y, groups)), to DCClassifierCV or DCRegressorCV")
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Any:  # fmt: skip
        """Fit to X (N, d), y (N,). `sample_weight` counts repetitions: 2 is the same as the row twice.

        X may be what `dcopt.open` gives, which brings its labels and weights: y is None.
        For DCRegressor: the score of row i is ⟨a_i, x⟩ + b + offset_i, and with a log link + log(exposure_i).
        Ctrl-C sets the attributes from the present point of the fit and then raises KeyboardInterrupt.
        """
        with nothing_half_done(self):
            end = self._fit(X, y, sample_weight, Offsets(offset, exposure))
        if end.ctrl_c:
            raise KeyboardInterrupt
        messages.warn(end.warning, end.hint)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, offsets: Offsets = NO_OFFSETS) -> End:
        task = self._task(X, y, sample_weight, offsets)
        r, x0 = self._start(task)
        last = getattr(self, "x_", None)
        near = self.warm_start and last is not None and last.shape == x0.shape
        if near and last is not None:
            x0 = task.scaled(last.astype(x0.dtype))
        ways = choices(self.solver, task, r, bool(self.search), near)
        if self.search and r.L2 != 0.0 and entries(r, np.zeros(task.shape)) is None:
            expected = f"False: the penalty ({type(r).__name__}) is no sum over single coefficients"
            raise BadSettings("search", True, expected)
        context = self._open_tasks(X, y)
        whole = task
        budget, patience, task = self._budget(task, x0, context)
        if self.verbose:
            lines = Lines(lambda: task.problem(r, ways[0].decomposition), self.measure, int(self.verbose))
            budget = budget._replace(callbacks=[*budget.callbacks, EveryPass(task.n, lines)])
        r, start = begun(task, r, x0, ways, budget)
        done = run(task, r, start, ways, budget)
        if patience is not None and patience.over:
            done = early(done, task, r, patience, budget)
        self._keep(done, r, whole, budget)
        if context is not None:
            attributes = self._attributes(task.in_units(done.x))
            context.call_on_fit_task_end(estimator=self, reconstruction_attributes=lambda: attributes)
        warning = None if patience is not None and patience.over else messages.complaint(whole, done, budget)
        return End(warning, uneven_columns(self, whole, r), done.ctrl_c)

    # ---- its steps

    def _task(self, X: Any, y: Any, sample_weight: Any, offsets: Offsets = NO_OFFSETS) -> Task:
        if isinstance(X, Parted):
            return parted_task(self, X, y, sample_weight, offsets)
        shape = np.asarray(y).shape
        numbers = {"y_numeric": True, "multi_output": len(shape) == 2 and shape[1] > 1}
        numbers = numbers if self._estimator_type_ == "regressor" else {}
        examine(X, y=y, sample_weight=sample_weight)
        self._examine_targets(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, **numbers)
        weights = weights_of(X, sample_weight)
        rows, counts = check.as_rows(X), weights
        labels, weights, loss, width = self._targets(y, weights, rows.dtype)
        if (known := offsets.of(len(y), loss)) is not None:
            if labels.ndim == 2:
                raise BadSettings("offset", offsets, "None for several targets: subtract it from them")
            labels, loss = np.stack([labels, known.astype(labels.dtype)], axis=1), WithOffset(loss)
        columns, intercept = columns_of(rows, weights), bool(self.fit_intercept)
        scaling = scaling_of(columns, rows.can().stored is not None, intercept) if self.standardize else None
        own = rows if scaling is None else scaling.of(rows)
        return Task(own, labels, weights, loss, width, intercept, counts, columns, rows, scaling)

    def _penalty(self, task: Task) -> Regularizer:
        require(isinstance(self.standardize, bool | np.bool_), "standardize", self.standardize, "True or False")
        names = getattr(self, "feature_names_in_", None)
        bounds = task.limits(limits(self.positive, self.bounds))
        r = penalty_of(self.penalty, self.groups, self.unpenalized, names, task.d, _together(task), bounds)
        if self.standardize and bounds is None and not hasattr(r, "lam") and not homogeneous(r):
            expected = f"False: {type(r).__name__} limits coefficients in the units of the data"
            raise BadSettings("standardize", True, expected)
        return r

    def _start(self, task: Task) -> tuple[Regularizer, NDArray[Any]]:
        """The penalty with its λ, and the model without features."""
        wide = task.loss.labels != "real" and task.total < task.d
        default = LAM_SHARE_WIDE if wide else LAM_SHARE
        r, share = chosen_lam(self._penalty(task), self.penalty, self.lam, self.lam_scale, default)
        P = task.problem(r)
        x0 = null_model(P)
        if share:
            r = with_lam(r, r.lam * lam_max(P, x0))  # type: ignore[attr-defined]  # else refused by lam_max
        return r, x0

    def _budget(self, task: Task, x0: NDArray[Any] | None, context: Any) -> tuple[Budget, Patience | None, Task]:
        """The arguments of solve, the rows that are set aside, and the task without them."""
        pick("measure", self.measure, MEASURES)
        require_number("tol", self.tol, 0.0)
        require_number("max_passes", self.max_passes, 0.0)
        if self.max_seconds is not None:
            require_number("max_seconds", self.max_seconds, 0.0)
        require(isinstance(self.search, bool | np.bool_), "search", self.search, "True or False")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        if self.callbacks is not None:
            require_observers(self.callbacks)
        require(isinstance(self.verbose, int | np.integer | np.bool_), "verbose", self.verbose, "a whole number")
        callbacks, patience = list(self.callbacks or ()), None
        if self.validation_fraction is not None and x0 is not None:
            # Importing it takes a tenth of the time to a first model.
            from sklearn.model_selection import train_test_split

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
        if context is not None and getattr(self, "_skl_callbacks", None):
            shown = task

            def attributes(x: NDArray[Any]) -> dict[str, Any]:
                return self._attributes(shown.in_units(x))

            callbacks.append(EveryPass(task.n, scikit_learn_tasks(self, context, attributes)))
        passes, seconds = float(self.max_passes), self.max_seconds
        # On a path the search is off, so that solutions stay near the one before.
        search = bool(self.search) and x0 is not None
        return Budget(float(self.tol), self.measure, passes, seconds, seed, callbacks, search), patience, task

    def _open_tasks(self, X: Any, y: Any) -> Any:
        if not hasattr(self, "_init_callback_context"):
            return None
        context = self._init_callback_context(max_subtasks=None)
        return context.call_on_fit_task_begin(estimator=self, X=X, y=y)

    def _keep(self, done: Done, r: Regularizer, task: Task, budget: Budget) -> None:
        """The attributes of a fitted estimator."""
        for name, value in self._attributes(task.in_units(done.x)).items():
            setattr(self, name, value)
        self.lam_ = getattr(r, "lam", None)
        self.scale_ = None if task.columns is None else task.columns.deviation
        self.n_iter_, self.status_ = done.seen.steps, done.result.status.name
        self.certificate_, self.solver_ = messages.certified(task, done, budget), done.choice
        self.trace_ = Trace(done.result.trace.measure, list(done.seen.records))
        self.objective_ = done.result.certificate.F
        self.notes_ = notes_of(self, task, r)
        for name in ("stream_", "drift_"):
            self.__dict__.pop(name, None)  # The attributes of an earlier stream are removed.
        if self.verbose:
            say_end(self.certificate_)

    # ---- predictions

    def _scores(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        if isinstance(X, Parted):
            return parted_scores(self, X)
        examine(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        scores: NDArray[Any] = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
