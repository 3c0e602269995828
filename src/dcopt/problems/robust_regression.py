"""Regression with bounded influence of large errors: F(x) = (1/N) Σ ℓ(⟨a_i, x⟩ − y_i) + r(x), ℓ nearly bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from ..convex import least_squares
from ..errors import BadInput, BadSettings, pick, require, require_count, require_number
from ..losses import Loss, Residual
from ..losses import loss as as_loss
from ..problem import Problem
from ..regularizers import L2, Regularizer
from ..xp import Array, namespace
from .base import ConvexSum, regression, resolution

_FITTED = 1e-10  # Residuals below this share of the targets are rounding.
# scale / σ at which the efficiency is 95 % of that of least squares, for normal errors with deviation σ.
TUNING = {"welsch": 2.985, "tukey": 4.685, "cauchy": 2.385, "geman-mcclure": 3.787, "truncated": 2.795}


@dataclass(frozen=True)
class Truncated(Residual):
    """ϕ(e) = min(e², 1)/2: least squares, constant from |e| = 1 on, where its slope jumps"""

    @property
    def curvature(self) -> tuple[float, float]:
        return -inf, 1.0

    def phi(self, e: Array) -> Array:
        return 0.5 * namespace(e).minimum(e * e, 1.0)

    def dphi(self, e: Array) -> Array:
        return namespace(e).where(namespace(e).abs(e) > 1.0, 0.0 * e, e)

    def ddphi(self, e: Array) -> Array:
        return namespace(e).where(namespace(e).abs(e) > 1.0, 0.0 * e, 0.0 * e + 1.0)


@dataclass(frozen=True)
class Excess(Loss):
    """ϕ(z) = e²/2 − ℓ(e), e = z − label: convex where ℓ″ ≤ 1"""

    of: Loss
    labels = "real"

    @property
    def curvature(self) -> tuple[float, float]:
        low, high = self.of.curvature
        return 1.0 - high, 1.0 - low

    def value(self, z: Array, labels: Array) -> Array:
        e = z - labels
        return 0.5 * (e * e) - self.of.value(z, labels)

    def slope(self, z: Array, labels: Array) -> Array:
        return (z - labels) - self.of.slope(z, labels)

    def bend(self, z: Array, labels: Array) -> Array:
        return 1.0 - self.of.bend(z, labels)


def robust_regression(
    X: Any,
    y: Any,
    loss: str | Loss = "tukey",
    regularizer: str | Regularizer = "zero",
    *,
    scale: float | None = None,
    intercept: bool = False,
) -> Problem:
    """F(x) = (1/N) Σ ℓ(e_i) + r(x), e = Xx − y:   G = (1/2N) Σ e_i²,   h_i = e_i²/2 − ℓ(e_i).

    Every step is a least-squares problem with the same matrix (plus r1), whatever the loss.

    Parameters
    ----------
    loss : "tukey", "welsch", "geman-mcclure", "cauchy", "truncated" (its h_i have a kink), or an instance with ℓ″ ≤ 1
    scale : c of ℓ(e) = c² φ(e/c): errors far above c are ignored. Default: for 95 % efficiency if the median absolute
        residual of least squares told σ. Gross errors inflate it: better `scale_of` at `robust_start(X, y)`.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X, y = np.arange(1.0, 6.0)[:, None], np.array([2.0, 4.0, 6.0, 8.0, 100.0])
    >>> P = dcopt.problems.robust_regression(X, y, "tukey", scale=5.0)
    >>> dcopt.solve(P, "dca", steps=100, x0=[3.0]).x.round(6)
    array([2.])
    """
    rows, targets, r = regression(X, y, regularizer, intercept)
    G = least_squares(rows, targets)
    if isinstance(loss, Loss):
        require(scale is None, "scale", scale, "None with an instance: the loss has its own")
        ell = loss
    else:
        pick("loss", loss, TUNING)
        if scale is None:
            x = np.linalg.lstsq(G.Q, G.q, rcond=None)[0]
            scale = scale_of(rows.dot(x.astype(rows.dtype)) - targets, loss)
            if not scale > _FITTED * float(np.linalg.norm(targets)) / len(targets) ** 0.5:
                raise BadSettings("scale", None, "a number here: half of the residuals of least squares are 0")
        require_number("scale", scale, 0.0, open_low=True)
        ell = Truncated(float(scale)) if loss == "truncated" else replace(as_loss(loss), c=float(scale))  # type: ignore[type-var]
    real = ell.labels == "real" and ell.curvature[1] <= 1.0
    require(real, "loss", loss, "a loss of residuals with second derivative at most 1")
    return Problem(G, ConvexSum(rows, Excess(ell), targets), r, inner_tol=resolution(float(np.linalg.norm(G.q))))


def scale_of(residuals: Any, loss: str = "tukey") -> float:
    """TUNING[loss] · 1.4826 · median |e|: the scale for 95 % efficiency, from residuals most of which are good."""
    e = np.abs(np.asarray(residuals, np.float64))
    if e.ndim != 1 or not e.size or not np.isfinite(e).all():
        raise BadInput("residuals", "expected a vector of finite numbers")
    return TUNING[pick("loss", loss, TUNING)] * 1.4826 * float(np.median(e))


def robust_start(X: Any, y: Any, *, intercept: bool = False, steps: int = 100) -> Array:
    """argmin Σ |⟨a_i, x⟩ − y_i| / ‖a_i‖, approximately: a start that gross errors and long rows influence little.

    It minimises absolute values over rows of length 1: the influence of an error is its sign alone, that of a row does
    not depend on its length, and no scale is needed, which gross errors would inflate. The method is reweighted least
    squares with w_i = 1/(‖a_i‖ max(|e_i|, δ‖a_i‖)), δ a tenth of the median of |e_i|/‖a_i‖, until x moves by less than
    1e-4 of itself.
    """
    require_count("steps", steps)
    rows, targets, _ = regression(X, y, "zero", intercept)
    length = np.sqrt(np.asarray(rows.norms2(), np.float64))
    length[length == 0.0] = 1.0
    x, w = np.zeros(rows.shape[1]), np.ones(rows.shape[0])
    for _ in range(steps):
        G, before = least_squares(rows, targets, w), x
        x = np.linalg.lstsq(G.Q, G.q, rcond=None)[0]
        e = np.abs(rows.dot(x.astype(rows.dtype)) - targets) / length
        delta = 0.1 * float(np.median(e))
        if delta == 0.0 or np.linalg.norm(x - before) <= 1e-4 * np.linalg.norm(x):
            break
        w = 1.0 / (length**2 * np.maximum(e, delta))
    return x.astype(rows.dtype)


def sample(seed: int) -> Problem:
    X, y = _data(seed)
    return robust_regression(X, y, "tukey", L2(0.1), scale=1.5, intercept=True)


def objective(seed: int) -> Callable[[Array], float]:
    X, y = _data(seed)

    def F(x: Array) -> float:
        u = np.minimum(((X @ x[:-1] + x[-1] - y) / 1.5) ** 2, 1.0)
        return float(np.mean(1.5**2 * (1.0 - (1.0 - u) ** 3) / 6.0)) + 0.05 * float(x[:-1] @ x[:-1])

    return F


def _data(seed: int) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(40, 5))
    return X, X @ draw.normal(size=5) + np.where(draw.random(40) < 0.3, 10.0, 0.1) * draw.normal(size=40)
