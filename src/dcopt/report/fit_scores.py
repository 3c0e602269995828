"""How good predictions are: losses, ROC curves, confusion, calibration. Arrays in, arrays out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss

Floats = NDArray[np.float64]
_PER_BIN = 20  # The least number of rows in a bin, so that its share can be compared with a probability.
_MOST_BINS = 10
_NORMAL = 1.959964  # The standard deviations of a 95 % interval.


class Roc(NamedTuple):
    """Shares of the negative and of the positive rows whose score is above a falling threshold."""

    false_positive: Floats
    true_positive: Floats
    area: float


class Bins(NamedTuple):
    """For rows of about the same predicted probability: its mean, the share that was right, Wilson's interval."""

    predicted: Floats
    share: Floats
    low: Floats
    high: Floats


def codes_of(y: Sequence[Any], classes: Sequence[Any]) -> NDArray[np.int64]:
    """The number of the class of every row; −1 for a class that is not there."""
    number = {c: k for k, c in enumerate(classes)}
    return np.array([number.get(v, -1) for v in y], np.int64)


def mean_loss(loss: Loss, z: Floats, targets: NDArray[Any]) -> float:
    """(1/N) Σ φ(z_i, target_i); z is (N, 1), or (N, c) for c classes; targets are codes or numbers. NaN for code −1."""
    if not len(z):
        return math.nan
    if loss.labels == "real":
        return float(np.mean(loss.value(z[:, 0], targets)))
    if targets.min() < 0:
        return math.nan
    if loss.labels == "binary":
        return float(np.mean(loss.value(z[:, 0], 2.0 * targets - 1.0)))
    # Of softmax with two classes only the difference is kept.
    scores = np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z
    return float(np.mean(loss.value(scores, targets)))


def against_the_others(z: Floats) -> Floats:
    """What orders the rows for each class: z_k − log Σ_{j≠k} exp z_j, the log odds of softmax; one score as it is."""
    if z.shape[1] == 1:
        return z
    return np.stack([z[:, k] - np.logaddexp.reduce(np.delete(z, k, axis=1), axis=1) for k in range(z.shape[1])], axis=1)


def roc(z: Floats, positive: NDArray[np.bool_]) -> Roc | None:
    """The curve through every threshold; None where all rows are of one kind."""
    total = int(positive.sum())
    if total in (0, len(z)):
        return None
    order = np.argsort(-z, kind="stable")
    last = np.append(np.flatnonzero(np.diff(z[order])), len(z) - 1)  # Equal scores pass a threshold together.
    hits = np.cumsum(positive[order])[last]
    true = np.append(0.0, hits / total)
    false = np.append(0.0, (last + 1 - hits) / (len(z) - total))
    return Roc(false, true, float(np.trapezoid(true, false)))


def confusion(actual: NDArray[np.int64], predicted: NDArray[np.int64], c: int) -> NDArray[np.int64]:
    """Entry [i, j]: rows of class i that are taken for class j."""
    return np.bincount(actual * c + predicted, minlength=c * c).reshape(c, c)


def calibration(p: Floats, right: NDArray[np.bool_]) -> Bins | None:
    """Bins with about equally many rows, by p, equal p together; None where the rows are too few for two of them."""
    bins = min(_MOST_BINS, len(p) // _PER_BIN)
    if bins < 2:
        return None
    cuts = np.sort(p)[len(p) * np.arange(1, bins) // bins]
    number = np.searchsorted(cuts, p, side="right")
    parts = [np.flatnonzero(number == k) for k in np.unique(number)]
    share = np.array([right[part].mean() for part in parts])
    n = np.array([len(part) for part in parts], float)
    middle = (share + _NORMAL**2 / (2 * n)) / (1 + _NORMAL**2 / n)
    half = _NORMAL / (1 + _NORMAL**2 / n) * np.sqrt(share * (1 - share) / n + _NORMAL**2 / (4 * n**2))
    # The interval contains shares of 0 and 1, up to rounding.
    ends = np.minimum(middle - half, share), np.maximum(middle + half, share)
    return Bins(np.array([p[part].mean() for part in parts]), share, *ends)


def r2(target: Floats, prediction: Floats) -> float:
    """1 − Σ (y − ŷ)² / Σ (y − ȳ)²; NaN for a constant target."""
    spread = float(np.sum((target - target.mean()) ** 2)) if len(target) else 0.0
    return 1.0 - float(np.sum((target - prediction) ** 2)) / spread if spread > 0.0 else math.nan
