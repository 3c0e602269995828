"""At most k features, as a penalty that is exact: least squares with the trimmed lasso."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import require, require_count, require_number
from ..problem import Problem
from ..regularizers import TopK
from ..xp import Array
from .sparse_regression import _data, sparse_regression


def trimmed_lasso(X: Any, y: Any, k: int, lam: float, *, intercept: bool = False, mu: float = 0.0) -> Problem:
    """F(x) = (1/2N) ‖Xx − y‖² + μ/2 ‖x‖² + λ Σ_{i>k} |x|_[i]:   G = the smooth part,   H = 0,   r1 = λ‖x‖₁.

    The penalty is the sum of all but the k largest |x_i|: 0 exactly where x has at most k of them, the intercept not
    counted. For λ large enough every solution is such an x. In the first step from x0 = 0 the k features with the
    largest |∇G(0)_i| move without a penalty.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> P = dcopt.problems.trimmed_lasso(np.eye(3), np.array([3.0, 0.1, -2.0]), k=1, lam=0.7)
    >>> dcopt.solve(P, "dca", steps=20, seed=0).x.round(6)
    array([3., 0., 0.])
    """
    require_count("k", k)
    require_number("lam", lam, 0.0)
    P = sparse_regression(X, y, TopK(lam, k), intercept=intercept, mu=mu)
    d = P.shape[0] - intercept
    require(k <= d, "k", k, f"at most the number of features, {d}")
    return P


def sample(seed: int) -> Problem:
    X, y = _data(seed)
    return trimmed_lasso(X, y, k=2, lam=0.5, mu=0.1)


def objective(seed: int) -> Callable[[Array], float]:
    X, y = _data(seed)

    def F(x: Array) -> float:
        return float(np.mean((X @ x - y) ** 2) / 2 + 0.05 * x @ x + 0.5 * np.sort(np.abs(x))[: len(x) - 2].sum())

    return F
