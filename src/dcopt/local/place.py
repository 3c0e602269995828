"""A point as a step sees it: F, ∇f and the curvature there, and how far each row of x is from critical."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..problem import Problem
from ..subproblems.eliminated import unpenalised_rows
from ..subproblems.parts import Parts, parts, radial
from ..subproblems.quadratic import distances
from ..sums import Curvature, Look, Sum

_NEAREST = 1e-4  # The least relative distance that ridges and tolerances are a share of: the least ridge of the proofs.


@dataclass(frozen=True, eq=False)
class Place:
    """x (d, k) with what one look told, and how far each row of it is from critical."""

    P: Problem
    f: Sum  # what this step sees of P.f
    look: Look
    C: Curvature
    F: float
    x: NDArray[np.float64]
    w: NDArray[np.float64]  # the subgradient of r2 along which F falls most
    u: NDArray[np.float64]  # w − ∇f(x): x is critical if u ∈ ∂r1(x)
    r1: Parts  # of this step's convex r1, which `Regularizer.linearize` chose together with w: r's own, or another
    row_distance: NDArray[np.float64]  # dist(u_j, ∂r1(x)_j) for every row j

    @classmethod
    def of(cls, P: Problem, f: Sum, look: Look) -> Place:
        C = f.curvature(look)
        assert C is not None  # `Local.check` has asked.
        w_as_x, above_r = P.r.linearize(look.x, lambda: -look.grad)  # r ≤ above_r.r1 − ⟨w, ·⟩ + const, equal at x
        r1 = parts(above_r, look.x.shape)
        x = np.array(look.x, np.float64).reshape(r1.c.shape)
        u = np.asarray(w_as_x - look.grad, np.float64).reshape(x.shape)
        w = np.asarray(w_as_x, np.float64).reshape(x.shape)
        return cls(P, f, look, C, look.f + P.r.value(look.x), x, w, u, r1, distances(u, x, r1))

    @property
    def distance(self) -> float:
        """dist(u, ∂r1(x))"""
        return math.sqrt(float(self.row_distance @ self.row_distance))

    @property
    def size(self) -> float:
        """What the distance is compared with, so that it has no unit"""
        return max(self.distance, float(np.linalg.norm(self.u)), 1e-300)

    @property
    def relative_distance(self) -> float:
        """dist(u, ∂r1(x)) / size, in [_NEAREST, 1]: 1 far from a critical point, small near one"""
        return max(self.distance / self.size, _NEAREST)

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.distance) and np.isfinite(self.F))

    @property
    def rounding(self) -> float:
        """What rounding may add to F"""
        return 8.0 * float(np.finfo(self.look.x.dtype).eps) * abs(self.F)

    @property
    def sees_all(self) -> bool:
        """Whether the step sees all components"""
        return self.f.n == self.P.n

    @property
    def is_quadratic(self) -> bool:
        """Whether f is quadratic and r2 = 0: a step in f's curvature solves the problem."""
        return self.C.constant and self.P.r.L2 == 0.0

    @property
    def support(self) -> NDArray[np.bool_]:
        """The rows of x that are not 0"""
        x = self.x
        return np.asarray(x[:, 0] != 0.0 if x.shape[1] == 1 else np.any(x != 0.0, axis=1))

    def rows_to_centre(self, columns: NDArray[np.int64], p: Parts) -> NDArray[np.int64]:
        """The rows whose mean over the classes may be 0: f does not see it, and r is not less with it"""
        if not self.C.is_softmax:
            return columns[:0]
        r = self.P.r
        rows = p.rows and (radial(r) or r.L2 == 0.0)
        return columns[np.ones(len(p.c), np.bool_) if rows else unpenalised_rows(p)]
