"""The ridge μR that makes a model positive definite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sums.curvature import Curvature
from .policy import FLAT

_NONE = 1e-16  # The share of the mean of the diagonal that a column of zeros gets: rounding leaves no more of it.


def ridge_of(
    C: Curvature, columns: NDArray[np.int64], h: NDArray[Any], kept: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """R's diagonal: Q's own, h, so that columns of any scale are as those of length 1.

    At least 1e-3 of what h is at most where f is flat, its mean curvature w|φ''| being less than that, and in columns
    with 1e-3 of the mean curvature or less. The same for all of k classes: where ∇f sums to 0 over them, so does a
    step. `kept`: the columns that are not eliminated, whose means are the others'.
    """
    k = len(h) // len(columns)
    h = h if k == 1 else h.reshape(-1, k).mean(axis=1)
    middle = float(h.sum()) / len(h)
    thin = np.full(len(h), True) if C.mean_bend < FLAT else h <= FLAT * middle
    if thin.any():
        # When the others follow, little curvature is left of an intercept, which is not flat.
        thin = thin if kept is None else thin & kept
        h = np.where(thin, np.maximum(h, FLAT * C.steepest * C.mean_squares(columns, kept is not None)), h)
        h = np.maximum(h, max(_NONE * middle, 1e-300))  # a column of zeros
    return h if k == 1 else np.repeat(h, k)
