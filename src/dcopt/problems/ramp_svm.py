"""A support vector machine with a bounded loss for rows far on the wrong side: the ramp in place of the hinge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convex import Mean
from ..data import check
from ..errors import require_number
from ..losses import SmoothedHinge, SmoothedRamp
from ..problem import Problem
from ..regularizers import L1, Regularizer
from ..sums import LinearSum
from ..xp import Array
from .base import ConvexSum, resolution, with_intercept


def ramp_svm(
    X: Any,
    y: Any,
    regularizer: str | Regularizer = "zero",
    *,
    s: float = -1.0,
    width: float = 0.5,
    mu: float = 1e-3,
    intercept: bool = True,
) -> Problem:
    """F(x) = (1/N) Σ [H₁(m_i) − H_s(m_i)] + μ/2 ‖x‖² + r(x), m_i = y_i ⟨a_i, x⟩, H_a the hinge (a − m)₊ with a corner
    rounded over `width`:   G = mean H₁(m_i) + μ/2 ‖x‖²,   h_i = H_s(m_i).

    The loss of a row is at most 1 − s, so that wrong labels have little influence. The intercept is in ‖x‖².

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X, y = np.array([[1.0], [2.0], [-1.0], [-2.0], [50.0]]), np.array([1, 1, 0, 0, 0])
    >>> P = dcopt.problems.ramp_svm(X, y, intercept=False)
    >>> bool(dcopt.solve(P, "dca", steps=50, x0=[1.0], seed=0).x[0] > 0)
    True
    """
    SmoothedRamp(s, width)  # The caller cannot set its parameters.
    require_number("mu", mu, 0.0)
    rows = check.as_rows(X)
    labels, classes = check.labels(y, rows.shape[0], "binary", rows.dtype)
    rows, r = with_intercept(rows, regularizer, intercept)
    G = Mean(LinearSum(rows, SmoothedHinge(1.0, width), labels), float(mu))
    tol = resolution(max(1.0, float(np.mean(rows.norms2())) ** 0.5))
    return Problem(G, ConvexSum(rows, SmoothedHinge(s, width), labels), r, classes=classes, inner_tol=tol)


def sample(seed: int) -> Problem:
    X, y = _data(seed)
    return ramp_svm(X, y, L1(0.05), mu=0.1)


def objective(seed: int) -> Callable[[Array], float]:
    X, y = _data(seed)

    def hinge(a: float, m: Array) -> Array:
        return np.where(m >= a, 0.0, np.where(m <= a - 0.5, a - 0.25 - m, (a - m) ** 2))

    def F(x: Array) -> float:
        m = (2 * y - 1) * (X @ x[:-1] + x[-1])
        return float(np.mean(hinge(1.0, m) - hinge(-1.0, m)) + 0.05 * x @ x + 0.05 * np.abs(x[:-1]).sum())

    return F


def _data(seed: int) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    X = 2.0 * draw.normal(size=(40, 4))
    return X, (X[:, 0] + draw.normal(size=40) > 0).astype(int)
