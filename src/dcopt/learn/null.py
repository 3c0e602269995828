"""The model without features, and the λ from which on it is the answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings
from ..losses import Loss, SquaredSigmoid
from ..problem import Problem
from ..regularizers import Except
from ..subproblems.parts import kink_of
from ..sums import LinearSum
from .penalties import free_rows, with_lam

_STEPS = 200
_FAR = 20.0  # an intercept beyond it says that there is no minimizer


def null_model(P: Problem) -> NDArray[Any]:
    """argmin f over what is never penalised (the intercept, features of weight 0), all else 0: where a fit starts."""
    f = P.f
    assert isinstance(f, LinearSum)
    x = np.zeros(P.shape, np.float64)
    intercept = isinstance(P.r, Except)
    d = P.shape[0] - intercept
    free = free_rows(P.r.of if isinstance(P.r, Except) else P.r, d)
    if intercept:
        free = np.append(free, d)
    if free.size:
        A, labels, weights = _seen(f, free, intercept and free.size == 1)
        x[free] = _minimize(f.loss, A, labels, weights, f.classes, intercept)
    if math.isinf(P.r.r1(x)):  # 0 is outside the domain (a box): the nearest point
        x = P.r.prox(x, 1.0)
    return np.asarray(x.astype(f.dtype))


def lam_max(P: Problem, x: NDArray[Any]) -> float:
    """The least λ at which the null model x is critical: max_j |∇f(x)_j| / (weights_j ψ'(0)/λ), over blocks j.

    Raised by the rounding of a gradient, so that it gives the null model exactly.
    """
    r = P.r.of if isinstance(P.r, Except) else P.r
    one = kink_of(with_lam(r, 1.0))
    if one is None:
        expected = "one with a kink at 0 where lam is a share of lam_max, or lam (lams) as numbers"
        raise BadSettings("penalty", r, expected)
    g = P.known.all().grad(np.asarray(x, np.float64))
    g = g[:-1] if isinstance(P.r, Except) else g
    c, size = one.units.fit(one.c, g), one.units.norms(g)
    c = np.broadcast_to(c, size.shape)
    rounding = 1e-9 if P.dtype == np.float64 else 1e-5
    return float(np.max(size[c > 0.0] / c[c > 0.0], initial=0.0)) * (1.0 + rounding)


def _seen(f: LinearSum, free: NDArray[np.int64], only_one: bool) -> tuple[NDArray[Any], ...]:
    """The free columns, labels and weights; with an intercept alone and few labels, one row for each label."""
    weights = np.ones(f.n) if f.weights is None else np.asarray(f.weights, np.float64)
    if only_one and f.loss.labels != "real":
        labels, where = np.unique(f.labels, return_inverse=True)
        total = np.bincount(where, weights)
        return np.ones((len(labels), 1)), labels, total / total.mean()
    unit = np.zeros((f.a.shape[1], free.size), f.dtype)
    unit[free, np.arange(free.size)] = 1.0
    return np.asarray(f.a.dot(unit), np.float64), np.asarray(f.labels), weights


def _minimize(
    loss: Loss, A: NDArray[Any], labels: NDArray[Any], weights: NDArray[Any], classes: tuple[int, ...], intercept: bool
) -> NDArray[Any]:
    """Newton's method with |φ″| (for softmax its bound), steps halved until the value falls."""
    n, low = len(A), loss.curvature[0]
    start = np.zeros((A.shape[1], *classes))
    if intercept:
        start[-1] = _guess(loss, labels, weights, classes)
    v, top = start, max(abs(low), loss.curvature[1])
    w = weights[:, None] if classes else weights

    def look(v: NDArray[Any]) -> tuple[float, NDArray[Any], NDArray[Any]]:
        z = A @ v
        value = float(np.sum(weights * loss.value(z, labels))) / n
        return value, A.T @ (w * loss.slope(z, labels)) / n, z

    value, g, z = look(v)
    tiny = 1e-14 * float(np.mean(weights[:, None] * np.abs(A)))
    for _ in range(_STEPS):
        if float(np.abs(g).max()) <= tiny:
            break
        bend = weights * np.maximum(np.abs(np.asarray(loss.bend(z, labels), np.float64)), 1e-4 * top)
        B = A.T @ (A * bend[:, None]) / n
        B[np.diag_indices(len(B))] += 1e-12 * np.trace(B) / len(B) + 1e-300
        step, t = np.linalg.solve(B, g), 1.0
        for _ in range(40):
            new = look(v - t * step)
            falls = new[0] <= value - 1e-4 * t * float(np.sum(g * step))
            if falls or (new[0] <= value + 1e-15 * abs(value) and np.abs(new[1]).max() < np.abs(g).max()):
                break
            t /= 2.0
        else:
            break
        v, (value, g, z) = v - t * step, new
    if low < 0.0 and loss.labels == "binary" and not np.abs(v).max() < _FAR:
        return start  # the loss saturates, and the best constant is infinite
    return v


def _guess(loss: Loss, labels: NDArray[Any], weights: NDArray[Any], classes: tuple[int, ...]) -> Any:
    """The log-odds, the logarithms of the shares, or the median, from where Newton's method has a short way."""
    if loss.labels == "real":
        order = np.argsort(labels, kind="stable")
        half = np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum() * (1.0 - 1e-12))
        return labels[order][min(int(half), len(order) - 1)]
    if classes:
        share = np.log(np.maximum(np.bincount(labels, weights, classes[0]), 1e-12 * weights.sum()))
        return share - share.mean()
    if loss.curvature[0] < 0.0 and not isinstance(loss, SquaredSigmoid):
        return 0.0
    least = 1e-12 * float(weights.sum())  # a fold, or the beginning of a stream, may lack a class
    up, down = (max(least, float(weights[side].sum())) for side in (labels > 0, labels < 0))
    return math.log(up / down)
