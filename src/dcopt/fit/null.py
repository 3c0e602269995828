"""The model without features, and the least λ for which it is the solution."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings
from ..losses.constant import minimize
from ..problem import Problem
from ..regularizers import L1, Bounded, Except, SparseGroup
from ..solve import solve
from ..subproblems.parts import kink_of
from ..sums import pieces
from .penalties import free_rows, with_lam

_NULL, _NULL_PASSES = 1e-8, 500  # The relative tolerance, and the budget, of a null model that is not a closed form.


def null_model(P: Problem) -> NDArray[Any]:
    """argmin f over unpenalised coefficients (intercept, features of weight 0), the others 0: the start of a fit."""
    f = P.sum.facts().rows
    if f is None:
        return _without_rows(P)
    x = np.zeros(P.shape, np.float64)
    intercept = isinstance(P.r, Except)
    d = P.shape[0] - intercept
    free = free_rows(P.r.of if isinstance(P.r, Except) else P.r, d)
    if intercept:
        free = np.append(free, d)
    if intercept and free.size == 1:
        x[free] = f.best_constant()
    elif free.size:
        A, labels, weights = (np.concatenate(side) for side in zip(*f.each(pieces.columns, free), strict=True))
        x[free] = minimize(f.loss, A, labels, weights, f.classes, intercept)
    if math.isinf(P.r.r1(x)):  # If 0 is outside the domain (a box), start at the nearest point.
        x = P.r.prox(x, 1.0)
    return np.asarray(x.astype(f.dtype))


def _without_rows(P: Problem) -> NDArray[Any]:
    """The same where f is no loss over rows, and there is no intercept: a weighted ℓ₁ that keeps the others at 0"""
    x, d = np.zeros(P.shape, P.dtype), P.shape[0]
    free = free_rows(P.r, d)
    if free.size:
        weights = np.ones(d)
        weights[free] = 0.0
        lam = 10.0 * float(np.abs(P.sum.all().grad(x)).max())
        while lam > 0.0:
            x = solve(replace(P, r=L1(lam=lam, weights=tuple(weights))), tol=_NULL, seed=0, passes=_NULL_PASSES).x
            lam = 10.0 * lam if x[weights > 0.0].any() else 0.0
    return x if math.isfinite(P.r.r1(x)) else np.asarray(P.r.prox(x, 1.0))


def lam_max(P: Problem, x: NDArray[Any]) -> float:
    """The least λ at which the null model x is critical: max_j |∇f(x)_j| / (weights_j ψ'(0)/λ), over blocks j.

    Of a gradient only what pulls x off its bounds counts.

    Raised by the rounding of a gradient, so that it gives the null model exactly. Where r₂ has a kink at 0 (top-k,
    ℓ₁ − ℓ₂), F may fall there at any λ, and lam_max is only a scale.
    """
    r = P.r.of if isinstance(P.r, Except) else P.r
    if isinstance(r, SparseGroup):
        return r.least_lam(_penalised(P, x)) * (1.0 + _rounding(P))
    one = kink_of(with_lam(r.of if isinstance(r, Bounded) else r, 1.0))
    if one is None:
        expected = "one with a kink at 0 where λ is a share of lam_max (also where lam is None); else give lam or lams"
        raise BadSettings("penalty", r, expected)
    g = _penalised(P, x)
    g = r.within(-g) if isinstance(r, Bounded) else g
    c, size = one.units.fit(one.c, g), one.units.norms(g)
    c = np.broadcast_to(c, size.shape)
    return float(np.max(size[c > 0.0] / c[c > 0.0], initial=0.0)) * (1.0 + _rounding(P))


def _penalised(P: Problem, x: NDArray[Any]) -> NDArray[np.float64]:
    """∇f(x) without the intercept."""
    g: NDArray[np.float64] = P.evaluation_sum.all().grad(np.asarray(x, np.float64))
    return g[:-1] if isinstance(P.r, Except) else g


def _rounding(P: Problem) -> float:
    """The relative rounding of a gradient of this problem."""
    return 1e-9 if P.dtype == np.float64 else 1e-5
