"""Newton's method for a quadratic and an r1 over entries or rows: linear systems of the coordinates off kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linalg.symmetric import one_thread, solve, square
from .parts import Parts, directions, lengths, within

_ROUNDING = 1e-14
_HALVINGS = 5  # lengths of a step in rows: 1, ½, ¼, …, until one lowers the program
SMALL = 128  # With up to this many coordinates Newton's method is tried first. If it converges, nothing is compiled.


def newton(Q: NDArray[Any], b: NDArray[Any], x: NDArray[Any], p: Parts, steps: int = 2) -> NDArray[Any]:
    """(Q + m)_SS v_S = b_S − Q_SB v_B − c_S sign(u_S), u = x + (b − Qx − mx)/diag(Q + m), and x goes towards v

    S holds the coordinates whose own minimizers, soft-thresholded u, are off their kinks and bounds; the others B go
    there. The step ends where ½⟨x, Qx⟩ − ⟨b, x⟩ + r1(x) is least between x and v, so that no step raises it; where v is
    in the piece whose system it solves, and the next piece is the same, v solves the program.
    """
    out = x.copy()
    with one_thread(len(Q)):
        for i in range(x.shape[1]):
            c, m, low, high = (part[:, i] for part in p[:4])
            out[:, i] = _newton(Q, b[:, i], x[:, i], c, m, low, high, steps)
    return out


def newton_rows(
    Q: NDArray[Any], b: NDArray[Any], x: NDArray[Any], p: Parts, tol: float, steps: int = 5
) -> NDArray[Any]:
    """x_S − H⁻¹ (Qx − b + c x_j/|x_j| + m x)_S, H = Q_SS + m + c/|x_j| (I − x_j x_jᵀ/|x_j|²) in each row's block

    For r1 over rows, and Q with a row for every entry of x; S holds the rows that are not 0. Each step ends at the
    first of 1, ½, ¼, … of itself where the program is less; the last one where that of S is solved to tol.
    """
    d, k = x.shape
    c, m, b = p.c[:, 0], p.m.reshape(-1), b.reshape(-1)

    def at(v: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """The program's value, and the slope of what is smooth in it"""
        flat = v.reshape(-1)
        bent = Q @ flat + m * flat
        return float(flat @ (0.5 * bent - b) + c @ lengths(v)), bent - b

    value, slope = at(x)
    with one_thread(len(Q)):
        for _ in range(steps):
            size, unit = lengths(x), directions(x)
            rows = np.flatnonzero((size > 0.0) | (c == 0.0))
            off = (slope.reshape(d, k) + c[:, None] * unit)[rows]
            if np.linalg.norm(off) <= tol:
                break
            S = within(rows, k)
            H, j, u = square(Q, S), np.arange(len(rows)), unit[rows]
            H[np.diag_indices(len(H))] += m[S]
            pull = np.divide(c, size, out=np.zeros(d), where=size > 0.0)[rows, None, None]
            H.reshape(len(rows), k, len(rows), k)[j, :, j, :] += pull * (np.eye(k) - u[:, :, None] * u[:, None, :])
            found = solve(H, off.reshape(-1))
            if found is None:
                break
            step = np.zeros((d, k))
            step[rows] = found.reshape(-1, k)
            ends = ((v, *at(v)) for v in (x - 0.5**k * step for k in range(_HALVINGS)))
            lower = next((end for end in ends if end[1] < value), None)
            if lower is None:
                break
            x, value, slope = lower
    return x


def _newton(
    Q: NDArray[Any],
    b: NDArray[Any],
    x: NDArray[Any],
    c: NDArray[Any],
    m: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    steps: int,
) -> NDArray[Any]:
    h, before = np.diagonal(Q) + m, None
    h = np.where(h > 0.0, h, 1.0)
    for _ in range(steps):
        down = b - Q @ x - m * x
        u = h * x + down
        own = np.clip(np.sign(u) * np.maximum(np.abs(u) - c, 0.0) / h, low, high)
        free = ((own != 0.0) | (c == 0.0)) & (own > low) & (own < high)
        kink, held = np.where(free, c * np.sign(own), 0.0), np.where(free, 0.0, own)
        piece = np.concatenate((free, kink, held))
        if before is not None and np.array_equal(piece, before):
            break
        some = square(Q, np.flatnonzero(free))
        some[np.diag_indices(len(some))] += m[free]
        rest = b - Q @ held if held.any() else b  # No coordinate is at a bound other than 0.
        found = solve(some, (rest - kink)[free])
        if found is None:
            break
        v = held
        v[free] = found
        step = v - x
        bend, fall = float(step @ (Q @ step + m * step)), float(down @ step)
        if not _ROUNDING * float(h.max()) * float(step @ step) <= abs(fall):  # This is far along the null space of Q.
            break
        if np.all((kink * v >= 0.0) & (v >= low) & (v <= high)):
            if 0.5 * bend - fall + float(np.sum(c * (np.abs(v) - np.abs(x)))) <= 0.0:
                before, x = piece, v
                continue
        before, x = None, _least(x, step, bend, fall, c, low, high)
    return x


def _least(
    x: NDArray[Any],
    step: NDArray[Any],
    bend: float,
    fall: float,
    c: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
) -> NDArray[Any]:
    """x + t step, t = argmin_{0 ≤ t ≤ 1} bend/2 t² − fall t + Σ c |x + t step|, low ≤ x + t step ≤ high

    Between two zeros of entries the slope is a line, and at a zero it jumps by 2c|step|: the first place where it
    is not negative is the minimizer.
    """
    moves = step != 0.0
    zero = np.divide(-x, step, out=np.full_like(x, np.inf), where=moves)
    wall = np.divide(np.where(step > 0.0, high, low) - x, step, out=np.full_like(x, np.inf), where=moves)
    last = min(1.0, float(wall.min(initial=1.0)))
    order = np.flatnonzero((zero > 0.0) & (zero < last))
    order = order[np.argsort(zero[order], kind="stable")]
    start = float(np.sum(np.where(x != 0.0, c * np.sign(x) * step, c * np.abs(step)))) - fall
    slopes = start + np.concatenate(([0.0], np.cumsum(2.0 * c[order] * np.abs(step[order]))))
    ends = np.concatenate((zero[order], [last]))
    up = slopes + bend * ends >= 0.0
    if not up.any():
        t = last
    else:
        i = int(np.argmax(up))
        begin = ends[i - 1] if i else 0.0
        t = max(-slopes[i] / bend, begin) if bend > 0.0 else begin
    out = np.where(zero == t, 0.0, x + t * step)
    return np.asarray(np.clip(out, low, high))
