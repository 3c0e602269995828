"""The convex program of a step, on the rows of x that may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..subproblems.parts import Parts, lengths, parts, radial
from .penalty import PenaltyOnWorkingSet
from .place import Place
from .working_set import searched_set, working_set

if TYPE_CHECKING:
    from .settings import Local


@dataclass(frozen=True, eq=False)
class Program:
    """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ over the working set, to a distance of tol."""

    here: Place
    columns: NDArray[np.int64]  # the working set
    x: NDArray[np.float64]  # x, u and this step's r1 on it
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
        if escape is not None and (how.leaps_only or escape.looks_around(here.near, here.f.n, here.P.n)):
            wide = searched_set(here.C, columns, here.u, escape.width)
        columns = columns if wide is None else wide
        r, shape = here.P.r, here.look.x.shape
        own = parts(r, shape).at(columns)
        r1, u = here.r1.at(columns), here.u[columns]
        if r1.rows and radial(r):
            r1, u = radial_tangent(r1, u, here.w[columns])
        tol = how.accuracy.of(here.near, here.C.constant) * here.distance
        moving = PenaltyOnWorkingSet(r, here.x, columns, own, shape)
        to_centre = here.rows_to_centre(columns, own)
        return cls(here, columns, here.x[columns], u, r1, moving, tol, wide is not None, to_centre)

    def moved(self, step: NDArray[np.float64]) -> NDArray[np.float64]:
        """x with this step on the working set, in the shape and type of x."""
        v = self.here.x.copy()
        v[self.columns] = np.clip(self.x + step, self.r1.low, self.r1.high)  # Rounding must not cross a bound.
        if self.to_centre.size:
            v[self.to_centre] -= v[self.to_centre].mean(axis=1, keepdims=True)
        x = self.here.look.x
        return np.asarray(v.reshape(x.shape).astype(x.dtype, copy=False))


def radial_tangent(
    r1: Parts, u: NDArray[np.float64], w: NDArray[np.float64]
) -> tuple[Parts, NDArray[np.float64]]:
    """r1 and u with r2 linearised in |v_j| instead of ⟨w_j, v_j⟩, for an r2 that is a function of the |v_j|.

    Its tangent in |v_j| is above ⟨w_j, v_j⟩, so that the convex program is a tighter bound of F.
    """
    return r1._replace(c=np.maximum(r1.c - lengths(w)[:, None], 0.0)), u - w
