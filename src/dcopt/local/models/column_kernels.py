"""Coordinate descent on columns of A, compiled: where a pass over their entries costs less than one over AᵀA.

The columns come as begin, end, rows and values: entries begin_j ≤ e < end_j, of any superset of them, in the order of
the rows and each row at most once.
"""

from __future__ import annotations

import math

import numpy as np

from ...data.kernels.compiler import compiled, one_process_at_a_time
from ...subproblems.cd_kernels import best_entry, next_pass
from ...xp import Array


@compiled
def sizes(begin: Array, end: Array, rows: Array, values: Array, weights: Array) -> Array:
    """Σ_i w_i a_ij²"""
    out = np.zeros(begin.size)
    for j in range(begin.size):
        for e in range(begin[j], end[j]):
            out[j] += weights[np.uint64(rows[e])] * values[e] * values[e]
    return out


@compiled
def times(begin: Array, end: Array, rows: Array, values: Array, v: Array, n: int) -> Array:
    """A v"""
    out = np.zeros(n)
    for j in range(begin.size):
        if v[j] != 0.0:
            for e in range(begin[j], end[j]):
                out[np.uint64(rows[e])] += v[j] * values[e]
    return out


@compiled
def along(rows: Array, values: Array, first: int, last: int, s: Array) -> float:
    """⟨a_j, s⟩; of a column with an entry in every row without a look at where they are"""
    g, g1, g2, g3 = 0.0, 0.0, 0.0, 0.0  # four sums: each addition waits for the one before it
    many = last - first
    if many == s.size:
        column = values[first:last]
        for i in range(0, many - 3, 4):
            g += column[i] * s[i]
            g1 += column[i + 1] * s[i + 1]
            g2 += column[i + 2] * s[i + 2]
            g3 += column[i + 3] * s[i + 3]
    else:
        for e in range(first, last - 3, 4):
            g += values[e] * s[np.uint64(rows[e])]
            g1 += values[e + 1] * s[np.uint64(rows[e + 1])]
            g2 += values[e + 2] * s[np.uint64(rows[e + 2])]
            g3 += values[e + 3] * s[np.uint64(rows[e + 3])]
    for e in range(last - many % 4, last):
        g += values[e] * s[np.uint64(rows[e])]
    return g + g1 + g2 + g3


@compiled
def descend_columns(
    begin: Array, end: Array, rows: Array, values: Array, weights: Array, h: Array, ridge: Array, x: Array,
    u: Array, v: Array, c: Array, m: Array, low: Array, high: Array, passes: int, tol: float,
) -> int:  # fmt: skip
    """Passes done on ½ Σ_i w_i ⟨a_i, v − x⟩² + ½ Σ_j ridge_j (v − x)_j² − ⟨u, v⟩ + r1(v), in place, from v = x.

    Stops where the entries, each as it was found, are at a distance of tol.
    """
    s = np.zeros(weights.size)  # w_i ⟨a_i, v − x⟩: the weights are read where something moves
    alike = bool(np.all(weights == weights[0]))
    active = np.ones(v.size, np.bool_)
    whole = True
    last, done = 0.0, 0
    while done < passes:
        done += 1
        most, total = 0.0, 0.0
        for j in range(v.size):
            if not (whole or active[j]):
                continue
            t = v[j, 0]
            g = ridge[j] * (t - x[j, 0]) - u[j, 0]
            first, last_one = begin[j], end[j]
            g += along(rows, values, first, last_one, s)
            new = best_entry(h[j], h[j] * t - g, t, c[j, 0], m[j, 0], low[j, 0], high[j, 0])
            step = new - t
            if step != 0.0:
                v[j, 0] = new
                if last_one - first == s.size:
                    column = values[first:last_one]
                    for k in range(s.size):
                        s[k] += step * column[k] * weights[k]
                elif alike:
                    by = step * weights[0]
                    for e in range(first, last_one):
                        s[np.uint64(rows[e])] += by * values[e]
                else:
                    for e in range(first, last_one):
                        i = np.uint64(rows[e])
                        s[i] += step * values[e] * weights[i]
                off = abs(step) * (h[j] + m[j, 0])  # what was missing of the optimality of this entry
                most = max(most, off)
                total += off * off
            if whole:
                active[j] = step != 0.0
        if not math.isfinite(total) or (whole and math.sqrt(total) <= tol):  # no minimum: the caller sees it at v
            break
        whole, last = next_pass(whole, most, last)
    return done


@compiled
def times_classes(begin: Array, end: Array, rows: Array, values: Array, v: Array, n: int) -> Array:
    """A v, v (d, k)"""
    d, k = v.shape
    out = np.zeros((n, k))
    for j in range(d):
        if np.any(v[j] != 0.0):
            for e in range(begin[j], end[j]):
                i = np.uint64(rows[e])
                for o in range(k):
                    out[i, o] += v[j, o] * values[e]
    return out


@compiled
def descend_classes(
    begin: Array, end: Array, rows: Array, values: Array, weights: Array, p: Array, h: Array, ridge: Array,
    r2_bend: Array, unit: Array, x: Array, u: Array, v: Array, c: Array, m: Array, low: Array, high: Array,
    by_rows: bool, passes: int, tol: float,
) -> int:  # fmt: skip
    """The same for k classes: w_i ⟨z_i, (diag p_i − p_i p_iᵀ) z_i⟩, z_i = ⟨a_i, v − x⟩, in the place of squares, and
    r2_bend_j ⟨unit_j, v_j − x_j⟩² taken off.

    All classes of a column move at once, to the minimizer of a model whose curvature h is above theirs.
    """
    d, k = v.shape
    s = np.zeros(p.shape)  # w_i (diag p_i − p_i p_iᵀ) z_i
    active = np.ones(d, np.bool_)
    g, step = np.empty(k), np.empty(k)
    whole = True
    last, done = 0.0, 0
    while done < passes:
        done += 1
        most, total = 0.0, 0.0
        for j in range(d):
            if not (whole or active[j]):
                continue
            bent = 0.0
            if r2_bend[j] != 0.0:
                for o in range(k):
                    bent += unit[j, o] * (v[j, o] - x[j, o])
            for o in range(k):
                g[o] = ridge[j] * (v[j, o] - x[j, o]) - u[j, o] - r2_bend[j] * bent * unit[j, o]
            for e in range(begin[j], end[j]):
                i, a = np.uint64(rows[e]), values[e]
                for o in range(k):
                    g[o] += a * s[i, o]
            share, size = 1.0, 0.0
            if by_rows:
                for o in range(k):
                    size += (h[j] * v[j, o] - g[o]) ** 2
                size = math.sqrt(size)
                share = max(1.0 - c[j, 0] / size, 0.0) / (h[j] + m[j, 0]) if size > 0.0 else 0.0
            moved = 0.0
            for o in range(k):
                z = h[j] * v[j, o] - g[o]
                new = share * z
                if not by_rows:
                    new = best_entry(h[j], z, v[j, o], c[j, o], m[j, o], low[j, o], high[j, o])
                step[o] = new - v[j, o]
                moved += step[o] * step[o]
                v[j, o] = new
            if moved != 0.0:
                for e in range(begin[j], end[j]):
                    i = np.uint64(rows[e])
                    mean = 0.0
                    for o in range(k):
                        mean += p[i, o] * step[o]
                    by = weights[i] * values[e]
                    for o in range(k):
                        s[i, o] += by * p[i, o] * (step[o] - mean)
                off = math.sqrt(moved) * (h[j] + m[j, 0])
                most = max(most, off)
                total += off * off
            if whole:
                active[j] = moved != 0.0
        if not math.isfinite(total) or (whole and math.sqrt(total) <= tol):
            break
        whole, last = next_pass(whole, most, last)
    return done


def make_ready() -> None:
    """Compile or load, on a problem of one number, before any clock runs."""
    one, col = np.ones(1), np.ones((1, 1))
    a = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int32), one
    with one_process_at_a_time():
        sizes(*a, one)
        times(*a, one, 1)
        descend_columns(*a, one, one, one, col, col, col.copy(), col, col, col, col, 1, 0.0)


def classes_ready() -> None:
    """The same for several classes."""
    one, col = np.ones(1), np.ones((1, 2))
    a = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1, np.int32), one
    with one_process_at_a_time():
        times_classes(*a, col, 1)
        descend_classes(*a, one, col, one, one, one, col, col, col, col.copy(), col, col, col, col, True, 1, 0.0)
