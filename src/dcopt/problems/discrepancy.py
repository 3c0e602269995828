"""How much two samples differ for a linear model under squared loss: the largest |eigenvalue| of a difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..convex import least_squares
from ..data import check
from ..data.rows import RowMatrix
from ..errors import BadInput, pick, require_number
from ..losses import Squared
from ..problem import Problem
from ..regularizers import Ball
from ..sums.constants import largest_eigenvalue
from ..xp import Array
from .base import ConvexSum, resolution


def discrepancy(
    source: Any,
    target: Any,
    *,
    weights: Any = None,
    larger: Literal["target", "source"] = "target",
    eta: float | None = None,
) -> Problem:
    """F(u) = ½⟨u, M_S u⟩ − (1/2m) Σ ⟨z_j, u⟩² over ‖u‖ ≤ 1:   G = ½⟨u, (M_S + ηI) u⟩,   h_j = ⟨z_j, u⟩²/2 + η/2 ‖u‖².

    M_S = Σ w_i x_i x_iᵀ over the source rows, Σ w_i = 1, and z_j are the m target rows. −2 min F is the largest
    eigenvalue of M_T − M_S, or 0; with larger="source" that of M_S − M_T: then G is made of the target rows, and the
    h_i of the source rows. The larger of the two, the largest |eigenvalue|, is the discrepancy of linear functions
    under squared loss: for two functions of length at most Λ the mean squares of their difference on the two samples
    are no more than 4Λ² times this apart. Every local minimizer is global; u = 0 is critical: start elsewhere, at
    `pca_start(target, nonnegative=False)`, say.

    Parameters
    ----------
    source, target : rows x_i and z_j of the same width; a column of ones for an intercept makes means count too
    weights : (N,) of the source rows, ≥ 0; they are scaled to sum 1. None: 1/N each
    larger : the sample whose second moment is the larger one along u
    eta : default a tenth of the largest eigenvalue of the second moment in H, as in `pca`

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> source, target = np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [0.0, 3.0]])
    >>> P = dcopt.problems.discrepancy(source, target)    # M_T − M_S = diag(−2, 3)
    >>> result = dcopt.solve(P, "dca", tol=1e-8, x0=[0.6, 0.8])
    >>> round(-2.0 * result.certificate.F, 6)
    3.0
    """
    pick("larger", larger, ("target", "source"))
    a, z = check.as_rows(source, "source"), check.as_rows(target, "target")
    if a.shape[1] != z.shape[1]:
        raise BadInput("target", f"has {z.shape[1]} columns, source has {a.shape[1]}")
    w = _weights(weights, a)
    return _problem(a, w, z, None, eta) if larger == "target" else _problem(z, None, a, w, eta)


def _problem(low: RowMatrix, v: Array | None, high: RowMatrix, w: Array | None, eta: float | None) -> Problem:
    """G of the rows `low` with weights v, H of the rows `high` with weights w"""
    n = high.shape[0]
    size = largest_eigenvalue(high, (np.ones(n) if w is None else w) / n)
    if eta is None:
        eta = 0.1 * size or 1.0
    require_number("eta", eta, 0.0, open_low=True)
    G = least_squares(low, np.zeros(low.shape[0]), v).shift(float(eta))
    H = ConvexSum(high, Squared(), np.zeros(n, high.dtype), w)
    return Problem(G, H, Ball(), eta=float(eta), inner_tol=resolution(size))


def _weights(weights: Any, a: RowMatrix) -> Array | None:
    """Of mean 1"""
    if weights is None:
        return None
    try:
        return check.sample_weights(weights, a.shape[0], a.dtype)
    except BadInput as error:
        raise BadInput("weights", error.reason, row=error.row) from None


def sample(seed: int) -> Problem:
    source, target, w = _data(seed)
    return discrepancy(source, target, weights=w)


def source_sample(seed: int) -> Problem:
    source, target, w = _data(seed)
    return discrepancy(source, target, weights=w, larger="source")


def objective(seed: int) -> Callable[[Array], float]:
    source, target, w = _data(seed)
    M = (source.T * (w / w.sum())) @ source - target.T @ target / len(target)
    return lambda u: 0.5 * float(u @ M @ u)


def source_objective(seed: int) -> Callable[[Array], float]:
    F = objective(seed)
    return lambda u: -F(u)


def _data(seed: int) -> tuple[Array, Array, Array]:
    draw = np.random.default_rng(seed)
    source, target = draw.normal(size=(25, 4)), draw.normal(size=(15, 4)) * [2.0, 1.0, 0.5, 1.0]
    return source, target, draw.random(25) + 0.1
