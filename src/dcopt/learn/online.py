"""partial_fit: PAGE on arriving samples. The result does not depend on how the stream is cut into calls."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ..convex import ScaledIdentity
from ..data import check
from ..data.stream import Stream
from ..errors import BadInput, BadSettings, pick, require_count, require_number
from ..estimators import PAGE
from ..fit.parts import part_of
from ..fit.standard import columns_of
from ..fit.task import Task
from ..measures import CONFIDENCE, MEASURES, sample_bound, scale
from ..problem import Problem
from ..regularizers import L0, Regularizer
from ..solve import iterate
from ..state import Certificate, State
from ..status import Status
from ..sums import LinearSum, Parted, StreamSum
from ..sums.constants import majorizing_kappa, require_bounded
from . import messages
from .base import FLOATS, DCBase
from .certificate import FitCertificate
from .door import examine
from .ending import nothing_half_done
from .parted import learn_parts

_OFTEN = 10**6  # The largest number of repetitions of a sample in one call.
_RECENT, _PAST = 4.0, 40.0  # The lengths of the two running means of the loss, in held-out samples.


class _NothingCame(Exception):
    """All weights are 0, so that the estimator does not change."""


@dataclass(frozen=True, eq=False)
class Memory:
    """The memory of a stream. Samples wait until the next batch of PAGE is complete."""

    dtype: Any
    sparse: bool
    seed: int
    held: tuple[Any, Any] | None = None  # The held-out sample.
    waiting: tuple[Any, Any] | None = None
    start: Any = None  # The start of the first step: the solution of an earlier fit, or the model without features.
    state: State | None = None
    seen: int = 0
    recent: float = math.nan  # Means of the loss of samples, computed before PAGE uses them.
    past: float = math.nan
    deviations: Any = None  # The deviations of the columns of the held-out sample.
    warned: bool = False  # Whether the user was warned that the estimator only collects samples.


class Online(DCBase):
    """partial_fit for estimators with one λ."""

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Any:
        """Learn from the next samples, each seen once. `classes`: all labels there will be, at the first call.
        `sample_weight`: whole numbers, how often each of them comes; none, if all are 0.

        The first `holdout` samples are kept for the certificate; then PAGE takes batches of `holdout` or of its square
        root, at random, and samples that do not fill a batch wait. `drift_` compares the loss of recent
        samples, before they were learned from, with that of the past: well above 1, the source has changed.
        Until the first step, which needs 2 · `holdout` samples, it predicts as before: a UserWarning says so once.
        """
        if isinstance(X, Parted):
            return learn_parts(self, X, y, classes, sample_weight)
        if self.standardize:
            expected = "False in partial_fit: the deviations of a stream's columns are not known in advance"
            raise BadSettings("standardize", self.standardize, expected)
        if isinstance(part_of("penalty", self.penalty), L0):
            raise BadSettings("penalty", self.penalty, "one without a size k in partial_fit: exchanges need all rows")
        if getattr(self, "class_weight", None) is not None:
            raise BadSettings("class_weight", self.class_weight, "None: partial_fit gives all samples the same weight")
        examine(X, y=y, sample_weight=sample_weight)
        self._examine_targets(y)
        waits, warned = None, False
        with suppress(_NothingCame), nothing_half_done(self):
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=FLOATS, reset=not hasattr(self, "coef_"),
                **({"y_numeric": True} if self._estimator_type_ == "regressor" else {}),
            )  # fmt: skip
            self._declare(y, classes)
            often = None if sample_weight is None else _repetitions(sample_weight, len(y))
            pick("measure", self.measure, MEASURES)
            require_number("tol", self.tol, 0.0)
            memory = self.__dict__.get("stream_") or self._new_memory(X)
            X = _formed(memory, X)
            self._sample(X, y)  # Malformed input is refused here, where row numbers are those of the caller.
            X, y = (X, y) if often is None else (X[often], y[often])
            if not len(y):
                raise _NothingCame
            warned, waits = memory.warned, self._learn(_joined(replace(memory, warned=True), X, y))
        if waits is not None and not warned:
            messages.warn_of_waiting(waits)
        return self

    def _declare(self, y: Any, classes: Any) -> None:
        """The classes of the stream, known before its first sample."""
        if self._estimator_type_ == "regressor":
            return
        check_classification_targets(y)
        known = getattr(self, "classes_", None)
        if classes is not None:
            given = check.declared(classes, "class")
            assert given is not None
            if known is not None and not np.array_equal(given, known):
                raise BadInput("classes", f"{given} are not those of the first call, {known}")
            self._loss(len(given))  # This refuses a loss for two classes if there are more.
            self.classes_ = given
        elif known is None:
            raise BadInput("classes", "must be given at the first call of partial_fit: the labels that may come")

    def _new_memory(self, X: Any) -> Memory:
        require_count("holdout", self.holdout, 2)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return Memory(X.dtype, hasattr(X, "tocsr"), seed, start=getattr(self, "x_", None))

    def _sample(self, X: Any, y: Any) -> Task:
        """A task from samples of the stream."""
        c = len(getattr(self, "classes_", ()))
        loss, rows = self._loss(c), check.as_rows(X)
        labels = check.codes(y, len(y), loss.labels, getattr(self, "classes_", None), rows.dtype)
        return Task(rows, labels, None, loss, (c,) if loss.labels == "class" else (), bool(self.fit_intercept))

    def _learn(self, memory: Memory) -> str | None:
        """Make steps from all samples that fill a batch. Returns a warning if no step has been made yet."""
        assert memory.waiting is not None
        X, y = memory.waiting
        all_of_it = self._sample(X, y)
        at = 0
        if memory.held is None:
            if len(y) < self.holdout:
                r, x0 = self._start(all_of_it)
                return self._show(memory, self._first(memory, x0), r, f"waiting for {self.holdout} samples")
            at = int(self.holdout)
            deviations = columns_of(check.as_rows(X[:at])).deviation
            memory = replace(memory, held=(X[:at], y[:at]), deviations=deviations)
        held = self._sample(*memory.held)  # type: ignore[misc]  # is there now
        (r, x0), state = self._start(held), memory.state
        P = self._problem(held, r, X[at:], y[at:])
        first = at
        b = len(held.labels)
        page = PAGE(p=1.0 / math.isqrt(b), b_small=math.isqrt(b), b=b)
        x = self._first(memory, x0) if state is None else state.x
        begin = {"x0": x} if state is None else {"state": state}
        f: Any = P.sum
        for state in iterate(P, page, seed=memory.seed, **begin):
            batch = np.arange(at, first + f.stream.drawn)
            memory = self._watch(memory, all_of_it, x, batch)
            x, at = state.x, at + len(batch)
        memory = replace(memory, waiting=(X[at:], y[at:]), state=state)
        return self._show(memory, x, r, self._certify(P, x, state))

    def _first(self, memory: Memory, x0: Any) -> Any:
        """The start of a stream: the solution of an earlier fit of the same shape, or the model without features."""
        return memory.start if memory.start is not None and memory.start.shape == x0.shape else x0

    def _problem(self, held: Task, r: Regularizer, X: Any, y: Any) -> Problem:
        mine = held.problem(r)
        rows = mine.sum.facts().rows
        assert isinstance(rows, LinearSum)  # The task has just made it.
        samples = Stream([(X, y)] if len(y) else [], held.loss.labels, getattr(self, "classes_", None), held.d)
        require_bounded(rows, "partial_fit")
        return Problem(ScaledIdentity(majorizing_kappa(rows)), r=mine.r, f=StreamSum(samples, held.loss, rows))

    def _watch(self, memory: Memory, task: Task, x: Any, batch: Any) -> Memory:
        """Add the loss of a batch, before a step uses it, to two running means of different lengths."""
        x = np.asarray(x)
        z = task.rows.dot(np.ascontiguousarray(x[: task.d]), batch) + (x[-1] if task.intercept else 0.0)
        loss, size = float(np.mean(task.loss.value(z, task.labels[batch]))), len(batch) / self.holdout

        def mixed(old: float, span: float) -> float:
            return loss if math.isnan(old) else old + (loss - old) * -math.expm1(-size / span)

        return replace(memory, recent=mixed(memory.recent, _RECENT), past=mixed(memory.past, _PAST))

    def _certify(self, P: Problem, x: Any, state: State | None) -> Certificate:
        point = P.examine(np.asarray(x, np.float64))
        value = MEASURES[self.measure](P, point)
        may_be = sample_bound(P, self.measure, point, value)
        t, n = 0 if state is None else state.t, str(P.evaluation_sum.n)
        nnz = int(np.count_nonzero(x))
        size = scale(P, self.measure, point.x)
        tol, sample = float(self.tol) * size, (may_be.bound, CONFIDENCE, may_be.spread)
        return Certificate(self.measure, value, tol, n, t, point.F, nnz, *sample, size, P.r.certifies)

    def _show(self, memory: Memory, x: Any, r: Regularizer, said: Certificate | str) -> str | None:
        for name, value in self._attributes(np.array(x)).items():
            setattr(self, name, value)
        self.stream_, self.lam_ = memory, getattr(r, "lam", None)
        for name in ("objective_", "solver_", "trace_"):
            self.__dict__.pop(name, None)  # These are attributes of an earlier fit.
        if memory.deviations is not None:
            self.scale_ = memory.deviations
        self.n_iter_ = 0 if memory.state is None else memory.state.t
        met = isinstance(said, Certificate) and None not in (said.bound, said.tol) and said.bound <= said.tol  # type: ignore[operator]
        status = Status.ACCEPTABLE if met else Status.WAITING
        self.status_ = status.name
        value, tol = (said.value, said.tol) if isinstance(said, Certificate) else (None, None)
        text = f"{said}; {memory.seen} samples seen; {status.name}: {status.value}"
        self.certificate_ = FitCertificate(self.measure, value, tol, text)
        waits = None if self.n_iter_ else messages.waits(memory.seen, int(self.holdout))
        self.notes_ = () if waits is None else (waits,)
        self.drift_ = memory.recent / memory.past if memory.past > 0.0 else 1.0
        return waits


def _repetitions(weights: Any, n: int) -> Any:
    """The numbers of n samples, each as often as it comes"""
    often = check.vector(weights, "sample_weight", n)
    bad = np.flatnonzero((often < 0.0) | (often > _OFTEN) | (often != np.floor(often)))
    if bad.size:
        said = f"{often[bad[0]]:g} is not a whole number from 0 to {_OFTEN}"
        why = "in partial_fit a weight says how often a sample comes"
        raise BadInput("sample_weight", f"{said}: {why}", row=int(bad[0]))
    return np.repeat(np.arange(n), often.astype(np.int64))


def _formed(memory: Memory, X: Any) -> Any:
    """X in the form of the first samples: dense or CSR, and their precision"""
    if memory.sparse:
        from scipy.sparse import csr_array

        return csr_array(X, dtype=memory.dtype)
    with np.errstate(over="ignore"):  # A number too large for float32 is refused with its row.
        return np.array(X.toarray() if hasattr(X, "toarray") else X, memory.dtype, order="C")


def _joined(memory: Memory, X: Any, y: Any) -> Memory:
    """The waiting samples and the new ones"""
    if memory.sparse:
        from scipy.sparse import vstack

        both = X if memory.waiting is None else vstack([memory.waiting[0], X], format="csr")
    else:
        both = X if memory.waiting is None else np.concatenate([memory.waiting[0], X])
    labels = np.array(y) if memory.waiting is None else np.concatenate([memory.waiting[1], y])
    return replace(memory, waiting=(both, labels), seen=memory.seen + len(y))
