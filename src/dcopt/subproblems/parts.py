"""The parts of a regularizer's r1, for sub-solvers that need more than its prox."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..regularizers import L2, Bounded, Box, ElasticNet, Except, Regularizer, Reweighted, SparseGroup, WeightedL1, Zero
from ..regularizers.profiled import Profiled
from ..regularizers.units import ENTRIES, Entries, Kinked, Lists, Rows


class Parts(NamedTuple):
    """r1(x) = Σ c |x| + m/2 x² over entries, or Σ c_j ‖x_j‖ + m_j/2 ‖x_j‖² over rows, and low ≤ x ≤ high.

    All arrays are (d, k), for x (d,) with k = 1; over rows there are no bounds and c, m are constant in each row.
    """

    c: NDArray[np.float64]
    m: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    rows: bool

    def at(self, some: NDArray[np.int64]) -> Parts:
        """The parts of some rows of x"""
        return Parts(self.c[some], self.m[some], self.low[some], self.high[some], self.rows)

    def apart(self) -> Parts:
        """The parts of x as one column of its entries"""
        c, m, low, high = (part.reshape(-1, 1) for part in self[:4])
        return Parts(c, m, low, high, self.rows)


def kink_of(r: Regularizer) -> WeightedL1 | None:
    """The weighted l1 that is r1, or the kinked half of an elastic net."""
    if isinstance(r, Reweighted):
        r = r.of
    if isinstance(r, ElasticNet):
        r = r.kinked
    return r.kink if isinstance(r, Kinked) else r if isinstance(r, WeightedL1) else None


def blocks(r: Regularizer) -> bool:
    """Whether r1 is separable by blocks of features, so that its prox takes one step length for each feature."""
    if isinstance(r, Except | Bounded):
        return blocks(r.of)
    return isinstance(r, (Zero, L2, Box, SparseGroup)) or kink_of(r) is not None or hasattr(r, "parts")


def separable(r: Regularizer) -> bool:
    """Whether r1 is separable by coefficient or by row, so that `parts` applies. Groups of several features are not.

    Nor are bounds together with a penalty over rows, and sparse groups.
    """
    if isinstance(r, Except):
        return separable(r.of)
    if isinstance(r, Bounded):
        return isinstance(r.units, Entries)
    kink = kink_of(r)
    return blocks(r) and not isinstance(r, SparseGroup) and (kink is None or not isinstance(kink.units, Lists))


def entries(r: Regularizer, x: NDArray[Any]) -> NDArray[Any] | None:
    """The contribution of each entry of x to r(x), where r is a sum of concave profiles of entries."""
    if isinstance(r, Except):
        head = entries(r.of, x[: -r.last])
        return None if head is None else np.concatenate((head, np.zeros_like(x[-r.last :])))
    r = r.of if isinstance(r, Reweighted) else r
    if not isinstance(r, Profiled) or isinstance(r.units, Lists) or (x.ndim > 1 and not isinstance(r.units, Entries)):
        return None
    return np.asarray(r.values(x))


def is_sum_over_entries(r: Regularizer, shape: tuple[int, ...]) -> bool:
    """Whether r is a sum of concave profiles of entries."""
    return entries(r, np.zeros(shape)) is not None


def radial(r: Regularizer) -> bool:
    """Whether r is a sum of concave profiles of the norms of rows."""
    if isinstance(r, Except):
        return radial(r.of)
    r = r.of if isinstance(r, Reweighted) else r
    return isinstance(r, Profiled) and isinstance(r.units, Rows)


def lengths(x: NDArray[Any]) -> NDArray[np.float64]:
    """|x_j| of every row"""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", x, x)))


def directions(x: NDArray[Any]) -> NDArray[np.float64]:
    """x_j / |x_j| of every row, 0 at 0"""
    size = lengths(x)[:, None]
    return np.asarray(np.divide(x, size, out=np.zeros(x.shape), where=size > 0.0))


def within(rows: NDArray[Any], k: int) -> NDArray[np.int64]:
    """The positions of the k entries of these rows in x as one column"""
    return np.asarray((rows[:, None] * k + np.arange(k)).reshape(-1))


def smooth(r: Regularizer) -> bool:
    """Whether r1 is 0 or a half square."""
    return smooth(r.of) if isinstance(r, Except) else isinstance(r, (Zero, L2))


def homogeneous(r: Regularizer) -> bool:
    """Whether r1(tx) = t r1(x) for t > 0: a weighted l1 or a cone. A regularizer may declare it."""
    if isinstance(r, Except):
        return homogeneous(r.of)
    if isinstance(r, Bounded):
        return homogeneous(r.of) and homogeneous(r.box)
    if isinstance(r, Box):
        return all(bool(np.all((b == 0.0) | np.isinf(b))) for b in map(np.asarray, r.bounds))
    if isinstance(r, ElasticNet):
        return r.mu == 0.0
    return isinstance(r, Zero) or kink_of(r) is not None or bool(getattr(r, "homogeneous", False))


def parts(r: Regularizer, shape: tuple[int, ...]) -> Parts:
    """The parts of a separable r1, for x of this shape. A user's regularizer may define a method `parts(shape)`."""
    if hasattr(r, "parts"):
        own: Parts = r.parts(shape)
        return own
    if isinstance(r, Except):
        head, last = parts(r.of, (shape[0] - r.last, *shape[1:])), r.last
        free = (0.0, 0.0, -math.inf, math.inf)
        wide = [np.concatenate([a, np.full((last, a.shape[1]), b)]) for a, b in zip(head[:4], free, strict=True)]
        return Parts(wide[0], wide[1], wide[2], wide[3], head.rows)
    if isinstance(r, Bounded):
        inner, limits = parts(r.of, shape), parts(r.box, shape)
        return inner._replace(low=limits.low, high=limits.high)
    x = np.zeros(shape)
    c: Any = 0.0
    m: Any = 0.0
    low: Any = -math.inf
    high: Any = math.inf
    rows, kink = False, kink_of(r)
    if kink is not None:
        c, rows = kink.units.fit(kink.c, x), x.ndim == 2 and not isinstance(kink.units, Entries)
    if isinstance(r, ElasticNet):
        m = r.mu if r.weights is None else r.mu * ENTRIES.fit(r.weights, x)
    elif isinstance(r, L2):
        m = r.lam
    elif isinstance(r, Box):
        low, high = (ENTRIES.fit(b, x) for b in r.bounds)
    full = [np.empty(shape) for _ in range(4)]
    for one, number in zip(full, (c, m, low, high), strict=True):
        one[...] = number
    wide = [one.reshape(shape[0], -1) for one in full]
    return Parts(wide[0], wide[1], wide[2], wide[3], rows)
