"""The folds of a cross-validation, as scikit-learn makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings, require
from ..fit.task import Task


def splits(cv: Any, task: Task) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The folds of `cv`: the rows to fit and the rows that are left out."""
    own = task.dealt(cv if isinstance(cv, int) else 5, 0) if cv is None or isinstance(cv, int) else None
    if own is not None:
        return [(np.flatnonzero(own != k), np.flatnonzero(own == k)) for k in range(int(own.max()) + 1)]
    from sklearn.model_selection import check_cv  # Importing it takes a tenth of the time to a first model.

    codes = task.fold_codes
    expected = f"a number of folds, or pairs (rows to fit, rows to leave out) of {task.n} rows"
    try:
        found = list(check_cv(cv, codes, classifier=codes is not None).split(np.zeros(task.n), codes))
    except (TypeError, ValueError) as why:
        more = "for folds of groups of rows: cv=list(GroupKFold(5).split(X, y, groups))"
        raise BadSettings("cv", cv, f"{expected} ({why}); {more}") from None
    require(bool(found), "cv", cv, "at least one split")
    for one in found:
        if not isinstance(one, tuple | list) or len(one) != 2 or any(np.ndim(rows) != 1 for rows in one):
            raise BadSettings("cv", cv, f"{expected}; one of its splits is {one!r}")
    return [(_numbers(train, task.n), _numbers(test, task.n)) for train, test in found]


def _numbers(rows: Any, n: int) -> NDArray[np.int64]:
    """The row numbers of a part of a fold, which may be given as a mask"""
    given = np.asarray(rows)
    require(given.size > 0, "cv", rows, "splits whose two parts have rows")
    try:
        given = given if given.dtype == np.bool_ else given.astype(np.int64, casting="same_kind")
        return np.asarray(np.arange(n)[given])
    except (IndexError, TypeError, ValueError) as why:
        raise BadSettings("cv", "a split", f"splits into row numbers below {n}, or masks ({why})") from None
