"""Losses of a mean eᶻ: half the unit deviance of a distribution, which is 0 where the mean is the label."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ..xp import Array, namespace
from .base import Domain, Loss

# Above this score eᶻ is continued by its Taylor polynomial of second order, so that no score overflows: no label is
# near e⁴⁰ = 2.4e17, and a convex loss has its minimum where it was.
FAR = 40.0


class LogLink(Loss):
    """ϕ(z) = (deviance of the label y from the mean eᶻ)/2 ≥ 0; its curvature has no bound that serves all labels"""

    labels = "real"
    domain: ClassVar[Domain] = "nonnegative"
    link = "log"

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, math.inf

    def centre(self, labels: Array, weights: Array) -> float:
        """log(mean of the labels), the best constant score"""
        return math.log(max(float(np.average(labels, weights=weights)), 1e-300))


def parts(z: Array) -> tuple[Array, Array]:
    """(e^min(z, 40), max(z − 40, 0)) = (e, v): eᶻ is continued as e (1 + v + v²/2), its slope as e (1 + v)"""
    xp = namespace(z)
    low = xp.clip(z, -math.inf, FAR)
    return xp.exp(low), z - low


def y_log_y(y: Array) -> Array:
    """y log y, and 0 at 0"""
    xp = namespace(y)
    return y * xp.log(xp.where(y > 0.0, y, xp.ones_like(y)))
