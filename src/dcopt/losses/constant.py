"""The minimizer of a mean loss over few columns: best constants, and models of features that are not penalised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Loss
from .squared_sigmoid import SquaredSigmoid

_STEPS = 200  # The largest number of Newton's steps.
_FAR = 20.0  # A coefficient beyond it shows that there is no minimizer.


def best_constant(
    loss: Loss, labels: NDArray[Any], weights: NDArray[Any], classes: tuple[int, ...]
) -> NDArray[np.float64]:
    """argmin_b (1/N) Σ w_i φ(b, label_i): a number, or one for each class; shape (1, *classes)."""
    ones = np.ones((len(labels), 1))
    if loss.labels != "real":  # One row for each label is equivalent to all rows.
        labels, where = np.unique(labels, return_inverse=True)
        total = np.bincount(where, weights)
        ones, weights = np.ones((len(labels), 1)), total / total.mean()
    return minimize(loss, ones, labels, weights, classes, intercept=True)


def minimize(
    loss: Loss, A: NDArray[Any], labels: NDArray[Any], weights: NDArray[Any], classes: tuple[int, ...], intercept: bool
) -> NDArray[Any]:
    """argmin_v (1/N) Σ w_i φ(⟨A_i, v⟩, label_i) by Newton's method with |φ″|, steps halved until the value falls."""
    n, low = len(A), loss.curvature[0]
    start = np.zeros((A.shape[1], *classes))
    if intercept:
        start[-1] = _guess(loss, labels, weights, classes)
    v = start
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
        bend = np.abs(np.asarray(loss.bend(z, labels), np.float64))
        top = max(abs(low), loss.curvature[1]) if loss.bounded else float(np.mean(bend))
        bend = weights * np.maximum(bend, 1e-4 * top)
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
        return start  # The loss saturates, and the best constant is infinite.
    return v


def _guess(loss: Loss, labels: NDArray[Any], weights: NDArray[Any], classes: tuple[int, ...]) -> Any:
    """The log-odds, the logarithms of the shares, or the centre of real labels: Newton's method is short from there."""
    if loss.labels == "real":
        return loss.centre(labels, weights)
    if classes:
        share = np.log(np.maximum(np.bincount(labels, weights, classes[0]), 1e-12 * weights.sum()))
        return share - share.mean()
    if loss.curvature[0] < 0.0 and not isinstance(loss, SquaredSigmoid):
        return 0.0
    least = 1e-12 * float(weights.sum())  # A fold, or the beginning of a stream, may lack a class.
    up, down = (max(least, float(weights[side].sum())) for side in (labels > 0, labels < 0))
    return math.log(up / down)
