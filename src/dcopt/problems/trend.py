"""A piecewise constant signal in noise: F(x) = (1/2N) Σ (x_i − y_i)² + Σ_j ψ(|x_{j+1} − x_j|) + l1 ‖x‖₁."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convex import ScaledIdentity
from ..data import check
from ..losses import Squared
from ..problem import Problem
from ..regularizers import MCP, Fused
from ..regularizers.profiled import Profiled
from ..sums import LinearSum
from ..xp import Array


def trend(y: Any, differences: float | Profiled, *, l1: float = 0.0) -> Problem:
    """F(x) = (1/2N) Σ (x_i − y_i)² + r(x), r = Fused(differences, l1):   G = ‖x‖²/(2N),   H = ⟨y, x⟩/N − ‖y‖²/(2N).

    Every step is one exact prox. With a number λ, total variation, F is convex and the first step solves it; its jumps
    are too low, by about 2Nλ over the length of a piece. A concave penalty, such as MCP, leaves high jumps as they are.

    Parameters
    ----------
    y : (N,) values in their order
    differences : λ for λ Σ |x_{j+1} − x_j|, or a penalty by entries such as dcopt.regularizers.MCP(lam, gamma)
    l1 : the weight of ‖x‖₁, for signals that are 0 nearly everywhere (the fused lasso)

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> y = np.array([0.1, -0.1, 0.0, 5.1, 4.9, 5.0])
    >>> tv, mcp = 0.1, dcopt.regularizers.MCP(0.1, gamma=5.0)
    >>> [dcopt.solve(dcopt.problems.trend(y, by), "dca", tol=1e-9).x.round(6)[[0, -1]].tolist() for by in (tv, mcp)]
    [[0.2, 4.8], [0.0, 5.0]]
    """
    import scipy.sparse as sp

    n = max(1, len(y)) if np.ndim(y) else 1
    values = check.vector(y, "y", n)
    rows = check.as_rows(sp.eye_array(n, format="csr", dtype=values.dtype))
    return Problem(ScaledIdentity(1.0 / n), f=LinearSum(rows, Squared(), values), r=Fused(differences, l1))  # type: ignore[arg-type]


def sample(seed: int) -> Problem:
    return trend(_data(seed), MCP(0.02, gamma=40.0), l1=0.005)


def objective(seed: int) -> Callable[[Array], float]:
    y = _data(seed)

    def F(x: Array) -> float:
        s = np.minimum(np.abs(x[1:] - x[:-1]), 0.8)
        return float(np.mean((x - y) ** 2) / 2 + np.sum(s * (0.02 - s / 80)) + 0.005 * np.abs(x).sum())

    return F


def _data(seed: int) -> Array:
    draw = np.random.default_rng(seed)
    return np.repeat([0.0, 2.0, -1.0, -1.5], 6) + 0.3 * draw.normal(size=24)
