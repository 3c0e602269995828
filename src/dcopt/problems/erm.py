"""Regularised empirical risk: data, a loss and a penalty as a problem in form (S)."""

from __future__ import annotations

from typing import Any, Literal

from ..convex import LocalCurvature, ScaledIdentity, majorizing_diagonal, majorizing_gram
from ..errors import BadSettings, elsewhere, pick
from ..losses import Loss
from ..losses import loss as as_loss
from ..problem import Problem
from ..regularizers import Except, Regularizer, reweighted
from ..regularizers import regularizer as as_regularizer
from ..sums import over_rows
from ..sums.constants import majorizing_kappa, require_bounded

_INSTANCE = "regularizer=, with an instance such as dcopt.regularizers.L1(lam=0.1)"


@elsewhere(
    penalty="regularizer=", reg="regularizer=", regularization="regularizer=", weights="sample_weight=",
    fit_intercept="intercept=", lam=_INSTANCE, alpha=_INSTANCE, C=_INSTANCE,
)  # fmt: skip
def erm(
    X: Any,
    y: Any = None,
    loss: str | Loss = "squared-sigmoid",
    regularizer: str | Regularizer = "zero",
    *,
    decomposition: str = "scalar",
    kappa: float | None = None,
    intercept: bool = False,
    sample_weight: Any = None,
    concave_step: Literal["dca", "reweighted"] = "dca",
) -> Problem:
    """F(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, y_i) + r(x), in form (S): h_i = G − f_i with G = κ/2 ‖x‖², ½⟨x, Dx⟩ or ½⟨x, Qx⟩.

    Parameters
    ----------
    X : (N, d) array or sparse matrix, the rows a_i; float32 stays float32. A C-ordered float array and a CSR matrix
        are used as they are, not copied: do not write into them while the problem is in use
        Or rows in parts, `dcopt.sums.Parted`, which bring their labels and weights
    y : (N,) labels: two classes, more (softmax, x is (d, c)), or real targets, as the loss wants
    loss, regularizer : a registered name or an instance
    decomposition : "scalar", whose step is a prox; "diagonal", D_jj = sup|φ''| (1/N) Σ w_i |a_ij| ‖a_i‖₁, whose step is
        a prox with a length for every feature: rare features move further, for any d; or "gram", Q = sup|φ''| AᵀWA/N
        plus a ridge of 1e-8 of its diagonal, whose step is coordinate descent on Q: far fewer steps, for d up to a few
        thousand (8 d² bytes, at most 2 GiB); or "local", the curvature of f at the points where F is known, on the
        columns in use: every estimator makes epochs of steps in it, and F at their ends decides
    kappa : float, default L_f = sup|φ''| max w_i ‖a_i‖², times what the method asks for
    intercept : append an unpenalised column of ones; its coefficient is the last entry (row) of x
    sample_weight : (N,) weights ≥ 0, scaled to mean 1
    concave_step : "dca" linearizes r2; "reweighted" linearizes ψ(|x_j|), a tighter majorizer

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X, y = np.eye(2), np.array([-1, 1])
    >>> P = dcopt.erm(X, y, regularizer=dcopt.regularizers.Exponential(lam=0.1, alpha=5.0))
    >>> P.value(np.zeros(2))
    0.25
    """
    pick("decomposition", decomposition, ("scalar", "diagonal", "gram", "local"))
    if decomposition != "scalar" and kappa is not None:
        raise BadSettings("kappa", kappa, f'None with decomposition="{decomposition}": the data say what majorizes')
    pick("concave_step", concave_step, ("dca", "reweighted"))
    phi, r = as_loss(loss), as_regularizer(regularizer)
    f, classes = over_rows(X, y, phi, sample_weight, intercept)
    r = reweighted(r) if concave_step == "reweighted" else r
    r = Except(r) if intercept else r
    if decomposition == "gram":
        G = majorizing_gram(f)  # equal columns share a coefficient to the accuracy of the ridge, not beyond
        return Problem(G, r=r, f=f, classes=classes, inner_tol=G.resolution)
    if decomposition == "diagonal":
        return Problem(majorizing_diagonal(f), r=r, f=f, classes=classes)
    if kappa is None and decomposition == "local":
        require_bounded(f, 'decomposition="local"')
        return Problem(LocalCurvature(majorizing_kappa(f)), r=r, f=f, tunable=True, classes=classes)
    if kappa is None:
        return Problem(r=r, f=f, classes=classes)
    return Problem(ScaledIdentity(kappa), r=r, f=f, classes=classes)
