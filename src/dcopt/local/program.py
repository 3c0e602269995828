"""The convex program of a step, on the rows of x that may move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..subproblems.parts import Parts, lengths, parts, radial
from .penalty import PenaltyOnWorkingSet
from .place import Place
from .policy import Accuracy, Escape, WorkingSet
from .working_set import searched_set, working_set


@dataclass(frozen=True, eq=False)
class Program:
    """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ over the working set, to a distance of tol."""

    here: Place
    columns: NDArray[np.int64]  # the working set
    x: NDArray[np.float64]  # x, u and r1 on it
    u: NDArray[np.float64]
    p: Parts
    r: PenaltyOnWorkingSet
    tol: float
    searched: bool  # The working set is one among which lower critical points are searched.
    level: NDArray[np.int64]  # rows whose mean over the classes is 0

    @classmethod
    def of(cls, here: Place, chosen: WorkingSet, accuracy: Accuracy, escape: Escape | None) -> Program:
        columns = working_set(here.C, chosen, here.support, here.off)
        wide = None
        if escape is not None and escape.looks_around(here.near, here.f.n, here.P.n):
            wide = searched_set(here.C, columns, here.u, escape.width)
        columns = columns if wide is None else wide
        r, shape = here.P.r, here.look.x.shape
        own = parts(r, shape).at(columns)
        p, u = here.p.at(columns), here.u[columns]
        if p.rows and radial(r):  # The tangent of r2 in |v_j| is nearer to it than that of w, which holds rows back.
            w = here.w[columns]
            p, u = p._replace(c=np.maximum(p.c - lengths(w)[:, None], 0.0)), u - w
        tol = accuracy.of(here.near, here.C.constant) * here.distance
        moving = PenaltyOnWorkingSet(r, here.x, columns, own, shape)
        return cls(here, columns, here.x[columns], u, p, moving, tol, wide is not None, here.level(columns, own))

    def moved(self, step: NDArray[np.float64]) -> NDArray[np.float64]:
        """x with this step on the working set, in the shape and type of x."""
        v = self.here.x.copy()
        v[self.columns] = np.clip(self.x + step, self.p.low, self.p.high)  # Rounding must not cross a bound.
        if self.level.size:
            v[self.level] -= v[self.level].mean(axis=1, keepdims=True)
        x = self.here.look.x
        return np.asarray(v.reshape(x.shape).astype(x.dtype, copy=False))
