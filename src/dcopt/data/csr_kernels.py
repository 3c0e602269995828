"""Loops over rows of a CSR matrix, compiled once per dtype and kept on disk. They know rows, not losses.

No jitclass (cannot be cached), no fastmath (drops NaN), sums in the order of the rows (same bits every time).
Sums run in float64 also for float32 data. Column numbers are made unsigned, which spares the test for Python's
negative indices; the door (check.py) has seen that they are in range.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

_READY: set[Any] = set()  # uses and types of arrays whose kernels are loaded


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with the disk cache, or without it where no folder can be written."""
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # "no locator available": a read-only installation without a home
        return numba.njit(nogil=True, error_model="numpy")(function)


@contextmanager
def one_process_at_a_time() -> Iterator[None]:
    """Compile and load in here: Numba's disk cache mixes up its entries when two processes write at once."""
    try:
        import fcntl

        lock = open(os.path.join(tempfile.gettempdir(), f"dcopt-kernels-{os.getuid()}.lock"), "a")
    except (ImportError, OSError):  # another system, or no place to write: then the cache is not written either
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_ready(indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], d: int, use: str) -> None:
    """Compile or load the kernels of one use for these arrays, on no rows at all, before any clock runs."""
    kinds = (use, *((part.dtype, part.flags.writeable) for part in (indptr, indices, data)))
    if kinds in _READY:  # batches of a stream are matrices of their own: the lock is for the first one
        return
    rows = np.zeros(0, np.int64)
    with one_process_at_a_time():
        for dtype in {data.dtype, np.dtype(np.float64)}:
            x, c = np.zeros(d, dtype), np.zeros(0, dtype)
            if use == "vector":
                norms2(indptr[:1], data)
                dot1(indptr, indices, data, rows, x)
                tdot1(indptr, indices, data, rows, c, d)
            elif use == "pair":
                dot2(indptr, indices, data, rows, x, x)
            else:
                dotk(indptr, indices, data, rows, x[:, None])
                tdotk(indptr, indices, data, rows, c[:, None], d)
    _READY.add(kinds)


def give_scalar_meaning(exp: Any, clip: Any, expit: Any, formula: Any) -> None:
    """Teach the compiler what the array functions of a formula mean for one number, and the formula itself."""

    def scalar_exp(z: float) -> float:
        return math.exp(z)

    def scalar_clip(z: float, low: float, high: float) -> float:
        return low if z < low else high if z > high else z  # NaN stays

    def scalar_expit(z: float) -> float:
        if z < 0.0:
            e = math.exp(z)
            return e / (1.0 + e)
        return 1.0 / (1.0 + math.exp(-z))

    for function, scalar in ((exp, scalar_exp), (clip, scalar_clip), (expit, scalar_expit), (formula, formula)):
        overload(function, strict=False)(_always(scalar))


def _always(scalar: Callable[..., float]) -> Callable[..., Any]:
    """Numba asks with the types of the arguments for an implementation: it is always this one."""
    return lambda *types: scalar


@compiled
def dot1(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], rows: NDArray[Any], x: NDArray[Any]
) -> NDArray[Any]:
    """z_k = ⟨a_{rows[k]}, x⟩"""
    z = np.empty(rows.size, x.dtype)
    for k in range(rows.size):
        i = rows[k]
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += data[j] * x[np.uint64(indices[j])]
        z[k] = total
    return z


@compiled
def dot2(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    rows: NDArray[Any],
    x: NDArray[Any],
    prev: NDArray[Any],
) -> NDArray[Any]:
    """z = (⟨a, x⟩, ⟨a, prev⟩), (2, m): both points in one pass over the rows, without stacking them first."""
    z = np.empty((2, rows.size), x.dtype)
    for k in range(rows.size):
        i = rows[k]
        one = 0.0
        two = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            a = data[j]
            col = np.uint64(indices[j])
            one += a * x[col]
            two += a * prev[col]
        z[0, k] = one
        z[1, k] = two
    return z


@compiled
def dotk(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], rows: NDArray[Any], x: NDArray[Any]
) -> NDArray[Any]:
    """z_{kl} = ⟨a_{rows[k]}, x_{·l}⟩"""
    z = np.zeros((rows.size, x.shape[1]), np.float64)
    for k in range(rows.size):
        i = rows[k]
        for j in range(indptr[i], indptr[i + 1]):
            a = data[j]
            col = np.uint64(indices[j])
            for m in range(x.shape[1]):
                z[k, m] += a * x[col, m]
    return z.astype(x.dtype)


@compiled
def tdot1(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    rows: NDArray[Any],
    c: NDArray[Any],
    d: int,
) -> NDArray[Any]:
    """Σ_k c_k a_{rows[k]}"""
    out = np.zeros(d, np.float64)
    for k in range(rows.size):
        i = rows[k]
        ck = c[k]
        for j in range(indptr[i], indptr[i + 1]):
            out[np.uint64(indices[j])] += ck * data[j]
    return out.astype(c.dtype)


@compiled
def tdotk(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    rows: NDArray[Any],
    c: NDArray[Any],
    d: int,
) -> NDArray[Any]:
    """Σ_k a_{rows[k]} c_{k·}ᵀ"""
    out = np.zeros((d, c.shape[1]), np.float64)
    for k in range(rows.size):
        i = rows[k]
        for j in range(indptr[i], indptr[i + 1]):
            a = data[j]
            col = np.uint64(indices[j])
            for m in range(c.shape[1]):
                out[col, m] += a * c[k, m]
    return out.astype(c.dtype)


@compiled
def norms2(indptr: NDArray[Any], data: NDArray[Any]) -> NDArray[np.float64]:
    """‖a_i‖²"""
    out = np.empty(indptr.size - 1, np.float64)
    for i in range(out.size):
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[j]) * data[j]
        out[i] = total
    return out


@compiled
def gram(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    weights: NDArray[np.float64],
    place: NDArray[np.int64],
    k: int,
) -> NDArray[np.float64]:
    """The upper half of Σ_i w_i a_i a_iᵀ over the columns j with place[j] ≥ 0, which stand at place[j] < k."""
    out = np.zeros((k, k), np.float64)
    most = 0
    for i in range(indptr.size - 1):
        most = max(most, indptr[i + 1] - indptr[i])
    at, value = np.empty(most, np.int64), np.empty(most, np.float64)
    for i in range(indptr.size - 1):
        m = 0
        for j in range(indptr[i], indptr[i + 1]):
            p = place[np.uint64(indices[j])]
            if p >= 0:
                at[m] = p
                value[m] = data[j]
                m += 1
        for a in range(m):
            p, v = at[a], weights[i] * value[a]
            for b in range(m):
                if at[b] >= p:
                    out[np.uint64(p), np.uint64(at[b])] += v * value[b]
    return out
