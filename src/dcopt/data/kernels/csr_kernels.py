"""Loops over rows of a CSR matrix, compiled once per dtype and cached on disk. They do not depend on a loss.

Sums in the order of the rows (same bits every time), and in float64 also for float32 data. Column numbers and positions
of entries are made unsigned, which avoids the test for Python's negative indices (a quarter of the time). check.py has
checked that they are in range.

A kernel of a part takes the rows start ≤ i < stop, without a list of them, and writes to (or adds to) an array of its
caller: parts run side by side (workers.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...xp import Array
from .compiler import compiled, one_process_at_a_time
from .csr_batch_kernels import dot1, dot2, dotk, take, tdot1, tdotk
from .csr_column_kernels import column_counts, fill_columns, gram_part, narrow

_READY: set[Any] = set()  # The uses and array types whose kernels are loaded.


def make_ready(indptr: Array, indices: Array, data: Array, d: int, use: str) -> None:
    """Compile or load the kernels of one use for these arrays, on an empty list of rows, outside the measured time."""
    kinds = (use, *((part.dtype, part.flags.writeable) for part in (indptr, indices, data)))
    if kinds in _READY:  # Every batch of a stream is a new matrix. Only the first one takes the lock.
        return
    a, rows, wide = (indptr, indices, data), np.zeros(0, np.int64), np.zeros(d)
    with one_process_at_a_time():
        if use == "gram":
            gram_part(*a, wide, rows, 0, 0, 0, 0, wide[:0, None])
        elif use == "take":
            take(*a, rows, indptr[:1].copy(), indices[:0].copy(), data[:0].copy())
        elif use == "columns":
            column_counts(indices[:0], d)
            narrow(indptr[:1], *a[1:], np.zeros(d, np.bool_), *(part[:1].copy() for part in a))
            fill_columns(indptr[:1], *a[1:], np.zeros(d, np.int32), rows, np.zeros(0, np.int32), wide[:0])
        for dtype in {data.dtype, wide.dtype}:
            x, c = np.zeros(d, dtype), np.zeros(0, dtype)
            if use == "vector":
                norms2(indptr[:1], data)
                dot1(*a, rows, x)
                tdot1(*a, rows, c, d)
            elif use == "pair":
                dot2(*a, rows, x, x)
            elif use == "matrix":
                dotk(*a, rows, x[:, None])
                tdotk(*a, rows, c[:, None], d)
            elif use == "parts":
                dot1_part(*a, 0, 0, x, c)
                tdot1_part(*a, 0, 0, c, wide)
            elif use == "matrix parts":
                dotk_part(*a, 0, 0, x[:, None], c[:, None])
                tdotk_part(*a, 0, 0, c[:, None], wide[:, None])
    _READY.add(kinds)


@compiled
def norms2(indptr: Array, data: Array) -> Array:
    """‖a_i‖²"""
    out = np.empty(indptr.size - 1, np.float64)
    for i in range(out.size):
        total = 0.0
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += np.float64(data[j]) * data[j]
        out[i] = total
    return out


@compiled
def dot1_part(indptr: Array, indices: Array, data: Array, start: int, stop: int, x: Array, z: Array) -> None:
    """z_{i−start} = ⟨a_i, x⟩, two rows at a time, so that additions of both rows overlap"""
    for i in range(start, stop, 2):
        a, b, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1]), np.uint64(indptr[min(i + 2, stop)])
        one, two, both = 0.0, 0.0, min(b - a, end - b)
        for k in range(both):
            one += data[a + k] * x[np.uint64(indices[a + k])]
            two += data[b + k] * x[np.uint64(indices[b + k])]
        for j in range(a + both, b):
            one += data[j] * x[np.uint64(indices[j])]
        for j in range(b + both, end):
            two += data[j] * x[np.uint64(indices[j])]
        z[i - start] = one
        if i + 1 < stop:
            z[i + 1 - start] = two


@compiled
def dotk_part(indptr: Array, indices: Array, data: Array, start: int, stop: int, x: Array, z: Array) -> None:
    """z_{i−start, l} = ⟨a_i, x_{·l}⟩"""
    total = np.empty(x.shape[1], np.float64)
    for i in range(start, stop):
        total[:] = 0.0
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            a = data[j]
            col = np.uint64(indices[j])
            for m in range(total.size):
                total[m] += a * x[col, m]
        z[i - start] = total


@compiled
def tdot1_part(indptr: Array, indices: Array, data: Array, start: int, stop: int, c: Array, out: Array) -> None:
    """out += Σ_i c_{i−start} a_i"""
    for i in range(start, stop):
        ci = c[i - start]
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[np.uint64(indices[j])] += ci * data[j]


@compiled
def tdotk_part(indptr: Array, indices: Array, data: Array, start: int, stop: int, c: Array, out: Array) -> None:
    """out += Σ_i a_i c_{i−start}ᵀ"""
    for i in range(start, stop):
        for j in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            a = data[j]
            col = np.uint64(indices[j])
            for m in range(c.shape[1]):
                out[col, m] += a * c[i - start, m]
