"""The messages of a fit: the sentence of its certificate, and a warning if it has not converged."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..errors import ColumnScaleWarning
from ..fit.task import Budget, Done, Task
from ..status import Status
from .certificate import FitCertificate

_UNEVEN = 1e3  # A larger ratio of the sizes of columns (root mean squares) slows down a fit.


def certified(task: Task, done: Done, budget: Budget) -> FitCertificate:
    """The certificate of a fit."""
    own = done.result.certificate
    tol = budget.tol if own.tol is None else own.tol
    return FitCertificate(own.measure, float(own.value), tol, sentence(task, done))


def sentence(task: Task, done: Done) -> str:
    """A sentence with the certificate, the cost and the reason of the end."""
    result, spent = done.result, f"{done.seen.passes:.4g} passes of {done.choice.method}"
    if result.status.success and not done.seen.steps:
        spent = f"no step of {done.choice.method} was needed from where the fit began"
    of = "" if task.scaling is None else "; of the standardised columns"
    return f"{result.certificate}; {spent}{of}; {result.status.name}: {result.message}"


def complaint(task: Task, done: Done, budget: Budget) -> str | None:
    """The text of the warning, None where a tolerance was met."""
    status = done.result.status
    if status.success:
        return None
    limit = f"max_passes={budget.passes:g}" + ("" if budget.seconds is None else f", max_seconds={budget.seconds:g}")
    return f"not converged, {sentence(task, done)}. Budget: {limit}. Hint: {_hint(task, done, budget)}."


def warn(text: str | None, hint: str | None = None) -> None:
    """The warnings of a fit: that it has not converged, or else one hint.

    They come last, so that the estimator is fitted even if warnings are errors.
    """
    if text is not None:
        warnings.warn(text, ConvergenceWarning, stacklevel=4)
    elif hint is not None:
        warnings.warn(hint, ColumnScaleWarning, stacklevel=4)


def warn_of_waiting(text: str) -> None:
    """The warning of partial_fit when it first only collects samples."""
    warnings.warn(text, UserWarning, stacklevel=3)


def waits(seen: int, holdout: int) -> str:
    """The sentence of partial_fit before its first step."""
    return (
        f"partial_fit has {seen} samples and needs {2 * holdout} for its first step, {2 * holdout - seen} more: the "
        f"first {holdout} are kept for the certificate, the next {holdout} are the first batch. Until then it predicts "
        "as it did before, without features if it was not fitted; a smaller holdout begins earlier"
    )


def _hint(task: Task, done: Done, budget: Budget) -> str:
    if task.columns is not None and task.scaling is None:
        size = task.columns.size[task.columns.size > 0.0]
        ratio = float(size.max() / size.min()) if size.size else 1.0
        if ratio > _UNEVEN:
            return f"columns differ in scale by {ratio:.0e}: standardise them, for example with standardize=True"
    status, eps = done.result.status, float(np.finfo(task.rows.dtype).eps)
    if status is Status.TIME:
        return "raise max_seconds"
    if status is Status.INTERRUPTED:
        return "a callback ended the fit"
    if status is Status.STALLED or budget.tol < 10 * eps:
        other = ", or use float64" if eps > 1e-10 else ""
        return f"tol={budget.tol:g} is below what rounding allows: raise tol{other}"
    if task.loss.labels != "real" and float(np.abs(done.x).max(initial=0.0)) > 50.0:
        return "the coefficients grow without end, the classes may be separable: raise lam"
    if status is Status.BUDGET:
        certificate = done.result.certificate
        times = certificate.value / certificate.tol if certificate.tol else np.inf
        return f"raise max_passes (the measure is {times:.2g} times its tolerance)"
    return "centre and scale the columns, raise tol, or try another solver"
