"""The model as a matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...linalg.symmetric import one_thread, positive
from ...subproblems.eliminated import Eliminated
from ...subproblems.parts import Parts, directions
from ...subproblems.quadratic import minimize, times
from ...sums.curvature import Curvature
from .base import KEPT


@dataclass(frozen=True, eq=False)
class DenseModel:
    """Q, with the same rows and columns as v, or one for every entry of v."""

    Q: NDArray[np.float64]
    mu: NDArray[np.float64]  # the diagonal of μR, Q ⪰ μR
    tiny: bool = False  # Compiling would take longer than all the rest.
    constant: bool = False  # Q is the same at every x: a program that is solved to the end leaves little to do.
    less: Eliminated | None = None  # R is diagonal in its coordinates, where an intercept is that of centred columns.

    def minimize(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩"""
        free = None if self.less is None else self.less.left
        return minimize(self.Q, x, u, p, tol, free=free, few_passes=self.constant, compiled=not self.tiny)

    def shorter(
        self, tau: float, step: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float
    ) -> NDArray[np.float64]:
        """The step of τQ"""
        return np.asarray(self.scaled(tau).minimize(x, u, p, tol) - x)

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
        if self.less is not None:
            return self.less.centred(v, self.mu)
        return np.asarray(v * self.mu.reshape(v.shape if len(self.mu) == v.size else (-1, 1)))

    def ridge_quad(self, d: NDArray[Any]) -> float:
        """⟨d, μRd⟩"""
        return float(np.sum(d * self.ridge(d)))

    def minus_negative(self, C: Curvature, columns: NDArray[np.int64]) -> DenseModel:
        """Q − E, E what C has more than ∇²f"""
        E = C.negative(columns)
        return self._minus(np.diagonal(E), lambda theta: self.Q - theta * E)

    def minus_penalty_curvature(self, bend: NDArray[Any], x: NDArray[Any]) -> DenseModel:
        """Q − E, E = diag(bend), or bend_j x_j x_jᵀ/|x_j|² in the block of each row"""
        d, k = x.shape
        if bend.ndim == 1:
            if len(self.Q) == d:
                return self
            unit = directions(x)
            E, j = bend[:, None, None] * unit[:, :, None] * unit[:, None, :], np.arange(d)
            lost = (bend[:, None] * unit * unit).reshape(-1)
        else:
            lost = bend.reshape(-1) if len(self.Q) == bend.size else bend.min(axis=1)

        def less(theta: float) -> NDArray[np.float64]:
            M = self.Q.copy()
            if bend.ndim == 1:
                M.reshape(d, k, d, k)[j, :, j, :] -= theta * E
            else:
                M[np.diag_indices(len(M))] -= theta * lost
            return M

        return self._minus(lost, less)

    def _minus(self, lost: NDArray[Any], less: Callable[[float], NDArray[np.float64]]) -> DenseModel:
        """With the largest share θ of E, diagonal `lost`, that leaves it positive definite; itself where none does"""
        h = np.diagonal(self.Q)
        with one_thread(len(self.Q)):
            for theta in (1.0, 0.5, 0.25):
                if np.all(h - theta * lost > KEPT * h) and positive(M := less(theta)):
                    return replace(self, Q=M, constant=False)
        return self
