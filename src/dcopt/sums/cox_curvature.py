"""The Hessian of Cox's partial likelihood on some columns."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..xp import Array
from .curvature import Entries

if TYPE_CHECKING:
    from .cox import CoxSum


class CoxCurvature:
    """∇²f = (1/Σw) (Aᵀ diag(p) A − Σ_t v_t ā_t ā_tᵀ): for every event the covariance of the rows at risk"""

    classes = 1
    is_softmax = constant = exact = rough = bends_down = shows_columns = False
    dense = True

    def __init__(self, f: CoxSum, z: Array) -> None:
        self._f, self._z = f, z
        self.n, self.d = f.a.shape
        self.eps = float(np.finfo(f.dtype).eps)
        self._seen = f.risk_sets.at(z)

    @property
    def bend(self) -> NDArray[np.float64]:
        """p, above the curvature along each score"""
        return np.asarray(self._seen.weight)

    @property
    def steepest(self) -> float:
        """The mean of p: the curvature has no sup that serves all columns"""
        return float(self.bend.mean())

    @property
    def mean_bend(self) -> float:
        return 1.0

    @property
    def negative_excess(self) -> NDArray[np.float64]:
        return np.zeros(self.n)

    @property
    def row_weights(self) -> NDArray[np.float64]:
        f = self._f
        return np.full(f.n, 1.0 / f.n) if f.weights is None else np.asarray(f.weights / f.total, np.float64)

    @cached_property
    def bound(self) -> float:
        """The mean of the diagonal of AᵀpA/Σw"""
        return float(self.bend @ np.asarray(self._f.a.norms2(), np.float64)) / (self._f.total * self.d)

    def gram(self, columns: Array) -> NDArray[np.float64]:
        A = self._columns(columns)
        Q: NDArray[np.float64] = A.T @ (A * self.bend[:, None])
        for v, means in self._f.risk_sets.means(self._z, self._seen.log_sums, A):
            Q -= means.T @ (means * v[:, None])
        return Q / self._f.total

    def negative(self, columns: Array) -> NDArray[np.float64]:
        return np.zeros((len(columns), len(columns)))

    def at_zero(self, columns: Array) -> tuple[NDArray[np.float64], float]:
        Q = self.gram(columns)
        return Q, float(np.trace(Q)) / len(Q)

    def mean_squares(self, columns: Array, centred: bool = False) -> NDArray[np.float64]:
        A = self._columns(columns)
        return np.asarray(A.var(axis=0) if centred else np.mean(A * A, axis=0))

    def means_are_far(self, columns: Array, share: float) -> bool:
        return True

    def chances(self) -> NoReturn:
        raise NotImplementedError("there are no classes")

    def blocks(self, columns: Array) -> NoReturn:
        raise NotImplementedError("there are no classes")

    def entries(self, columns: Array) -> Entries:
        raise NotImplementedError("`shows_columns` is False")

    def stored(self, columns: Array) -> int:
        raise NotImplementedError("`shows_columns` is False")

    def _columns(self, columns: Array) -> NDArray[np.float64]:
        """A[:, columns] as an array"""
        unit = np.zeros((self.d, len(columns)), self._f.dtype)
        unit[columns, np.arange(len(columns))] = 1.0
        return np.asarray(self._f.a.dot(unit), np.float64)
