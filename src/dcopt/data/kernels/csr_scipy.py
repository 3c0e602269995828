"""The loops of csr_kernels.py made of SciPy's functions, for systems without a working Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...xp import Array


def make_ready(indptr: Array, indices: Array, data: Array, d: int, use: str) -> None:
    """Nothing to compile."""


def _matrix(indptr: Array, indices: Array, data: Array, d: int) -> Any:
    a = csr_array((indptr.size - 1, d))
    # The arrays were checked before; SciPy need not check them again.
    a.indptr, a.indices, a.data = indptr, indices, data.astype(np.float64, copy=False)
    return a


def dot1(indptr: Array, indices: Array, data: Array, rows: Array, x: Array) -> Array:
    """A[rows] x, for x (d,) or (d, c)"""
    z: Array = _matrix(indptr, indices, data, len(x))[rows] @ x.astype(np.float64, copy=False)
    return z.astype(x.dtype, copy=False)


def dot2(indptr: Array, indices: Array, data: Array, rows: Array, x: Array, prev: Array) -> Array:
    """(A[rows] x, A[rows] prev)"""
    return np.ascontiguousarray(dot1(indptr, indices, data, rows, np.stack((x, prev), axis=1)).T)


def tdot1(indptr: Array, indices: Array, data: Array, rows: Array, c: Array, d: int) -> Array:
    """A[rows]ᵀ c, for c (m,) or (m, c)"""
    out: Array = _matrix(indptr, indices, data, d)[rows].T @ c.astype(np.float64, copy=False)
    return out.astype(c.dtype, copy=False)


def norms2(indptr: Array, data: Array) -> Array:
    """‖a_i‖²"""
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    return np.bincount(rows, data[: rows.size].astype(np.float64) ** 2, indptr.size - 1).astype(np.float64, copy=False)


def dot1_part(indptr: Array, indices: Array, data: Array, start: int, stop: int, x: Array, z: Array) -> None:
    """z = A[start:stop] x"""
    z[...] = dot1(indptr, indices, data, np.arange(start, stop), x)


def tdot1_part(indptr: Array, indices: Array, data: Array, start: int, stop: int, c: Array, out: Array) -> None:
    """out += A[start:stop]ᵀ c"""
    out += tdot1(indptr, indices, data, np.arange(start, stop), c.astype(np.float64, copy=False), len(out))


def gram_part(
    indptr: Array, indices: Array, data: Array, weights: Array, place: Array, start: int, stop: int, low: int,
    high: int, out: Array,
) -> None:  # fmt: skip
    """out_{pq} += Σ_i w_i a_{ip} a_{iq}, low ≤ p < high, where column j stands at place[j] (< 0: nowhere)"""
    columns = np.empty(len(out), np.int64)
    columns[place[place >= 0]] = np.flatnonzero(place >= 0)
    rows = np.arange(start, stop)
    a = _matrix(indptr, indices, data, len(place))[rows[weights[start:stop] != 0.0]][:, columns]
    w = weights[start:stop][weights[start:stop] != 0.0]
    out[low:high] += (a[:, low:high].T @ a.multiply(w[:, None]).tocsr()).toarray()


dotk, tdotk, dotk_part, tdotk_part = dot1, tdot1, dot1_part, tdot1_part


def column_counts(indices: Array, d: int) -> Array:
    return np.bincount(indices, minlength=d)


def fill_columns(
    indptr: Array, indices: Array, data: Array, place: Array, following: Array, rows: Array, values: Array
) -> None:
    some = _matrix(indptr, indices, data, len(place)).tocsc()[:, np.flatnonzero(place >= 0)]
    rows[:], values[:] = some.indices, some.data


def narrow(
    indptr: Array, indices: Array, data: Array, wanted: Array, out_indptr: Array, out_indices: Array, out_data: Array
) -> None:
    kept = np.flatnonzero(wanted[indices[: indptr[-1]]])
    out_indptr[:] = np.searchsorted(kept, indptr)
    out_indices[: kept.size], out_data[: kept.size] = indices[kept], data[kept]


def take(
    indptr: Array, indices: Array, data: Array, rows: Array, start: Array, out_indices: Array, out_data: Array
) -> None:
    where = np.arange(start[-1]) + np.repeat(indptr[rows] - start[:-1], np.diff(start))
    out_indices[:], out_data[:] = indices[where], data[where]
