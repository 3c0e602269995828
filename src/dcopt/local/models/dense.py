"""The model as a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...linalg.symmetric import one_thread, positive
from ...subproblems.eliminated import Eliminated
from ...subproblems.parts import Parts, directions
from ...subproblems.quadratic import distances, minimize, times
from ...sums.curvature import Curvature


@dataclass(frozen=True, eq=False)
class DenseModel:
    """Q, with the same rows and columns as v, or one for every entry of v."""

    Q: NDArray[np.float64]
    mu: NDArray[np.float64]  # the diagonal of μR, Q ⪰ μR
    compiled: bool = True  # Compiled descent is worth its start.
    constant: bool = False  # Q is the same at every x: a program that is solved to the end leaves little to do.
    ridge_coordinates: Eliminated | None = None  # R is diagonal after this elimination. It is that of Q without μR.

    def minimize(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩"""
        free = None if self.ridge_coordinates is None else self.ridge_coordinates.left
        return minimize(self.Q, x, u, p, tol, free=free, few_passes=self.constant, compiled=self.compiled)

    def shorter(
        self, tau: float, step: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float
    ) -> NDArray[np.float64]:
        """The step of τQ"""
        return np.asarray(self.scaled(tau).minimize(x, u, p, tol) - x)

    def residual(self, step: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts) -> float:
        """dist(u − Q step, ∂r1(x + step)): what the program is not solved by"""
        return float(np.linalg.norm(distances(u - self.times(step), x + step, p)))

    def scaled(self, tau: float) -> DenseModel:
        """τQ"""
        return replace(self, Q=tau * self.Q, mu=tau * self.mu)

    def quad(self, d: NDArray[Any]) -> float:
        """⟨d, Qd⟩"""
        return float(np.sum(d * times(self.Q, d)))

    def times(self, v: NDArray[Any]) -> NDArray[Any]:
        """Qv"""
        return times(self.Q, v)

    def ridge(self, v: NDArray[Any]) -> NDArray[Any]:
        """μRv"""
        if self.ridge_coordinates is not None:
            return self.ridge_coordinates.ridge(v, self.mu)
        return np.asarray(v * self.mu.reshape(v.shape if len(self.mu) == v.size else (-1, 1)))

    def ridge_quad(self, d: NDArray[Any]) -> float:
        """⟨d, μRd⟩"""
        return float(np.sum(d * self.ridge(d)))

    def minus_negative(
        self, C: Curvature, columns: NDArray[np.int64], shares: tuple[float, ...]
    ) -> DenseModel | None:
        """Q − θE, E what C has more than ∇²f"""
        E = C.negative(columns)
        return self._first(self.Q - theta * E for theta in shares)

    def minus_penalty_curvature(
        self, r2_bend: NDArray[Any], x: NDArray[Any], shares: tuple[float, ...]
    ) -> DenseModel | None:
        """Q − θE, E = diag(r2_bend), or r2_bend_j x_j x_jᵀ/|x_j|² in the block of each row, which Q must have then"""
        if r2_bend.ndim == 1 and len(self.Q) == len(x):
            return None
        return self._first(self._less(theta * r2_bend, x) for theta in shares)

    def _less(self, r2_bend: NDArray[Any], x: NDArray[Any]) -> NDArray[np.float64]:
        M, (d, k) = self.Q.copy(), x.shape
        if r2_bend.ndim > 1:
            # A Q that serves every class keeps what any of them needs: the least number of the row is taken off.
            M[np.diag_indices(len(M))] -= r2_bend.reshape(-1) if len(M) == r2_bend.size else r2_bend.min(axis=1)
        else:
            unit, j = directions(x), np.arange(d)
            M.reshape(d, k, d, k)[j, :, j, :] -= r2_bend[:, None, None] * unit[:, :, None] * unit[:, None, :]
        return M

    def _first(self, matrices: Iterable[NDArray[np.float64]]) -> DenseModel | None:
        """The model with the first matrix that is positive definite; None if there is none"""
        with one_thread(len(self.Q)):
            M = next((M for M in matrices if np.all(np.diagonal(M) > 0.0) and positive(M)), None)
        return None if M is None else replace(self, Q=M, constant=False)
