"""Means over seeds with their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..report.panels import Verdict

ATTAINED = 0.9  # A bound counts as attained where this share of it is reached.
_DIFFERENCES = 1e-6  # The relative error of curvature that is seen by differences.


class Mean(NamedTuple):
    """Student's interval; infinite for a single run."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.5f} [{self.low:.5f}, {self.high:.5f}]"

    def below(self, bound: float) -> Verdict:
        """The verdict on "it is below the bound"."""
        if math.isnan(self.value):
            return "not testable here"
        if self.high < bound:
            return "supported"
        return "not supported" if self.low > bound else "not distinguishable"

    def within(self) -> Verdict:
        """The verdict on an upper bound, of which this is the share that was measured."""
        if self.low <= 1.0 and self.high < ATTAINED:
            return "bound holds, not attained"
        return self.below(1.0 + _DIFFERENCES)


def mean(values: Sequence[float]) -> Mean:
    """The mean of independent values. NaN stays NaN."""
    v = np.asarray(values, float)
    middle = float(v.mean())
    if len(v) < 2:
        return Mean(middle, -math.inf, math.inf)
    from scipy.stats import t

    half = float(t.ppf(0.975, len(v) - 1) * v.std(ddof=1) / math.sqrt(len(v)))
    return Mean(middle, middle - half, middle + half)
