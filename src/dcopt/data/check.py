"""The only door: user arrays are examined here and nowhere else, and never changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .rows import Declared, RowMatrix

_NO_NUMBERS = str, bytes, np.complexfloating, np.datetime64, np.timedelta64  # which NumPy would make numbers of
# beyond it ‖a_i‖⁴ (float64) or the entries of AᵀA (float32) overflow
_LIMIT = {np.dtype(np.float64): 1e70, np.dtype(np.float32): 1e15}


def as_rows(X: Any, name: str = "X") -> RowMatrix:
    """A row matrix from a dense array, any SciPy sparse matrix, a data frame or a list of lists."""
    if all(hasattr(X, verb) for verb in ("dot", "tdot", "take", "norms2")):
        own: RowMatrix = X if callable(getattr(X, "can", None)) else Declared(X)
        return own
    if hasattr(X, "tocsr"):
        from .sparse import sparse_rows

        return sparse_rows(X, name)
    return _dense(X, name)


def _dense(X: Any, name: str) -> RowMatrix:
    from .dense import DenseRows

    a = real_array(X, name)
    if a.ndim != 2:
        raise BadInput(name, f"expected 2 dimensions, got shape {a.shape}")
    not_empty(a.shape, name)
    rows = DenseRows(np.ascontiguousarray(a))
    if not float(rows.norms2().max()) <= _LIMIT[a.dtype] ** 2:  # which is needed anyway, and knows every entry
        finite(a, name)
    return rows


def unmasked(values: Any, name: str) -> None:
    """Refuse masked entries, also of a list of arrays: np.asarray would drop the mask."""
    some = values if isinstance(values, (list, tuple)) else ()
    if np.ma.is_masked(values) or any(isinstance(v, np.ma.MaskedArray) and np.ma.is_masked(v) for v in some):
        raise BadInput(name, "has masked entries: missing values must be filled in or left out")


def dense(values: Any, name: str) -> None:
    """Refuse sparse matrices where a row of numbers is wanted: to NumPy each is one object."""
    if hasattr(values, "tocsr"):
        raise BadInput(name, "is a sparse matrix: give a dense array, toarray().ravel()")


def real_array(values: Any, name: str) -> NDArray[Any]:
    """A native float32 or float64 array: float32 stays, other numbers become float64, the rest is refused."""
    unmasked(values, name)
    dense(values, name)
    try:
        a = np.asarray(values)
    except (TypeError, ValueError) as why:
        raise BadInput(name, f"is not a rectangular array ({why})") from None
    if a.dtype.kind == "f":
        target = np.float32 if a.dtype.itemsize == 4 else np.float64
        return a.astype(target, copy=False)  # also native byte order
    if a.dtype.kind in "biu":
        return a.astype(np.float64)
    if a.dtype.kind == "O":
        try:
            if odd := [type(v).__name__ for v in a.flat if isinstance(v, _NO_NUMBERS)]:
                raise ValueError(odd[0])
            return a.astype(np.float64)
        except (OverflowError, TypeError, ValueError) as why:
            raise BadInput(name, f"holds objects that are not numbers ({why})") from None
    raise BadInput(name, f"expected real numbers, got dtype {a.dtype}")


def not_empty(shape: tuple[int, ...], name: str) -> None:
    if 0 in shape:
        raise BadInput(name, f"needs at least one row and one column, got shape {shape}")


def finite(a: NDArray[Any], name: str, place: Any = None) -> None:
    """Refuse NaN, infinities and numbers whose squares overflow, naming the first place."""
    limit = _LIMIT[a.dtype]
    if not a.size or max(a.max(), -a.min()) <= limit:  # NaN makes it False
        return
    bad = int(np.flatnonzero(~(np.abs(a) <= limit))[0])
    row, column = place(bad) if place else (int(i) for i in np.unravel_index(bad, a.shape))
    value = a.flat[bad]
    reason = f"{value:.3g} is too large, scale it" if np.isfinite(value) else f"is {value}"
    raise BadInput(name, reason, row=row, column=column)


def vector(values: Any, name: str, n: int) -> NDArray[Any]:
    """A finite vector of n numbers; a single column is taken as one."""
    v = real_array(values, name)
    if v.ndim == 2 and v.shape[1] == 1:
        v = v[:, 0]
    if v.shape != (n,):
        raise BadInput(name, f"expected shape ({n},), got {v.shape}")
    bad = np.flatnonzero(~np.isfinite(v))
    if bad.size:
        raise BadInput(name, f"is {v[bad[0]]}", row=int(bad[0]))
    return v


def labels(y: Any, n: int, kind: str, dtype: Any = np.float64) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Labels as the losses want them, and the classes: "binary" → −1/+1, "class" → 0 … c−1, "real" → as they are."""
    if kind == "real":
        v = vector(y, "y", n)
        with np.errstate(over="ignore"):
            v = v.astype(dtype)
        finite(v[:, None], "y", lambda k: (k, None))  # the squares of residuals, too, must be numbers
        return v, None
    a = label_array(y, n)
    if a.dtype.kind == "O":
        object_labels(a)
    if a.dtype.kind == "f" or (a.dtype.kind == "O" and not isinstance(a[0], (str, bytes))):
        v = vector(a, "y", n)
        fraction = np.flatnonzero(v != np.floor(v))
        if fraction.size:
            raise BadInput("y", f"{a[fraction[0]]} is not a class: continuous targets", row=int(fraction[0]))
    classes, codes = _classes(a)
    if len(classes) < 2:
        raise BadInput("y", f"1 class ({classes[0]}): at least 2 are needed")
    if kind == "binary":
        if len(classes) > 2:
            shown = ", ".join(map(str, classes[:5])) + (", …" if len(classes) > 5 else "")
            raise BadInput("y", f'{len(classes)} classes ({shown}): this loss takes two; use loss="softmax"')
        return (2 * codes - 1).astype(dtype), classes
    return codes.astype(np.int64), classes


def _classes(a: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes in order, and the number of each entry's; two of them are found without sorting."""
    if a.dtype.kind in "biuf":
        low, high = a.min(), a.max()
        upper = a == high
        if low < high and bool(np.all(upper | (a == low))):
            return np.array([low, high], a.dtype), upper.astype(np.int64)
    classes, codes = np.unique(a, return_inverse=True)
    return classes, codes


def codes(y: Any, n: int, kind: str, classes: NDArray[Any] | None, dtype: Any) -> NDArray[Any]:
    """Labels against classes declared before: what `labels` gives, with unknown ones refused by row."""
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
    """The classes that labels will come from, sorted; None where they are not known (or there are none)."""
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
        raise BadInput(name, "mixes strings and numbers")  # of which NumPy makes strings
    if a.ndim == 2 and a.shape[1] == 1:
        a = a[:, 0]
    if a.shape != (n,):
        raise BadInput(name, f"expected shape ({n},), got {a.shape}: one label for each row of X")
    if a.dtype.kind not in "biufUSTO":
        raise BadInput(name, f"expected numbers, strings or booleans, got dtype {a.dtype}")
    return a


def is_missing(label: Any) -> bool:
    """None, NaN, NaT, and what pandas has for them: what is not equal to itself."""
    same = label is not None and label == label
    return not (isinstance(same, bool | np.bool_) and same)


def object_labels(y: Any) -> None:
    """Refuse, among labels of any type, missing ones by their row, and strings beside numbers."""
    a = np.asarray(y)
    if a.dtype.kind != "O" or a.ndim == 0:
        return
    for row, label in enumerate(a.ravel()):
        if is_missing(label):
            raise BadInput("y", f"is {label}", row=row)
    if len({type(v) if isinstance(v, (str, bytes)) else None for v in a.ravel()}) > 1:
        raise BadInput("y", "mixes strings and numbers")


def weigh_classes(weights: NDArray[Any] | None, labels: NDArray[Any], classes: NDArray[Any] | None) -> None:
    """Refuse weights that leave one class."""
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
    w /= w.max()  # so that their sum cannot overflow
    scaled: NDArray[Any] = (w * (n / w.sum())).astype(dtype)
    return scaled


def point(x0: Any, shape: tuple[int, ...], dtype: Any, name: str = "x0") -> NDArray[Any]:
    """A start: a fresh, finite array of the problem's shape."""
    if x0 is None:
        return np.zeros(shape, dtype)
    with np.errstate(over="ignore"):  # too large for float32: inf, which is refused below
        x = np.array(real_array(x0, name), dtype=dtype, order="C")
    if x.shape != shape:
        raise BadInput(name, f"expected shape {shape}, got {x.shape}")
    bad = np.argwhere(~np.isfinite(x))
    if bad.size:
        raise BadInput(name, f"is {x[tuple(bad[0])]}", row=int(bad[0][0]))
    return x
