"""What an adaptive run knows beside x: it is the memory of the State, and a checkpoint keeps it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..errors import BadInput
from ..estimators.base import Checked
from ..xp import Array


class Good(NamedTuple):
    """The last point at which F was known and low enough, with the estimate there: going back to it costs no pass."""

    t: int
    x: Array
    F: float
    g: Array  # the estimate of ∇f or ∇H,
    at: Array  # the point at which ∇G is taken,
    memory: Any  # and the memory of the estimator, into which no step writes


def begin(inner: Any, good: Good, level: float, window: float, comes_free: bool, failures: int = 0) -> Adapted:
    """A new window, from this point and with this level"""
    return Adapted(inner, good, level, 0.0, 0.0, 0.0, level, 0, window, failures, comes_free)


class Adapted(NamedTuple):
    """κ and the records that it is a function of. Sums are over the steps since `good`."""

    inner: Any  # the estimator's memory
    good: Good
    level: float  # κ, or the shift η
    promised: float  # Σ of what the steps promised to lower F by
    moved: float  # Σ‖Δ‖²
    shifted: float  # Σ level ‖Δ‖²: the part of the promise that is due to the level
    last: float  # the promise of the last step over its ‖Δ‖²
    age: int  # component gradients
    window: float  # passes after which F is tested at the latest
    failures: int  # tests in a row that failed
    comes_free: bool  # Where the estimator starts anew, f comes with the gradient.

    @property
    def own(self) -> float:
        """The curvature that G had along the steps, without the level"""
        return max(0.0, (self.promised - self.shifted) / self.moved) if self.moved > 0.0 else 0.0

    def times(self, ratio: float) -> float:
        """The level at which G has this ratio times the curvature that it had, on average, along the steps"""
        mean = self.promised / self.moved if self.moved > 0.0 else self.level
        return max(0.0, mean * ratio - self.own)


    def check(self) -> None:
        """Refuse numbers that no run has, and tables that are inconsistent."""
        for memory in (self.inner, self.good.memory):
            if isinstance(memory, Checked):
                memory.check()
        for name in ("level", "promised", "moved", "shifted", "last", "age", "window", "failures"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise BadInput("memory", f"its {name} is {value}")
