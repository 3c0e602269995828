"""Loops over the columns of a CSR matrix, compiled as those of csr_kernels.py are, which exports them."""

from __future__ import annotations

import numpy as np

from ...xp import Array
from .compiler import compiled

# Numba converts the sum of an unsigned and a signed number to a float.
_ONE, _TWO, _THREE, _FOUR = (np.uint64(k) for k in (1, 2, 3, 4))


@compiled
def gram_part(
    indptr: Array, indices: Array, data: Array, weights: Array, place: Array, start: int, stop: int, low: int,
    high: int, out: Array,
) -> None:  # fmt: skip
    """out_{pq} += Σ_i w_i a_{ip} a_{iq}, low ≤ p < high, p ≤ q, where column j stands at place[j] (< 0: nowhere).

    Four rows of `out` are updated at a time, because the processor mispredicts the end of shorter loops. The entries
    below the diagonal are not meaningful.
    """
    most = 0
    for i in range(start, stop):
        most = max(most, indptr[i + 1] - indptr[i])
    at, value = np.empty(most + 1, np.int64), np.empty(most + 1, np.float64)
    for i in range(start, stop):
        w = weights[i]
        if w == 0.0:
            continue
        m = np.uint64(0)
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            p = place[np.uint64(indices[j])]
            at[m] = p  # This avoids a branch. The next entry overwrites one whose column is not wanted.
            value[m] = data[j]
            m += np.uint64(p >= 0)
        ordered = True
        for a in range(_ONE, m):
            ordered &= at[a - _ONE] < at[a]
        if not ordered:  # Insertion sort: it makes at most as many moves as there are products to come.
            for a in range(_ONE, m):
                q, v, to = at[a], value[a], np.uint64(a)
                while to > 0 and at[to - _ONE] > q:
                    at[to], value[to] = at[to - _ONE], value[to - _ONE]
                    to -= _ONE
                at[to], value[to] = q, v
        first, end = np.uint64(0), m
        while first < end and at[first] < low:
            first += _ONE
        while end > first and at[end - _ONE] >= high:
            end -= _ONE
        fours = first + (end - first) // _FOUR * _FOUR
        for a in range(first, fours, _FOUR):
            p0, p1 = np.uint64(at[a]), np.uint64(at[a + _ONE])
            p2, p3 = np.uint64(at[a + _TWO]), np.uint64(at[a + _THREE])
            h0, h1, h2, h3 = w * value[a], w * value[a + _ONE], w * value[a + _TWO], w * value[a + _THREE]
            for b in range(a, m):
                col, v = np.uint64(at[b]), value[b]
                out[p0, col] += h0 * v
                out[p1, col] += h1 * v
                out[p2, col] += h2 * v
                out[p3, col] += h3 * v
        for a in range(fours, end):
            p0, h0 = np.uint64(at[a]), w * value[a]
            for b in range(a, m):
                out[p0, np.uint64(at[b])] += h0 * value[b]


@compiled
def column_counts(indices: Array, d: int) -> Array:
    """Stored entries of every column"""
    out = np.zeros(d, np.int64)
    for e in range(indices.size):
        out[np.uint64(indices[e])] += 1
    return out


@compiled
def fill_columns(
    indptr: Array, indices: Array, data: Array, place: Array, following: Array, rows: Array, values: Array
) -> None:
    """Row numbers and values of the entries in column j with k = place[j] ≥ 0, in the order of the rows, from
    following[k] on, which ends behind them
    """
    for i in range(indptr.size - 1):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            k = place[np.uint64(indices[e])]
            if k >= 0:
                to = following[np.uint64(k)]
                following[np.uint64(k)] = to + 1
                rows[np.uint64(to)] = i
                values[np.uint64(to)] = data[e]


@compiled
def narrow(
    indptr: Array, indices: Array, data: Array, wanted: Array, out_indptr: Array, out_indices: Array, out_data: Array
) -> None:
    """The entries of the wanted columns, row by row. The arrays need room for one more entry"""
    to = np.uint64(0)
    out_indptr[0] = 0
    for i in range(indptr.size - 1):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out_indices[to] = indices[e]  # This avoids a branch. The next entry overwrites one that is not wanted.
            out_data[to] = data[e]
            to += np.uint64(wanted[np.uint64(indices[e])])
        out_indptr[i + 1] = to
