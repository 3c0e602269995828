"""All checks of users' arrays: matrices and weights here, arrays of numbers in arrays.py, labels in labels.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .arrays import LIMIT, dense, finite, not_empty, point, real_array, unmasked, vector
from .labels import (
    class_labels,
    codes,
    declared,
    in_domain,
    is_missing,
    label_array,
    labels,
    object_labels,
    target_columns,
)
from .rows import Declared, RowMatrix

__all__ = [
    "as_rows", "class_labels", "codes", "declared", "dense", "finite", "in_domain", "is_missing", "label_array",
    "labels", "not_empty", "object_labels", "point", "real_array", "sample_weights", "stacked", "target_columns",
    "unmasked", "vector", "weigh_classes",
]  # fmt: skip


def as_rows(X: Any, name: str = "X") -> RowMatrix:
    """A row matrix from a dense array, any SciPy sparse matrix, a data frame or a list of lists."""
    if all(hasattr(X, verb) for verb in ("dot", "tdot", "take", "norms2")):
        own: RowMatrix = X if callable(getattr(X, "can", None)) else Declared(X)
        return own
    if hasattr(X, "tocsr"):
        from .sparse import sparse_rows

        return sparse_rows(X, name)
    return _dense(X, name)


def stacked(X: Any, Y: Any, name: str) -> RowMatrix:
    """The rows of X above those of Y, both dense or both sparse; `name` is that of Y."""
    above, below = as_rows(X), as_rows(Y, name)
    if hasattr(X, "tocsr") and hasattr(Y, "tocsr"):
        from scipy.sparse import vstack

        return as_rows(vstack([X.tocsr(), Y.tocsr()], format="csr"))
    from .dense import DenseRows

    if isinstance(above, DenseRows) and isinstance(below, DenseRows):
        return DenseRows(np.concatenate([above.a, below.a]))
    raise BadInput(name, "expected the kind of the rows above: both dense or both sparse")


def _dense(X: Any, name: str) -> RowMatrix:
    from .dense import DenseRows

    a = real_array(X, name)
    if a.ndim != 2:
        raise BadInput(name, f"expected 2 dimensions, got shape {a.shape}")
    not_empty(a.shape, name)
    rows = DenseRows(np.require(a, requirements=["C", "A"]))
    if not float(rows.norms2().max()) <= LIMIT[a.dtype] ** 2:  # The norms are needed anyway, and depend on every entry.
        finite(a, name)
    return rows


def weigh_classes(weights: NDArray[Any] | None, labels: NDArray[Any], classes: NDArray[Any] | None) -> None:
    """Refuse weights that leave only one class with positive weight."""
    if weights is None or classes is None:
        return
    left = np.unique(labels[weights > 0])
    if len(left) < 2:
        only = classes[int(left[0] > 0) if labels.dtype.kind == "f" else int(left[0])]
        raise BadInput("sample_weight", f"1 class ({only}) has weight: at least 2 are needed")


def sample_weights(weights: Any, n: int, dtype: Any) -> NDArray[Any] | None:
    """Weights ≥ 0, scaled to mean 1, so that F is the weighted mean of the losses."""
    if weights is None:
        return None
    w = vector(weights, "sample_weight", n).astype(np.float64)
    bad = np.flatnonzero(w < 0)
    if bad.size:
        raise BadInput("sample_weight", f"{w[bad[0]]} is negative", row=int(bad[0]))
    if not w.any():
        raise BadInput("sample_weight", "all weights are zero")
    w /= w.max()  # The sum of the scaled weights cannot overflow.
    scaled: NDArray[Any] = (w * (n / w.sum())).astype(dtype)
    return scaled
