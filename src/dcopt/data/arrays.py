"""Checks of users' arrays of numbers. They never change an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput

_NO_NUMBERS = str, bytes, np.complexfloating, np.datetime64, np.timedelta64  # NumPy would convert them to numbers.
# Beyond this size ‖a_i‖⁴ (float64) or the entries of AᵀA (float32) overflow.
LIMIT = {np.dtype(np.float64): 1e70, np.dtype(np.float32): 1e15}


def unmasked(values: Any, name: str) -> None:
    """Refuse masked entries, also in a list of arrays, because np.asarray would drop the mask."""
    some = values if isinstance(values, (list, tuple)) else ()
    if np.ma.is_masked(values) or any(isinstance(v, np.ma.MaskedArray) and np.ma.is_masked(v) for v in some):
        raise BadInput(name, "has masked entries: missing values must be filled in or left out")


def dense(values: Any, name: str) -> None:
    """Refuse a sparse matrix where a dense array is expected. NumPy would treat it as one object."""
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
        return a.astype(target, copy=False)  # This also converts to the native byte order.
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
    limit = LIMIT[a.dtype]
    if not a.size or max(a.max(), -a.min()) <= limit:  # A NaN makes the comparison False.
        return
    bad = int(np.flatnonzero(~(np.abs(a) <= limit))[0])
    row, column = place(bad) if place else (int(i) for i in np.unravel_index(bad, a.shape))
    value = a.flat[bad]
    reason = f"{value:.3g} is too large, scale it" if np.isfinite(value) else f"is {value}"
    raise BadInput(name, reason, row=row, column=column)


def aligned(a: Any) -> Any:
    """The array, copied if its numbers are not at multiples of their size, as it may be where it came by a network.

    NumPy multiplies such arrays without BLAS, to other bits, and Numba compiles for them again.
    """
    return a.copy() if isinstance(a, np.ndarray) and not a.flags.aligned else a


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


def point(x0: Any, shape: tuple[int, ...], dtype: Any, name: str = "x0") -> NDArray[Any]:
    """A starting point: a new, finite array of the problem's shape."""
    if x0 is None:
        return np.zeros(shape, dtype)
    with np.errstate(over="ignore"):  # A number too large for float32 becomes inf, which is refused below.
        x = np.array(real_array(x0, name), dtype=dtype, order="C")
    if x.shape != shape:
        raise BadInput(name, f"expected shape {shape}, got {x.shape}")
    bad = np.argwhere(~np.isfinite(x))
    if bad.size:
        raise BadInput(name, f"is {x[tuple(bad[0])]}", row=int(bad[0][0]))
    return x
