"""Models as the columns of A, for one class and for several: nothing of the size of Q is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.engine import off_the_clock
from ...subproblems.parts import Parts, directions
from ...sums.curvature import Curvature, Entries
from .. import costs


@cache
def kernels() -> Any:
    """Descent on columns, compiled or loaded at first use."""
    with off_the_clock():
        from . import column_kernels

        column_kernels.make_ready()
    return column_kernels


class _ByColumns:
    """What the models share: a shorter step needs no program."""

    def shorter(
        self, tau: float, step: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float
    ) -> NDArray[np.float64]:
        """d/τ, which descends by as much as the step of τQ does"""
        return np.asarray(step / tau)


@dataclass(frozen=True, eq=False)
class ColumnModel(_ByColumns):
    """Q = Aᵀ diag(weights) A + diag(ridge)"""

    a: Entries
    weights: NDArray[np.float64]
    ridge: NDArray[np.float64]
    h: NDArray[np.float64]  # the diagonal
    mu: NDArray[np.float64]  # what `ridge` is at first

    def minimize(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ by coordinate descent, with W A (v − x) kept up to date"""
        x, u, c, m, low, high = (np.ascontiguousarray(part) for part in (x, u, *p[:4]))
        v = x.copy()
        arrays, passes = (*self.a, self.weights, self.h, self.ridge), costs.DESCENT_PASSES
        kernels().descend_columns(*arrays, x, u, v, c, m, low, high, passes, tol)
        return v

    def quad(self, d: NDArray[Any]) -> float:
        """⟨d, Qd⟩"""
        z = kernels().times(*self.a, d[:, 0].copy(), len(self.weights))
        return float(np.sum(self.weights * z * z) + np.sum(self.ridge * d[:, 0] ** 2))

    def ridge_quad(self, d: NDArray[Any]) -> float:
        """⟨d, diag(μ) d⟩"""
        return float(np.sum(self.mu * d[:, 0] ** 2))

    def minus_negative(self, C: Curvature, columns: NDArray[np.int64], shares: tuple[float, ...]) -> ColumnModel | None:
        """Q − θE, E what C has more than ∇²f: its diagonal is positive, and whether it is definite shows at the step"""
        theta, h = self._first(kernels().sizes(*self.a, C.negative_excess), shares)
        return replace(self, weights=self.weights - theta * C.negative_excess, h=h) if theta else None

    def minus_penalty_curvature(
        self, r2_bend: NDArray[Any], x: NDArray[Any], shares: tuple[float, ...]
    ) -> ColumnModel | None:
        """Q − θ diag(r2_bend), likewise"""
        theta, h = self._first(r2_bend[:, 0], shares)
        return replace(self, ridge=self.ridge - theta * r2_bend[:, 0], h=h) if theta else None

    def _first(self, E: NDArray[Any], shares: tuple[float, ...]) -> tuple[float, NDArray[np.float64]]:
        """The first share θ for which h − θE is positive, or 0, and that diagonal"""
        found = ((theta, self.h - theta * E) for theta in shares)
        return next(((theta, h) for theta, h in found if np.all(h > 0.0)), (0.0, self.h))


@cache
def class_kernels() -> Any:
    """Descent on columns for several classes, compiled or loaded at first use."""
    found = kernels()
    with off_the_clock():
        found.classes_ready()
    return found


@dataclass(frozen=True, eq=False)
class SoftmaxColumnModel(_ByColumns):
    """⟨v, Qv⟩ = Σ_i w_i ⟨z_i, (diag p_i − p_i p_iᵀ) z_i⟩ + Σ_j μ_j |v_j|² − Σ_j r2_bend_j ⟨unit_j, v_j⟩²

    z_i = ⟨a_i, v⟩ is a number for each of k classes with chances p_i.
    """

    a: Entries
    weights: NDArray[np.float64]
    p: NDArray[np.float64]
    h: NDArray[np.float64]  # above the eigenvalues of the block of every column
    mu: NDArray[np.float64]
    r2_bend: NDArray[np.float64]  # how fast the slope of r2 grows with |v_j|; 0: nothing is taken off
    unit: NDArray[np.float64]  # x_j / |x_j|

    def minimize(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ by coordinate descent over columns"""
        x, u, c, m, low, high = (np.ascontiguousarray(part) for part in (x, u, *p[:4]))
        arrays, v = (*self.a, self.weights, self.p, self.h, self.mu, self.r2_bend, self.unit), x.copy()
        class_kernels().descend_classes(*arrays, x, u, v, c, m, low, high, p.rows, costs.DESCENT_PASSES, tol)
        return v

    def quad(self, d: NDArray[Any]) -> float:
        """⟨d, Qd⟩"""
        z = class_kernels().times_classes(*self.a, np.ascontiguousarray(d), len(self.weights))
        spread = np.sum(self.p * z * z, axis=1) - np.sum(self.p * z, axis=1) ** 2
        along = np.sum(self.unit * d, axis=1)
        return float(self.weights @ spread + self.ridge_quad(d) - np.sum(self.r2_bend * along**2))

    def ridge_quad(self, d: NDArray[Any]) -> float:
        """Σ_j μ_j |d_j|²"""
        return float(np.sum(self.mu[:, None] * d**2))

    def minus_negative(self, C: Curvature, columns: NDArray[np.int64], shares: tuple[float, ...]) -> None:
        """Softmax is convex: there is nothing to take off."""
        return None

    def minus_penalty_curvature(
        self, r2_bend: NDArray[Any], x: NDArray[Any], shares: tuple[float, ...]
    ) -> SoftmaxColumnModel | None:
        """Q − θE, E = r2_bend_j x_j x_jᵀ/|x_j|² in the block of each row; of single entries nothing is taken off"""
        if r2_bend.ndim > 1:
            return None
        theta = next((theta for theta in shares if np.all(theta * r2_bend < self.h)), 0.0)
        return replace(self, r2_bend=theta * r2_bend, unit=directions(x)) if theta else None
