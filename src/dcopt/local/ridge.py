"""The ridge μR that makes a model positive definite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sums.curvature import Curvature

_FLAT = 1e-3  # share of the largest curvature, below which f is taken for flat
_LITTLE = 1e-6  # share of the mean of the diagonal: a column with next to no curvature
_NONE = 1e-16  # share of the mean of the diagonal: a column of zeros gets this


def ridge_of(
    C: Curvature, columns: NDArray[np.int64], h: NDArray[Any], kept: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """R's diagonal: Q's own, h, so that columns of any scale are as those of length 1.

    At least 1e-3 of what h is at most where f is flat, its mean curvature w|φ''| being less than that, and in columns
    with next to no curvature. The same for all of k classes: where ∇f sums to 0 over them, so does a step. `kept`: the
    columns that are not eliminated, whose means are the others'.
    """
    k = len(h) // len(columns)
    h = h if k == 1 else h.reshape(-1, k).mean(axis=1)
    middle = float(h.sum()) / len(h)
    thin = np.full(len(h), True) if C.mean_bend < _FLAT else h <= _LITTLE * middle
    if thin.any():
        thin = thin if kept is None else thin & kept  # Little may be left of an intercept without the others.
        h = np.where(thin, np.maximum(h, _FLAT * C.steepest * C.mean_squares(columns, kept is not None)), h)
        h = np.maximum(h, max(_NONE * middle, 1e-300))  # a column of zeros
    return h if k == 1 else np.repeat(h, k)
