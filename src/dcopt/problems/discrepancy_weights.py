"""Weights of source rows that make them alike to target rows: discrepancy minimisation for domain adaptation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..convex.quadratic import gram
from ..data import check
from ..data.rows import RowMatrix
from ..errors import BadInput, require_count, require_number
from ..sums.constants import largest_eigenvalue

_EVERY = 10  # The number of steps between two computations of the gap, which costs as much as a step.


class Reweighting(NamedTuple):
    """Weights of the source rows, their discrepancy from the target rows, and how far from the least J it may be."""

    weights: NDArray[np.float64]  # (N,), sum 1
    discrepancy: float  # The largest |eigenvalue| of Σ w_i x_i x_iᵀ − M_T with these weights
    before: float  # and with equal ones
    gap: float  # J(w) − min J is at most this.
    steps: int

    @property
    def rows(self) -> float:
        """1 / Σ w_i²: so many rows of equal weight have the same variance."""
        return 1.0 / float(np.sum(self.weights**2))


def discrepancy_weights(
    source: Any, target: Any, *, ridge: float = 0.01, tol: float = 1e-3, steps: int = 5000
) -> Reweighting:
    """min_w J(w) = ‖Σ w_i x_i x_iᵀ − M_T‖₂ / λ_max(M_T) + (ridge/2) N Σ w_i²,   w ≥ 0, Σ w_i = 1.

    ‖·‖₂ is the largest |eigenvalue|, the discrepancy: −2 min F of `discrepancy(source, target, weights=w)`, or of the
    same with larger="source". J is convex, and the best weights for a mean of directions u, a symmetric matrix M with
    Σ |eigenvalues| ≤ 1, have a closed form. So the program is solved in M, by accelerated projected gradients; every M
    bounds min J from below, and `gap` is known.

    Parameters
    ----------
    ridge : how much the variance of few rows counts: N Σ w_i² is 1 for equal weights, and N for a single row
    tol : the gap of J at which it ends
    steps : after so many at the latest; `gap` says what was reached

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> source = np.array([[1.0], [2.0], [3.0]])
    >>> found = dcopt.problems.discrepancy_weights(source, np.array([[1.5]]), ridge=1e-4)
    >>> round(found.before, 3), bool(found.discrepancy < 0.01)
    (2.417, True)
    """
    require_number("ridge", ridge, 0.0, open_low=True)
    require_number("tol", tol, 0.0, open_low=True)
    require_count("steps", steps)
    a, z = check.as_rows(source, "source"), check.as_rows(target, "target")
    if a.shape[1] != z.shape[1]:
        raise BadInput("target", f"has {z.shape[1]} columns, source has {a.shape[1]}")
    return _ascent(a, gram(z), float(ridge) * a.shape[0], float(tol), int(steps))


def _ascent(a: RowMatrix, there: NDArray[np.float64], strength: float, tol: float, steps: int) -> Reweighting:
    """max_M min_w ⟨M, Σ w_i x_i x_iᵀ − there⟩ / λ_max + (strength/2) ‖w‖²

    The values q_i = ⟨x_i, M x_i⟩ decide w, and are linear in M, so that only those of projected points are computed.
    """
    n = a.shape[0]
    unit = float(np.linalg.eigvalsh(there)[-1]) or 1.0
    # The slope in M has the Lipschitz constant λ_max(Σ ‖x‖² x xᵀ) / (unit² strength), since ⟨x, Mx⟩² ≤ ‖x‖² ‖Mx‖².
    bend = largest_eigenvalue(a, np.asarray(a.norms2(), np.float64)) / (unit**2 * strength)
    step = 1.0 / (bend or 1.0)

    def differ(w: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((gram(a, w * n) - there) / unit)

    M, q = np.zeros(there.shape), np.zeros(n)
    ahead, q_ahead, t = M, q, 1.0
    w, low, high, after, before, k = np.full(n, 1.0 / n), -np.inf, np.inf, 0.0, 0.0, 0
    for k in range(steps + 1):
        if k % _EVERY == 0 or k == steps:
            now = onto_simplex(-q / strength)
            D, penalty = differ(now), 0.5 * strength * float(now @ now)
            size = float(np.abs(np.linalg.eigvalsh(D)).max())
            before = size if k == 0 else before  # M = 0 has equal weights.
            low = max(low, float(np.sum(M * D)) + penalty)
            if size + penalty < high:
                w, high, after = now, size + penalty, size
            if high - low <= tol or k == steps:
                break
        new, q_new = _projected(ahead + step * differ(onto_simplex(-q_ahead / strength)), a, unit)
        uphill = float(np.sum((ahead - new) * (new - M))) > 0.0
        t, old = (1.0, 1.0) if uphill else (0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t)), t)
        beta = (old - 1.0) / t
        ahead, q_ahead = new + beta * (new - M), q_new + beta * (q_new - q)
        M, q = new, q_new
    return Reweighting(w, after * unit, before * unit, high - low, k)


def _projected(M: NDArray[np.float64], a: RowMatrix, unit: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The nearest symmetric matrix with Σ |eigenvalues| ≤ 1, and its q_i"""
    e, V = np.linalg.eigh(M)
    size = np.abs(e)
    if size.sum() > 1.0:
        e = np.sign(e) * onto_simplex(size)
    some = e != 0.0
    e, V = e[some], V[:, some]
    return (V * e) @ V.T, np.asarray(a.dot(V.astype(a.dtype)), np.float64) ** 2 @ e / unit


def onto_simplex(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """max(v − μ, 0) with the μ for which the sum is 1, by sorting."""
    s = np.sort(v)[::-1]
    over = np.cumsum(s) - 1.0
    last = int(np.flatnonzero(s * np.arange(1, len(s) + 1) > over)[-1])
    x = np.maximum(v - over[last] / (last + 1), 0.0)
    return np.asarray(x / x.sum())
