"""A classifier from positive and unlabelled rows, by the unbiased estimate of its risk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convex import Mean
from ..data import check
from ..errors import BadInput, BadSettings, require, require_number
from ..losses import LOSSES, Loss, Margin, SmoothedHinge
from ..losses import loss as as_loss
from ..problem import Problem
from ..regularizers import L1, Regularizer
from ..sums import LinearSum
from ..xp import Array
from .base import ConvexSum, resolution, with_intercept


def pu_learning(
    X_pos: Any,
    X_unl: Any,
    prior: float,
    loss: str | Loss = "smoothed-hinge",
    regularizer: str | Regularizer = "zero",
    *,
    mu: float = 1e-3,
    intercept: bool = True,
) -> Problem:
    """F(x) = π mean_P [ℓ(z) − ℓ(−z)] + mean_U ℓ(−z) + μ/2 ‖x‖² + r(x), z = ⟨a, x⟩, π the share of positives.

    G = π mean_P ℓ(z) + mean_U ℓ(−z) + μ/2 ‖x‖²,   h_i = π ℓ(−z_i) over the positive rows. The intercept is in ‖x‖².
    With "logistic", ℓ(z) − ℓ(−z) = −z and F is convex.

    Parameters
    ----------
    X_pos, X_unl : rows known to be positive, and rows of both kinds in their natural mixture
    prior : π in (0, 1)
    loss : a convex function of the margin: "smoothed-hinge", "logistic" or an instance

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> P = dcopt.problems.pu_learning([[1.0], [2.0]], [[1.5], [-1.0], [-2.0], [-1.5]], prior=0.25)
    >>> bool(dcopt.solve(P, "dca", steps=50, seed=0).x[0] > 0)
    True
    """
    require_number("prior", prior, 0.0, 1.0, open_low=True)
    require(prior < 1.0, "prior", prior, "a number in (0, 1)")
    require_number("mu", mu, 0.0)
    ell = SmoothedHinge() if loss == "smoothed-hinge" else as_loss(loss)
    if not isinstance(ell, Margin) or ell.curvature[0] < 0.0:
        convex = [name for name, known in LOSSES.items() if isinstance(known, Margin) and known.curvature[0] >= 0.0]
        raise BadSettings("loss", loss, "a convex loss of the margin: smoothed-hinge, " + ", ".join(convex))
    pos, unl = check.as_rows(X_pos, "X_pos"), check.as_rows(X_unl, "X_unl")
    if pos.shape[1] != unl.shape[1]:
        raise BadInput("X_unl", f"has {unl.shape[1]} columns, X_pos has {pos.shape[1]}")
    rows = check.stacked(X_pos, X_unl, "X_unl")
    rows, r = with_intercept(rows, regularizer, intercept)
    pos = with_intercept(pos, "zero", intercept)[0]
    (n_pos, n_unl), dtype = (pos.shape[0], unl.shape[0]), rows.dtype
    n = n_pos + n_unl
    signs = np.concatenate([np.ones(n_pos), -np.ones(n_unl)]).astype(dtype)
    weights = np.concatenate([np.full(n_pos, prior * n / n_pos), np.full(n_unl, n / n_unl)]).astype(dtype)
    G = Mean(LinearSum(rows, ell, signs, weights), float(mu))
    H = ConvexSum(pos, ell, -np.ones(n_pos, dtype), np.full(n_pos, prior, dtype))
    return Problem(G, H, r, inner_tol=resolution(max(1.0, float(np.mean(rows.norms2())) ** 0.5)))


def sample(seed: int) -> Problem:
    return pu_learning(*_data(seed), prior=0.4, regularizer=L1(0.05), mu=0.1)


def objective(seed: int) -> Callable[[Array], float]:
    p, u = _data(seed)

    def hinge(m: Array) -> Array:
        return np.where(m >= 1, 0.0, np.where(m <= 0.5, 0.75 - m, (1 - m) ** 2))

    def F(x: Array) -> float:
        zp, zu = p @ x[:-1] + x[-1], u @ x[:-1] + x[-1]
        risk = 0.4 * np.mean(hinge(zp) - hinge(-zp)) + np.mean(hinge(-zu))
        return float(risk + 0.05 * x @ x + 0.05 * np.abs(x[:-1]).sum())

    return F


def _data(seed: int) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    u = draw.normal(size=(30, 4)) + np.where(draw.random(30) < 0.4, 1.0, -1.0)[:, None]
    return draw.normal(size=(20, 4)) + 1.0, u
