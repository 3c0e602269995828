"""Least squares with a penalty that selects: SCAD, MCP, capped l1, …"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..convex import least_squares
from ..data import check
from ..errors import pick, require, require_count, require_number
from ..problem import Problem
from ..regularizers import SCAD, Regularizer, reweighted
from ..xp import Array
from .base import Nothing, regression, resolution


def sparse_regression(
    X: Any,
    y: Any,
    penalty: str | Regularizer = "scad",
    *,
    intercept: bool = False,
    sample_weight: Any = None,
    concave_step: Literal["dca", "reweighted"] = "dca",
    mu: float = 0.0,
) -> Problem:
    """F(x) = (1/2N) Σ w_i (⟨a_i, x⟩ − y_i)² + μ/2 ‖x‖² + r(x):   G = the smooth part,   H = 0.

    After one pass over the data (the Gram matrix, d × d) every step is a small lasso. H has one component, so that a
    *pass* of `solve` is one such program: dcopt.solve(P, "dca", steps=50). With more features than rows G is not
    strongly convex and the gap has no bound: take μ > 0 or measure="criticality".

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X, y = np.eye(3), np.array([3.0, 0.1, -2.0])
    >>> P = dcopt.problems.sparse_regression(X, y, dcopt.regularizers.SCAD(lam=0.1))
    >>> dcopt.solve(P, "dca", steps=20, seed=0).x.round(6)
    array([ 3.,  0., -2.])
    """
    pick("concave_step", concave_step, ("dca", "reweighted"))
    require_number("mu", mu, 0.0)
    rows, targets, r = regression(X, y, penalty, intercept, "penalty")
    weights = check.sample_weights(sample_weight, rows.shape[0], np.float64)
    G = least_squares(rows, targets, weights)
    if mu > 0.0:
        G = G.shift(float(mu))
    r = reweighted(r) if concave_step == "reweighted" else r
    return Problem(G, Nothing((rows.shape[1],)), r, inner_tol=resolution(float(np.linalg.norm(G.q))))


def largest_lam(P: Problem, free: int = 0) -> float:
    """max |∇G(0)|: with λ at least this, 0 minimises G + λ‖x‖₁, so that paths of λ begin here.

    The last `free` entries (the intercept) do not count.
    """
    require_count("free", free, 0)
    require(free < P.shape[0], "free", free, f"less than the {P.shape[0]} features")
    g = np.abs(P.G.grad(np.zeros(P.shape)))
    return float(g[: len(g) - free].max())


def sample(seed: int) -> Problem:
    X, y = _data(seed)
    return sparse_regression(X, y, SCAD(0.2), mu=0.1)


def objective(seed: int) -> Callable[[Array], float]:
    X, y = _data(seed)

    def F(x: Array) -> float:
        t = np.abs(x)
        middle = (2 * 3.7 * 0.2 * t - t**2 - 0.2**2) / (2 * 2.7)
        scad = np.where(t <= 0.2, 0.2 * t, np.where(t <= 3.7 * 0.2, middle, 0.2**2 * 4.7 / 2))
        return float(np.mean((X @ x - y) ** 2) / 2 + 0.05 * x @ x + scad.sum())

    return F


def _data(seed: int) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(30, 6))
    return X, X @ np.array([2.0, 0, 0, -1.0, 0, 0.3]) + 0.3 * draw.normal(size=30)
