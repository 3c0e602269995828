"""Loops over rows of a CSR matrix, compiled once per dtype and kept on disk. They know rows, not losses.

No jitclass (cannot be cached), no fastmath (drops NaN), sums in the order of the rows (same bits every time).
Sums run in float64 also for float32 data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with the disk cache, or without it where no folder can be written."""
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # "no locator available": a read-only installation without a home
        return numba.njit(nogil=True, error_model="numpy")(function)


@_compiled
def dot1(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], rows: NDArray[Any], x: NDArray[Any]
) -> NDArray[Any]:
    """z_k = ⟨a_{rows[k]}, x⟩"""
    z = np.empty(rows.size, x.dtype)
    for k in range(rows.size):
        i = rows[k]
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += data[j] * x[indices[j]]
        z[k] = total
    return z


@_compiled
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
            col = indices[j]
            one += a * x[col]
            two += a * prev[col]
        z[0, k] = one
        z[1, k] = two
    return z


@_compiled
def dotk(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], rows: NDArray[Any], x: NDArray[Any]
) -> NDArray[Any]:
    """z_{kl} = ⟨a_{rows[k]}, x_{·l}⟩"""
    z = np.zeros((rows.size, x.shape[1]), np.float64)
    for k in range(rows.size):
        i = rows[k]
        for j in range(indptr[i], indptr[i + 1]):
            a = data[j]
            col = indices[j]
            for m in range(x.shape[1]):
                z[k, m] += a * x[col, m]
    return z.astype(x.dtype)


@_compiled
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
            out[indices[j]] += ck * data[j]
    return out.astype(c.dtype)


@_compiled
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
            col = indices[j]
            for m in range(c.shape[1]):
                out[col, m] += a * c[k, m]
    return out.astype(c.dtype)


@_compiled
def norms2(indptr: NDArray[Any], data: NDArray[Any]) -> NDArray[np.float64]:
    """‖a_i‖²"""
    out = np.empty(indptr.size - 1, np.float64)
    for i in range(out.size):
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += np.float64(data[j]) * data[j]
        out[i] = total
    return out
