"""The limit of a loss with a rounded corner as its width goes to 0: quantile and support vector regression, exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings, require_number
from ..losses import EpsilonInsensitive, Quantile
from ..losses.base import weighted_quantile
from ..problem import Problem
from ..regularizers import Regularizer
from ..solve import solve
from ..sums import LinearSum
from .erm import erm

_FIRST, _SHRINK, _LAST = 0.3, 0.3, 1e-7  # The first width as a share of the spread of y, the ratio of two, the last.
_TOL = 1e-9  # The relative tolerance of every solve: its share of the width is below that of the limit.
_PASSES = 2000


class SharpCorner(NamedTuple):
    """x with F(x) of the loss without rounding, and F(x) − inf F ≤ gap, which is None where r is not convex

    settled: gap ≤ tol |F|; where r is not convex, the limits of the last two pairs of widths agree to tol.
    """

    x: NDArray[Any]
    F: float
    gap: float | None
    widths: tuple[float, ...]
    settled: bool


def sharp_corner(
    X: Any,
    y: Any,
    loss: Quantile | EpsilonInsensitive,
    regularizer: str | Regularizer = "zero",
    *,
    intercept: bool = False,
    sample_weight: Any = None,
    tol: float = 1e-10,
) -> SharpCorner:
    """min F(x) = (1/N) Σ w_i φ₀(⟨a_i, x⟩, y_i) + r(x), φ₀ = lim φ_width:  q u₊ + (1 − q) u₋, or (|z − y| − ε)₊

    F_width is minimized for widths that shrink, each from the last. Where r is piecewise linear, x(width) is linear
    in the width once that is small, so that two widths v > w give the limit exactly: x(w) + (x(w) − x(v)) w/(v − w).

    For a convex r the slopes s_i at x(w) are dual numbers: inf F ≥ F_w(x(w)) + (w/2N) Σ w_i s_i², up to the tolerance
    of the solve. The widths end where F at the limit is within tol |F| of that. The `width` of the loss is not used.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(101, 2)), rng.normal(size=101)
    >>> end = dcopt.problems.sharp_corner(0.0 * X, y, dcopt.losses.Quantile(q=0.5), intercept=True)
    >>> abs(end.x[-1] - np.median(y)) < 1e-8, end.settled
    (True, True)
    """
    if not isinstance(loss, Quantile | EpsilonInsensitive):
        raise BadSettings("loss", loss, "dcopt.losses.Quantile or EpsilonInsensitive")
    require_number("tol", tol, 0.0)
    targets = np.asarray(y, np.float64).ravel()
    ones = np.ones(len(targets))
    spread = float(np.mean(np.abs(targets - weighted_quantile(targets, ones, 0.5)))) if len(targets) else 1.0

    def problem(width: float) -> Problem:
        own = replace(loss, width=width)
        return erm(X, y, own, regularizer, intercept=intercept, sample_weight=sample_weight)

    x: Any = None
    last: Any = None
    limit: Any = None  # of the last two widths
    widths, width, settled = list[float](), _FIRST * (spread or 1.0), False
    while True:
        P = problem(width)
        convex = P.r.L2 == 0.0
        x = solve(P, x0=x if limit is None else limit, tol=_TOL, passes=_PASSES, seed=0).x
        before, limit = limit, None if last is None else x + (x - last) * (width / (widths[-1] - width))
        F, best = min(((_sharp(P, loss, v), v) for v in (limit, x) if v is not None), key=lambda end: end[0])
        gap = F - _least(P, x, width)
        widths.append(width)
        if convex:
            settled = gap <= tol * abs(F)
        elif limit is not None and before is not None:
            settled = bool(np.abs(limit - before).max() <= tol * max(1.0, float(np.abs(limit).max())))
        last, width = x, _SHRINK * width
        if settled or width < _LAST * (spread or 1.0):
            return SharpCorner(best, F, gap if convex else None, tuple(widths), settled)


def _least(P: Problem, x: NDArray[Any], width: float) -> float:
    """F_w(x) + (w/2N) Σ w_i s_i², s_i the slopes at x: below inf F of the loss with its corner if x minimizes F_w"""
    f = P.sum.facts().rows
    assert f is not None  # `erm` made it.
    return P.value(x) + 0.5 * width * float(f.total(_squares_of_slopes, x)) / f.n


def _sharp(P: Problem, loss: Quantile | EpsilonInsensitive, x: NDArray[Any]) -> float:
    """F(x) of the loss with its corner"""
    f = P.sum.facts().rows
    assert f is not None  # `erm` made it.
    return float(f.total(_sharp_values, loss, x)) / f.n + P.r.value(x)


def _squares_of_slopes(f: LinearSum, x: NDArray[Any]) -> float:
    """Σ w_i φ'(z_i)²"""
    s = np.asarray(f.loss.slope(f.a.dot(x.astype(f.dtype)), f.labels), np.float64)
    return float(np.sum(s * s if f.weights is None else f.weights * s * s))


def _sharp_values(f: LinearSum, loss: Quantile | EpsilonInsensitive, x: NDArray[Any]) -> float:
    """Σ w_i φ₀(z_i)"""
    u = np.asarray(f.labels - f.a.dot(x.astype(f.dtype)), np.float64)
    if isinstance(loss, Quantile):
        values = np.maximum(loss.q * u, (loss.q - 1.0) * u)
    else:
        values = np.maximum(np.abs(u) - loss.epsilon, 0.0)
    return float(np.sum(values if f.weights is None else values * f.weights))
