"""What a fit says: one sentence, and one warning where there is no certificate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.rows import RowMatrix
from ..status import Status
from .task import Budget, Done, Task

_UNEVEN = 1e3  # scales of columns that differ by more are worth a hint


def sentence(done: Done) -> str:
    """The certificate, what it took, and what stopped it."""
    result, spent = done.result, f"{done.seen.passes:.4g} passes of {done.choice.method}"
    return f"{result.certificate}; {spent}; {result.status.name}: {result.message}"


def complaint(task: Task, done: Done, budget: Budget) -> str | None:
    """The text of the warning, None where a tolerance was met."""
    status = done.result.status
    if status.success:
        return None
    limit = f"max_passes={budget.passes:g}" + ("" if budget.seconds is None else f", max_seconds={budget.seconds:g}")
    return f"not converged, {sentence(done)}. Budget: {limit}. Hint: {_hint(task, done, budget)}."


def warn(text: str | None) -> None:
    """The only warning of the package. Said when all else is done: as an error, too, it leaves a fitted estimator."""
    if text is not None:
        warnings.warn(text, ConvergenceWarning, stacklevel=4)


def _hint(task: Task, done: Done, budget: Budget) -> str:
    ratio = _uneven(task.rows)
    if ratio > _UNEVEN:
        return f"columns differ in scale by {ratio:.0e}: standardise"
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


def _uneven(rows: RowMatrix) -> float:
    """The largest over the smallest root mean square of a column that is not empty."""
    size = np.sqrt(column_squares(rows))
    size = size[size > 0.0]
    return float(size.max() / size.min()) if size.size else 1.0


def column_squares(rows: Any) -> Any:
    """Σ_i a_ij² for every column."""
    if hasattr(rows, "indices"):
        return np.bincount(rows.indices, np.asarray(rows.data, np.float64) ** 2, rows.shape[1])
    return np.einsum("ij,ij->j", rows.a, rows.a, dtype=np.float64)
