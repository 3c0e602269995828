"""Loops over a list of rows of a CSR matrix, compiled as those of csr_kernels.py are, which exports them."""

from __future__ import annotations

import numpy as np

from ...xp import Array
from .compiler import compiled

_ONE = np.uint64(1)  # Numba makes a float of a sum of an unsigned and a signed number.


@compiled
def dot1(indptr: Array, indices: Array, data: Array, rows: Array, x: Array) -> Array:
    """z_k = ⟨a_{rows[k]}, x⟩"""
    z = np.empty(rows.size, x.dtype)
    for k in range(rows.size):
        i = rows[k]
        total = 0.0
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += data[j] * x[np.uint64(indices[j])]
        z[k] = total
    return z


@compiled
def dot2(indptr: Array, indices: Array, data: Array, rows: Array, x: Array, prev: Array) -> Array:
    """z = (⟨a, x⟩, ⟨a, prev⟩), (2, m): both points in one pass over the rows, without stacking them first."""
    z = np.empty((2, rows.size), x.dtype)
    for k in range(rows.size):
        i = rows[k]
        one = 0.0
        two = 0.0
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            a = data[j]
            col = np.uint64(indices[j])
            one += a * x[col]
            two += a * prev[col]
        z[0, k] = one
        z[1, k] = two
    return z


@compiled
def dotk(indptr: Array, indices: Array, data: Array, rows: Array, x: Array) -> Array:
    """z_{kl} = ⟨a_{rows[k]}, x_{·l}⟩"""
    z = np.zeros((rows.size, x.shape[1]), np.float64)
    for k in range(rows.size):
        i = rows[k]
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            a = data[j]
            col = np.uint64(indices[j])
            for m in range(x.shape[1]):
                z[k, m] += a * x[col, m]
    return z.astype(x.dtype)


@compiled
def tdot1(indptr: Array, indices: Array, data: Array, rows: Array, c: Array, d: int) -> Array:
    """Σ_k c_k a_{rows[k]}"""
    out = np.zeros(d, np.float64)
    for k in range(rows.size):
        i = rows[k]
        ck = c[k]
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[np.uint64(indices[j])] += ck * data[j]
    return out.astype(c.dtype)


@compiled
def tdotk(indptr: Array, indices: Array, data: Array, rows: Array, c: Array, d: int) -> Array:
    """Σ_k a_{rows[k]} c_{k·}ᵀ"""
    out = np.zeros((d, c.shape[1]), np.float64)
    for k in range(rows.size):
        i = rows[k]
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            a = data[j]
            col = np.uint64(indices[j])
            for m in range(c.shape[1]):
                out[col, m] += a * c[k, m]
    return out.astype(c.dtype)


@compiled
def take(
    indptr: Array, indices: Array, data: Array, rows: Array, start: Array, out_indices: Array, out_data: Array
) -> None:
    """The entries of these rows, the k-th from start[k] on"""
    for k in range(rows.size):
        to, e = np.uint64(start[k]), np.uint64(indptr[rows[k]])
        for _ in range(indptr[rows[k] + 1] - indptr[rows[k]]):
            out_indices[to] = indices[e]
            out_data[to] = data[e]
            to += _ONE
            e += _ONE
