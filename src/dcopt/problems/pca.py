"""The direction of most variance, nonnegative or sparse: F(x) = −(1/2N) ‖Xx‖² + λ‖x‖₁ in the unit ball."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convex import ScaledIdentity
from ..data import check
from ..errors import require, require_count, require_number
from ..losses import Squared
from ..problem import Problem
from ..regularizers import Ball
from ..sums.constants import largest_eigenvalue
from ..xp import Array
from .base import ConvexSum


def pca(X: Any, *, nonnegative: bool = True, lam: float = 0.0, eta: float | None = None) -> Problem:
    """F(x) = −(1/2N) Σ ⟨a_i, x⟩² + λ‖x‖₁ over ‖x‖ ≤ 1 (and x ≥ 0):   G = η/2 ‖x‖²,   h_i = ⟨a_i, x⟩²/2 + η/2 ‖x‖².

    The step is a soft threshold, a positive part and a scaling to the ball: the power method with a memory η. Rows are
    taken as they are: subtract the mean for variances. x = 0 is critical: start from `pca_start(X)`.

    Parameters
    ----------
    eta : default λ_max(XᵀX/N) / 10; small is fast, large is what batches can be trusted with

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X = np.array([[2.0, 1.0, 0.0], [2.0, 0.0, -1.0], [1.0, 1.0, 0.0]])
    >>> P = dcopt.problems.pca(X)
    >>> dcopt.solve(P, "dca", steps=200, x0=dcopt.problems.pca_start(X), seed=0).x.round(4)
    array([0.9379, 0.3469, 0.    ])
    """
    require(isinstance(nonnegative, bool), "nonnegative", nonnegative, "True or False")
    require_number("lam", lam, 0.0)
    rows = check.as_rows(X)
    n = rows.shape[0]
    if eta is None:
        eta = 0.1 * largest_eigenvalue(rows, np.full(n, 1.0 / n)) or 1.0
    require_number("eta", eta, 0.0, open_low=True)
    H = ConvexSum(rows, Squared(), np.zeros(n, rows.dtype))
    return Problem(ScaledIdentity(float(eta)), H, Ball(1.0, float(lam), nonnegative), eta=float(eta))


def pca_start(X: Any, *, nonnegative: bool = True, steps: int = 100) -> Array:
    """The leading eigenvector of XᵀX by the power method; nonnegative: the longer of its two positive parts."""
    require_count("steps", steps, 0)
    rows = check.as_rows(X)
    v = np.random.Generator(np.random.Philox(0)).standard_normal(rows.shape[1]).astype(rows.dtype)
    for _ in range(steps):
        v = rows.tdot(rows.dot(v))
        v = v / (np.linalg.norm(v) or 1.0)
    if nonnegative:
        v = max(np.maximum(v, 0.0), np.maximum(-v, 0.0), key=lambda p: float(np.linalg.norm(rows.dot(p))))
        v = v / (np.linalg.norm(v) or 1.0)
    return np.asarray(v)


def sample(seed: int) -> Problem:
    return pca(_data(seed), lam=0.1)


def objective(seed: int) -> Callable[[Array], float]:
    X = _data(seed)
    return lambda x: float(-np.mean((X @ x) ** 2) / 2 + 0.1 * np.abs(x).sum())


def _data(seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=(30, 5)) * [3.0, 2.0, 1.0, 1.0, 1.0]
