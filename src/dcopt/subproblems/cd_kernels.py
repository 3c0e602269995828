"""Coordinate descent on a Gram matrix, compiled: cyclic, with passes over the active coordinates in between."""

from __future__ import annotations

import math

import numpy as np

from ..data.kernels.compiler import compiled, one_process_at_a_time
from ..xp import Array

_SETTLE = 0.1  # Active passes go on until they move less than this share of the last whole pass.


@compiled
def best_entry(h: float, z: float, x: float, c: float, m: float, low: float, high: float) -> float:
    """argmin_t h/2 t² − z t + c|t| + m/2 t², low ≤ t ≤ high; x where that has no minimizer"""
    s = z - c if z > c else z + c if z < -c else 0.0
    if h + m > 0.0:
        t = s / (h + m)
    elif s > 0.0:
        t = high if high < math.inf else x
    elif s < 0.0:
        t = low if low > -math.inf else x
    else:
        t = 0.0
    return low if t < low else high if t > high else t


@compiled
def next_pass(whole: bool, most: float, last: float) -> tuple[bool, float]:
    """Whether the next pass is whole, and the largest move of the last whole pass, after a pass that moved `most`"""
    if whole:
        return False, most
    return most <= _SETTLE * last, last


@compiled
def distance(g: Array, x: Array, c: Array, m: Array, low: Array, high: Array, rows: bool) -> float:
    """dist(0, g + ∂r1(x))"""
    d, k = x.shape
    total = 0.0
    for j in range(d):
        if rows:
            size = 0.0
            for i in range(k):
                size += x[j, i] * x[j, i]
            size = math.sqrt(size)
            off = 0.0
            for i in range(k):
                u = g[j, i] + m[j, i] * x[j, i]
                if size > 0.0:
                    u += c[j, i] * x[j, i] / size
                off += u * u
            off = math.sqrt(off)
            if size == 0.0:
                off = max(off - c[j, 0], 0.0)
            total += off * off
            continue
        for i in range(k):
            t = x[j, i]
            u = -g[j, i] - m[j, i] * t
            if t > 0.0:
                u -= c[j, i]
            elif t < 0.0:
                u += c[j, i]
            else:
                u = u - c[j, i] if u > c[j, i] else u + c[j, i] if u < -c[j, i] else 0.0
            if t >= high[j, i]:
                u = min(u, 0.0)
            if t <= low[j, i]:
                u = max(u, 0.0)
            total += u * u
    return math.sqrt(total)


@compiled
def descend(
    Q: Array, g: Array, x: Array, c: Array, m: Array, low: Array, high: Array, rows: bool, passes: int, tol: float
) -> int:
    """Passes done on ½⟨x, Qx⟩ − ⟨b, x⟩ + r1(x), in place; g = Qx − b is kept up to date. Stops at a distance of tol.

    Q is d × d, the same for every column of x, or dk × dk, for r1 over rows: then a row goes to the minimizer of a
    model whose curvature h, the Frobenius norm of its block of Q, is above that of the block.
    """
    d, k = x.shape
    full = Q.shape[0] != d
    active = np.ones(d, np.bool_)
    new, step = np.empty(k), np.empty(k)
    whole = True
    last, done = 0.0, 0
    while done < passes:
        done += 1
        most = 0.0
        for j in range(d):
            if not (whole or active[j]):
                continue
            h = Q[j, j]
            if full:
                h = 0.0
                for i in range(k):
                    for l in range(k):
                        h += Q[j * k + i, j * k + l] ** 2
                h = math.sqrt(h)
            if rows:
                size = 0.0
                for i in range(k):
                    new[i] = h * x[j, i] - g[j, i]
                    size += new[i] * new[i]
                size = math.sqrt(size)
                share = max(1.0 - c[j, 0] / size, 0.0) if size > 0.0 else 0.0
                bend = h + m[j, 0]
                for i in range(k):
                    new[i] = new[i] * share / bend if bend > 0.0 else x[j, i] if share > 0.0 else 0.0
            else:
                for i in range(k):
                    z = h * x[j, i] - g[j, i]
                    new[i] = best_entry(h, z, x[j, i], c[j, i], m[j, i], low[j, i], high[j, i])
            moved = False
            for i in range(k):
                step[i] = new[i] - x[j, i]
                if step[i] != 0.0:
                    moved = True
                    most = max(most, abs(step[i]) * (h + m[j, i]))
                    x[j, i] = new[i]
            if moved and full:
                for i in range(k):
                    for l in range(d):
                        for o in range(k):
                            g[l, o] += Q[j * k + i, l * k + o] * step[i]
            elif moved and k == 1:  # This lets the compiler see that the entries are contiguous.
                row, all_g, s = Q[j], g.reshape(d), step[0]
                for l in range(d):
                    all_g[l] += row[l] * s
            elif moved:
                for l in range(d):
                    q = Q[j, l]
                    for i in range(k):
                        g[l, i] += q * step[i]
            if whole:
                active[j] = moved
        if whole and (most == 0.0 or (tol > 0.0 and distance(g, x, c, m, low, high, rows) <= tol)):
            break
        whole, last = next_pass(whole, most, last)
    return done


def make_ready() -> None:
    """Compile or load the kernels on a problem with one number, outside the measured time."""
    one = np.ones((1, 1))
    Q = np.ones((1, 1))
    Q.flags.writeable = False  # The arrays of a Quadratic are read-only, which is another type for the compiler.
    with one_process_at_a_time():
        descend(Q, one.copy(), one.copy(), one, one, one, one, False, 1, 0.0)
