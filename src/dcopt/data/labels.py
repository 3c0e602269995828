"""Checks of users' labels and classes. They never change an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .arrays import dense, finite, real_array, unmasked, vector


def labels(y: Any, n: int, kind: str, dtype: Any = np.float64) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Labels as the losses want them, and the classes: "binary" → −1/+1, "class" → 0 … c−1, "real" → as they are."""
    if kind == "real":
        v = vector(y, "y", n)
        with np.errstate(over="ignore"):
            v = v.astype(dtype)
        finite(v[:, None], "y", lambda k: (k, None))  # The squares of residuals must be finite, too.
        return v, None
    a = class_labels(y, n)
    classes, codes = _classes(a)
    if len(classes) < 2:
        raise BadInput("y", f"1 class ({classes[0]}): at least 2 are needed")
    if kind == "binary":
        if len(classes) > 2:
            shown = ", ".join(map(str, classes[:5])) + (", …" if len(classes) > 5 else "")
            raise BadInput("y", f'{len(classes)} classes ({shown}): this loss takes two; use loss="softmax"')
        return (2 * codes - 1).astype(dtype), classes
    return codes.astype(np.int64), classes


def target_columns(y: Any, n: int, dtype: Any) -> NDArray[Any]:
    """Finite targets (n, k)"""
    a = real_array(y, "y")
    a = a[:, None] if a.ndim == 1 else a
    if a.ndim != 2 or a.shape[0] != n or not a.shape[1]:
        raise BadInput("y", f"expected shape ({n}, k): k targets for each row of X, got {a.shape}")
    with np.errstate(over="ignore"):
        a = a.astype(dtype)
    finite(a, "y")
    return a


def in_domain(labels: NDArray[Any], domain: str) -> None:
    """Refuse labels that the loss does not take: below 0, or not above it."""
    if domain == "any":
        return
    bad = np.flatnonzero(labels < 0.0 if domain == "nonnegative" else labels <= 0.0)
    if bad.size:
        wanted = "counts are 0 or more" if domain == "nonnegative" else "this loss takes numbers above 0"
        raise BadInput("y", f"{labels[bad[0]]:g}: {wanted}", row=int(bad[0]))
    if not labels.any():
        raise BadInput("y", "all counts are 0: the logarithm of their mean is not finite")


def class_labels(y: Any, n: int) -> NDArray[Any]:
    """One class a row: no missing labels, no fractions."""
    a = label_array(y, n)
    if a.dtype.kind == "O":
        object_labels(a)
    if a.dtype.kind == "f" or (a.dtype.kind == "O" and not isinstance(a[0], (str, bytes))):
        v = vector(a, "y", n)
        fraction = np.flatnonzero(v != np.floor(v))
        if fraction.size:
            raise BadInput("y", f"{a[fraction[0]]} is not a class: continuous targets", row=int(fraction[0]))
    return a


def _classes(a: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The sorted classes, and the index of the class of each entry. Two classes are found without sorting."""
    if a.dtype.kind in "biuf":
        low, high = a.min(), a.max()
        upper = a == high
        if low < high and bool(np.all(upper | (a == low))):
            return np.array([low, high], a.dtype), upper.astype(np.int64)
    classes, codes = np.unique(a, return_inverse=True)
    return classes, codes


def codes(y: Any, n: int, kind: str, classes: NDArray[Any] | None, dtype: Any) -> NDArray[Any]:
    """Labels of classes that were declared before, as `labels` gives them. An unknown label is refused with its row."""
    if kind == "real":
        return labels(y, n, kind, dtype)[0]
    a = label_array(y, n)
    if classes is None:
        return a
    if a.dtype.kind == "O" or (a.dtype.kind in "UST") != (classes.dtype.kind in "UST"):
        table = {value: k for k, value in enumerate(classes.tolist())}
        at = np.array([table.get(value, -1) if value.__hash__ else -1 for value in a.tolist()], np.int64)
        unknown = np.flatnonzero(at < 0)
    else:
        at = np.minimum(np.searchsorted(classes, a), len(classes) - 1)
        unknown = np.flatnonzero(classes[at] != a)
    if unknown.size:
        shown = ", ".join(str(c) for c in classes[:5])
        raise BadInput("y", f"{a[unknown[0]]} is not one of the classes ({shown})", row=int(unknown[0]))
    return (2 * at - 1).astype(dtype) if kind == "binary" else at.astype(np.int64)


def declared(classes: Any, kind: str) -> NDArray[Any] | None:
    """The sorted classes of the labels that will come; None where they are unknown or the targets are real."""
    if classes is None or kind == "real":
        return None
    a = label_array(classes, np.size(classes), "classes")
    if absent := [v for v in a.tolist() if is_missing(v)]:
        raise BadInput("classes", f"{absent[0]} is not a class")
    try:
        a = np.unique(a)
    except TypeError:
        raise BadInput("classes", "mixes strings and numbers") from None
    if len(a) < 2 or (kind == "binary" and len(a) > 2):
        raise BadInput("classes", f"{len(a)} classes: {'two' if kind == 'binary' else 'at least 2'} are needed")
    return a


def label_array(y: Any, n: int, name: str = "y") -> NDArray[Any]:
    """One label a row: numbers, strings or booleans."""
    unmasked(y, name)
    dense(y, name)
    try:
        a = np.asarray(y)
    except (TypeError, ValueError) as why:
        raise BadInput(name, f"is not a list of labels ({why})") from None
    if a.dtype.kind in "US" and isinstance(y, (list, tuple)) and not all(isinstance(v, (str, bytes)) for v in y):
        raise BadInput(name, "mixes strings and numbers")  # NumPy would convert the numbers to strings.
    if a.ndim == 2 and a.shape[1] == 1:
        a = a[:, 0]
    if a.shape != (n,):
        raise BadInput(name, f"expected shape ({n},), got {a.shape}: one label for each row of X")
    if a.dtype.kind not in "biufUSTO":
        raise BadInput(name, f"expected numbers, strings or booleans, got dtype {a.dtype}")
    return a


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or pandas.NA, none of which is equal to itself."""
    same = label is not None and label == label
    return not (isinstance(same, bool | np.bool_) and same)


def object_labels(y: Any) -> None:
    """Refuse missing labels, with their row, and strings mixed with numbers, in labels of any type."""
    a = np.asarray(y)
    if a.dtype.kind != "O" or a.ndim == 0:
        return
    for row, label in enumerate(a.ravel()):
        if is_missing(label):
            raise BadInput("y", f"is {label}", row=row)
    if len({type(v) if isinstance(v, (str, bytes)) else None for v in a.ravel()}) > 1:
        raise BadInput("y", "mixes strings and numbers")
