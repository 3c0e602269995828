"""Nonconvex regularizers from a concave profile ψ and its slope, which determine everything else."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import BadSettings, require
from ..xp import Array, namespace
from .base import AboveZero, Down, Stationarity, nothing, settle, total
from .units import ENTRIES, ROWS, Kinked, Lists, Units, WeightedL1


@dataclass(frozen=True)
class Profiled(AboveZero, Kinked):
    """r(x) = Σ_j weights_j ψ(|x_j|₂), ψ concave with ψ(0) = 0: r₁ = Σ weights_j ψ'(0) |x_j|₂ and r₂ = r₁ - r.

    groups: None, every entry by itself; "rows", the rows of x (d, c); or index groups that part the features.
    weights: one number ≥ 0 per feature (per group, for index groups); 0 is never penalised.
    A subclass gives ψ (`psi`), ψ' (`dpsi`, exactly `slope0` at 0), ψ'(0+) (`slope0`) and sup |ψ''|
    (`profile_L2`, None where ψ' jumps), and then where it does (`jumps`).
    """

    lam: float
    groups: Any = field(default=None, kw_only=True)
    weights: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        settle(self, "lam", 0.0)
        object.__setattr__(self, "groups", _groups(self.groups))
        object.__setattr__(self, "weights", _weights(self.weights))
        n = len(self.groups) if isinstance(self.groups, tuple) else None
        if n is not None and self.weights is not None:
            require(len(self.weights) == n, "weights", self.weights, f"one weight for each of the {n} groups")
        try:
            good = math.isfinite(self.slope0) and math.isfinite(self.profile_L2 or 0.0)
        except (OverflowError, ZeroDivisionError):
            good = False
        require(good, type(self).__name__, self, "settings whose slope and curvature at 0 are finite")

    @abstractmethod
    def psi(self, a: Array) -> Array:
        """ψ(a), a ≥ 0."""

    @abstractmethod
    def dpsi(self, a: Array) -> Array:
        """ψ'(a); any number between the one-sided slopes where ψ' jumps."""

    @property
    @abstractmethod
    def slope0(self) -> float:
        """ψ'(0+)."""

    @property
    @abstractmethod
    def profile_L2(self) -> float | None:
        """sup |ψ''|; None where ψ' jumps."""

    @property
    def jumps(self) -> tuple[tuple[float, float, float], ...] | None:
        """Every (a, ψ'(a-), ψ'(a+)) with ψ'(a-) > ψ'(a+); None: the subclass does not declare its jumps."""
        return None if self.profile_L2 is None else ()

    @property
    def certifies(self) -> Stationarity:
        return "critical" if self.jumps is None else "d-stationary"

    @cached_property
    def units(self) -> Units:
        if self.groups is None:
            return ENTRIES
        return ROWS if self.groups == "rows" else Lists(self.groups)

    @cached_property
    def kink(self) -> WeightedL1:  # It is made once, not at every step.
        c = self.slope0 if self.weights is None else self.slope0 * np.asarray(self.weights)
        return WeightedL1(c, self.units)

    @property
    def L2(self) -> float | None:
        top = 1.0 if self.weights is None else max(self.weights, default=0.0)
        return 0.0 if top == 0.0 else None if self.profile_L2 is None else top * self.profile_L2

    @property
    def shape(self) -> tuple[int, ...] | None:
        if isinstance(self.groups, tuple):
            return (sum(map(len, self.groups)),)
        return None if self.weights is None else (len(self.weights),)

    def values(self, x: Array) -> Array:
        """weights_j ψ(|x_j|₂), one per block."""
        return self._weigh(self.psi(self.units.norms(x)), x)

    def value(self, x: Array) -> float:
        return total(self.values(x))

    def subgrad(self, x: Array) -> Array:
        """(ψ'(0) - ψ'(|x_j|)) x_j / |x_j|, 0 at 0."""
        if self.units is ENTRIES and self.profile_L2 == 0.0:
            return nothing(x)
        a = self.units.norms(x)
        return self.concave(self.dpsi(a), x, a)

    def steepest(self, x: Array, down: Down) -> Array:
        """As `subgrad`, with the ψ'(|x_j|) of `slopes`."""
        if not self.jumps:
            return self.subgrad(x)
        a = self.units.norms(x)
        return self.concave(self._slope(x, a, down), x, a)

    def slopes(self, x: Array, down: Down) -> Array:
        """weights_j ψ'(|x_j|₂), one per block: the weights of the reweighted l1 step.

        Where ψ' jumps at |x_j| it is the one-sided slope s with the larger |down()_j - weights_j s x_j/|x_j||, which is
        the distance of block j.
        """
        return self._weigh(self._slope(x, self.units.norms(x), down), x)

    def _slope(self, x: Array, a: Array, down: Down) -> Array:
        """ψ'(a), a = |x_j|₂, one-sided at its jumps."""
        xp, slope = namespace(x), self.dpsi(a)
        for at, left, right in self.jumps or ():
            tied = a == at
            if int(xp.count_nonzero(tied)) > 0:  # On short arrays this is three times as fast as `any`.
                u = down()
                one, two = (xp.where(tied, s, slope) for s in (left, right))
                near, far = (self.units.norms(u - self.units.along(self._weigh(s, x), x, a)) for s in (one, two))
                slope = xp.where(far > near, two, one)
        return slope

    def concave(self, slope: Array, x: Array, a: Array) -> Array:
        """weights_j (ψ'(0) - slope_j) x_j / |x_j|: the w ∈ ∂r₂(x) with these slopes of ψ."""
        return self.units.along(self._weigh(self.slope0 - slope, x), x, a)

    def _weigh(self, a: Array, x: Array) -> Array:
        return a if self.weights is None else a * self.units.fit(self.weights, x)


def _groups(groups: Any) -> Any:
    """None, "rows", or a tuple of index tuples that part 0 … d-1."""
    if groups is None or isinstance(groups, str):
        require(groups in (None, "rows"), "groups", groups, 'None, "rows" or a list of index groups')
        return groups
    try:
        lists = tuple(tuple(int(j) for j in np.asarray(g, dtype=np.int64)) for g in groups)
    except (TypeError, ValueError):
        labels = "; of one label for each feature: [np.flatnonzero(labels == k) for k in np.unique(labels)]"
        raise BadSettings("groups", groups, 'None, "rows" or a list of index groups' + labels) from None
    times = Counter(j for g in lists for j in g)
    expected = "non-empty groups, each feature 0 ... d-1 in exactly one of them"
    require(all(lists) and bool(times) and min(times) >= 0, "groups", groups, expected)
    for j in range(len(times)):  # d different features are 0 … d − 1 if and only if none of these is missing.
        require(times[j] == 1, "groups", groups, f"{expected}; feature {j} is in {times[j]} of them")
    return lists


def _weights(weights: Sequence[float] | Array | None) -> tuple[float, ...] | None:
    """None, or a tuple of finite numbers ≥ 0 (a tuple: settings can be compared and hashed)."""
    if weights is None:
        return None
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadSettings("weights", weights, "finite numbers >= 0, one per feature or group") from None
    good = w.ndim == 1 and w.size > 0 and bool(np.all(np.isfinite(w) & (w >= 0.0)))
    require(good, "weights", weights, "finite numbers >= 0, one per feature or group")
    return tuple(w.tolist())
