"""Convex programs in a quadratic Q and a separable r1: descent and Newton's method in alternation, and the residual."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .eliminated import Eliminated, descent
from .newton import SMALL, newton, newton_rows
from .parts import Parts, directions, lengths

_ROUNDS = 6  # The largest number of alternations of coordinate descent and Newton's method.
# The least and largest number of passes of the first descent, and the entries of Q that it reads.
_PASSES, _MOST, _ENTRIES = 10, 100, 2**23


def minimize(
    Q: NDArray[Any],
    x: NDArray[Any],
    u: NDArray[Any],
    p: Parts,
    tol: float,
    *,
    free: NDArray[np.bool_] | None = None,
    few_passes: bool = False,
    compiled: bool = True,
) -> NDArray[np.float64]:
    """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ to a distance of tol, v and x (d, k).

    Q has a row for every row of x, the same for every column, or one for every entry. `free`: coordinates (rows) that
    r1 does not penalise, to be eliminated. `few_passes`: Newton's method is asked early, where programs are solved to
    the end. `compiled=False`: Newton's method first, where compiling would take longer than all the rest.
    """
    first = _PASSES if few_passes or p.rows else max(_PASSES, min(_MOST, _ENTRIES // Q.size))
    less = None if free is None else Eliminated.of(Q, p, free)
    if less is None:
        return _solve(Q, x, u, p, tol, not compiled, first)
    x1, u1 = less.program(x, u)  # Without the elimination, the means of the columns would slow the descent.
    start, left = (float(np.linalg.norm(distances(*here))) for here in ((u, x, p), (u1, x1, less.p)))
    # Use the same share of the present residual, if that is less.
    tol *= min(left / start, 1.0) if start > 0.0 else 1.0
    return less.solved(x, u, _solve(less.Q, x1, u1, less.p, tol, not compiled, first))


def distances(u: NDArray[Any], x: NDArray[Any], p: Parts) -> NDArray[np.float64]:
    """dist(u_j, ∂r1(x)_j) for every coordinate (row) j"""
    u = u - p.m * x
    if p.rows:
        away, c = lengths(u - p.c * directions(x)), p.c[:, 0]
        return np.asarray(np.where(lengths(x) > 0.0, away, np.maximum(away - c, 0.0)))
    near = np.minimum(np.maximum(u, -p.c), p.c)  # The distance of u to [−c, c].
    away = u - np.where(x != 0.0, np.copysign(p.c, x), near)  # A NaN in x becomes a NaN in u.
    held = (x >= p.high) | (x <= p.low)
    if held.any():
        away = np.where(x >= p.high, np.minimum(away, 0.0), away)
        away = np.where(x <= p.low, np.maximum(away, 0.0), away)
    return np.asarray(np.abs(away[:, 0]) if away.shape[1] == 1 else np.linalg.norm(away, axis=1))


def times(Q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """Qv, with the same Q for every column of v or with one for all of its entries."""
    return np.asarray(Q @ v if len(Q) == len(v) else (Q @ v.ravel()).reshape(v.shape))


def _solve(
    Q: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float, tiny: bool, first: int
) -> NDArray[np.float64]:
    """The program, in a Q that has a row for every entry of x or is the same for every column"""
    if len(Q) == len(x) or p.rows:
        return descended(Q, x, u, p, tol, tiny, first)
    x1, u1 = x.reshape(-1, 1), u.reshape(-1, 1)  # Every entry is a coordinate.
    return descended(Q, x1, u1, p.apart(), tol, tiny, first).reshape(x.shape)


def descended(
    Q: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float, tiny: bool, first: int
) -> NDArray[np.float64]:
    """Coordinate descent from x, then Newton's method, and both again; for tiny data Newton's method comes first.

    For a small Q many passes cost less than a call of Newton's method, which is more exact than tol requires.
    """
    b = times(Q, x) + u
    v = np.array(x, order="C")
    if tiny and len(x) <= SMALL and not p.rows:
        v = newton(Q, b, v, p, 20)
        if _residual(Q, b, v, p) <= tol:
            return v
    Q = np.ascontiguousarray(Q)
    Q.flags.writeable = False  # The kernels are compiled for this type.
    for turn in range(_ROUNDS):
        passes = first << turn
        g = np.ascontiguousarray(times(Q, v) - b)
        if descent()(Q, g, v, p.c, p.m, p.low, p.high, p.rows, passes, tol) < passes:
            break  # It returns the distance.
        if not p.rows:
            v = newton(Q, b, v, p)
        elif len(Q) > len(x):
            v = newton_rows(Q, b, v, p, 0.5 * tol)
        if _residual(Q, b, v, p) <= tol:
            break
    return v


def _residual(Q: NDArray[Any], b: NDArray[Any], v: NDArray[Any], p: Parts) -> float:
    off = distances(b - times(Q, v), v, p)
    return float(np.sqrt(np.sum(off * off)))
