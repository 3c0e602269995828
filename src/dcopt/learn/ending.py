"""The end of a fit: the attributes that are kept, the warnings, and the protection against half-fitted estimators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..fit.standard import uneven
from ..fit.task import Budget, Done, Task
from ..measures import MEASURES
from ..regularizers import Regularizer
from ..state import Certificate
from .callbacks import Patience


class End(NamedTuple):
    """The warning or the error that a fit raises after it has set its attributes."""

    warning: str | None
    hint: str | None
    ctrl_c: bool


def early(done: Done, task: Task, r: Regularizer, patience: Patience, budget: Budget) -> Done:
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


def uneven_columns(estimator: Any, task: Task, r: Regularizer) -> str | None:
    """A hint if the columns have very different units, on which the penalty depends."""
    if task.columns is None or task.scaling is not None or not getattr(r, "lam", 0.0):
        return None
    return uneven(task.columns, getattr(estimator, "feature_names_in_", None))


def notes_of(estimator: Any, task: Task, r: Regularizer) -> tuple[str, ...]:
    """The notes for a reader of the model."""
    empty = None
    if getattr(r, "lam", 0.0) and not np.any(estimator.coef_):
        empty = "no feature is in the model: a smaller lam lets some in"
    return tuple(note for note in (uneven_columns(estimator, task, r), empty) if note is not None)


@contextmanager
def nothing_half_done(estimator: Any) -> Iterator[None]:
    """After an error the estimator is as it was before: fitted as before, or not fitted."""
    before = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    try:
        yield
    except BaseException:
        for name in [name for name in vars(estimator) if name.endswith("_") and not name.endswith("__")]:
            delattr(estimator, name)
        vars(estimator).update(before)
        raise
