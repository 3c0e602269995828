"""The convex program of a step: which rows of x may move, r as a function of these, and the program on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..regularizers import Regularizer
from ..subproblems.parts import Parts, entries, lengths, parts, radial
from ..sums.curvature import Curvature
from ..xp import Array
from . import costs
from .place import Place
from .policy import WorkingSet

if TYPE_CHECKING:
    from .settings import Local


def working_set(
    C: Curvature, how: WorkingSet, support: NDArray[np.bool_], distance: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The rows of x that are not 0, and the violators: rows at 0 with dist(u_j, ∂r1(0)) > 0, as many as may enter.

    Of more violators the worst enter, because the Gram matrix of m columns must not cost much more than some passes:
    m² ≤ 16 d where every entry is stored. As many as the support has may always enter.
    """
    violators = np.flatnonzero((distance > 0.0) & ~support)
    most = how.most
    if most is None:
        most = max(costs.SMALL_GRAM, math.ceil(how.dense * math.sqrt(len(distance)))) if C.dense else how.sparse
    most = max(most, int(support.sum()))
    if len(violators) > most:
        size = distance[violators]
        least = np.partition(size, -most)[-most]  # Ties go to the first rows, not to a machine's own choice.
        worse = size > least
        violators = np.concatenate((violators[worse], violators[size == least][: most - int(worse.sum())]))
    moving = support.copy()
    moving[violators] = True
    return np.flatnonzero(moving)


def searched_set(
    C: Curvature, columns: NDArray[np.int64], u: NDArray[np.float64], width: int
) -> NDArray[np.int64] | None:
    """The rows among which a search looks: all where they are few, else those with the largest slopes besides.

    None where they would have more than `width` entries.
    """
    d, k = u.shape
    every = np.arange(d)
    if d * k <= width and costs.all_columns_are_cheap(C, every).yes:
        return every
    size = np.linalg.norm(u, axis=1)
    size[columns] = 0.0
    wide: Array = np.union1d(columns, np.argsort(-size, kind="stable")[: costs.SMALL_GRAM])
    return wide if 0 < len(wide) * k <= width else None


_NEAR = 1e-5  # of an entry: how far from it r2' is seen to change


@dataclass(frozen=True, eq=False)
class PenaltyOnWorkingSet:
    """r(v), v = x[columns], x (d, k) as it is elsewhere; r takes it in this shape."""

    r: Regularizer
    x: NDArray[np.float64]
    columns: NDArray[np.int64]
    own_r1: Parts  # of r's own r1, whatever r1 a step has
    shape: tuple[int, ...]

    def _whole(self, v: NDArray[Any]) -> NDArray[Any]:
        if len(v) == len(self.x):
            return v.reshape(self.shape)
        x = self.x.copy()
        x[self.columns] = v
        return x.reshape(self.shape)

    def mine(self, a: Any) -> NDArray[np.float64]:
        """Of something in the shape of x what belongs to v"""
        all_of_it: NDArray[np.float64] = np.asarray(a, np.float64).reshape(self.x.shape)
        return all_of_it if len(self.columns) == len(self.x) else all_of_it[self.columns]

    def value(self, v: NDArray[Any]) -> float:
        """r(v), with all that does not move"""
        return self.r.value(self._whole(v))

    def each(self, v: NDArray[Any]) -> NDArray[np.float64] | None:
        """r(v), entry by entry, where it is their sum"""
        found = entries(self.r, self._whole(v))
        return None if found is None else self.mine(found)

    def slope(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """Some w ∈ ∂r2(v)"""
        return self.mine(self.r.subgrad(self._whole(v)))

    def steepest(self, v: NDArray[Any], down: Callable[[], NDArray[Any]]) -> NDArray[np.float64]:
        """The w ∈ ∂r2(v) along which F falls most; `down` gives −∇f on v, where a kink of r2 leaves a choice"""

        def whole() -> NDArray[np.float64]:
            u = np.zeros_like(self.x)
            u[self.columns] = down()
            return u.reshape(self.shape)

        return self.mine(self.r.steepest(self._whole(v), whole))

    def r2_bend(self, v: NDArray[Any]) -> NDArray[np.float64] | None:
        """The curvature of r2 at v, by differences of its slope; 0 where v is 0, None where it is 0 everywhere.

        For r2 over entries: one number for every entry, in the shape of v. For r2 over the norms of rows: one number
        for every row of v, how fast the slope of r2 grows with its norm.
        """
        if self.r.L2 == 0.0 or (self.own_r1.rows and not radial(self.r)):
            return None
        if self.own_r1.rows:
            h, (more, less) = _NEAR * lengths(v), (lengths(self.slope(t * v)) for t in (1.0 + _NEAR, 1.0 - _NEAR))
            change = more - less
        else:
            h = _NEAR * np.abs(v)
            change = self.slope(v + h) - self.slope(v - h)
        found = np.maximum(np.divide(change, 2 * h, out=np.zeros_like(h), where=h > 0.0), 0.0)
        return found if found.any() else None


@dataclass(frozen=True, eq=False)
class Program:
    """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ over the working set, to a distance of tol.

    r1 here is that of this step: what `Regularizer.linearize` chose, tightened by `radial_tangent`. Less its linear
    term it is above r and equal at x. Ridges, leaps and what is not penalised follow from r's own r1, `r.own_r1`.
    """

    here: Place
    columns: NDArray[np.int64]  # the working set
    x: NDArray[np.float64]  # x, u and r1 on it
    u: NDArray[np.float64]
    r1: Parts
    r: PenaltyOnWorkingSet
    tol: float
    searched: bool  # The working set is one among which lower critical points are searched.
    to_centre: NDArray[np.int64]  # rows whose mean over the classes is set to 0

    @classmethod
    def of(cls, here: Place, how: Local) -> Program:
        columns = working_set(here.C, how.working_set, here.support, here.row_distance)
        wide, escape = None, how.escape
        if escape is not None and (how.leaps_only or escape.looks_around(here.relative_distance, here.f.n, here.P.n)):
            wide = searched_set(here.C, columns, here.u, escape.width)
        columns = columns if wide is None else wide
        r, shape = here.P.r, here.look.x.shape
        own_r1 = parts(r, shape).at(columns)
        r1, u = here.r1.at(columns), here.u[columns]
        if r1.rows and radial(r):
            r1, u = radial_tangent(r1, u, here.w[columns])
        tol = how.accuracy.of(here.relative_distance, here.C.constant) * here.distance
        moving = PenaltyOnWorkingSet(r, here.x, columns, own_r1, shape)
        to_centre = here.rows_to_centre(columns, own_r1)
        return cls(here, columns, here.x[columns], u, r1, moving, tol, wide is not None, to_centre)

    @property
    def allows_free_steps(self) -> bool:
        """Whether the Gram matrix on the working set tells all of f there, so that steps on f need no pass.

        Not on the `KnownQuadratic` that free steps are made on, whose n is 0: they would begin free steps of their own.
        """
        here = self.here
        is_made_of_components = bool(here.f.n)
        return here.C.exact and here.sees_all and is_made_of_components

    def moved(self, step: NDArray[np.float64]) -> NDArray[np.float64]:
        """x with this step on the working set, in the shape and type of x."""
        v = self.here.x.copy()
        v[self.columns] = np.clip(self.x + step, self.r1.low, self.r1.high)  # Rounding must not cross a bound.
        if self.to_centre.size:
            v[self.to_centre] -= v[self.to_centre].mean(axis=1, keepdims=True)
        x = self.here.look.x
        return np.asarray(v.reshape(x.shape).astype(x.dtype, copy=False))


def radial_tangent(r1: Parts, u: NDArray[np.float64], w: NDArray[np.float64]) -> tuple[Parts, NDArray[np.float64]]:
    """r1 and u with r2 linearised in |v_j| instead of ⟨w_j, v_j⟩, for an r2 that is a function of the |v_j|.

    Its tangent in |v_j| is above ⟨w_j, v_j⟩, so that the convex program is a tighter bound of F.
    """
    return r1._replace(c=np.maximum(r1.c - lengths(w)[:, None], 0.0)), u - w
