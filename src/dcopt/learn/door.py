"""Checks before scikit-learn converts its input, which would drop masks, convert dates to numbers, or crash."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from ..data import check
from ..data.numeric import numeric
from ..data.sparse import well_formed
from ..errors import BadInput


def examine(X: Any, **vectors: Any) -> None:
    """Refuse rows that are masked, malformed, or hold dates or text, and vectors that are masked."""
    for name, values in {"X": X, **vectors}.items():
        check.unmasked(values, name)
    if hasattr(X, "tocsr"):
        well_formed(X, "X")
    else:
        numeric(X, "X")


def weights_of(X: Any, sample_weight: Any) -> NDArray[np.float64] | None:
    """The weights of the rows of X, which count repetitions; refuses negative ones, and those that are all 0"""
    if sample_weight is None:
        return None
    weights = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64), np.float64)
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    check.sample_weights(weights, len(weights), np.float64)  # This refuses negative weights.
    if not weights.max() <= np.finfo(np.float64).max / len(weights):
        raise BadInput("sample_weight", "their sum, the number of observations, is not finite: scale them")
    return weights
