"""Symmetric matrices, a few hundred columns wide: what LAPACK does faster than NumPy lets it, and sweeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blas_threads import one_thread as one_thread


def square(Q: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """The rows and columns of Q at these places; a copy, in a third of the time of Q[np.ix_(places, places)]."""
    return Q.copy() if len(places) == len(Q) else np.asarray(Q.take(places, axis=0).take(places, axis=1))


def positive(Q: NDArray[np.float64]) -> bool:
    """Whether Q has Cholesky factors; NumPy takes four times as long, and clears the half that nobody asked for."""
    from scipy.linalg.lapack import dpotrf

    return bool(np.isfinite(Q).all()) and not dpotrf(Q, lower=1, clean=0)[1]


def solve_positive(Q: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Q⁻¹ b by Cholesky factors, in half of the time of others; None where there are none."""
    from scipy.linalg.lapack import dposv

    if not b.size:
        return b
    _, x, info = dposv(Q, b, lower=1)
    return np.asarray(x) if info == 0 else None


def solve(Q: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Q⁻¹ b. None where Q is singular, or as good as that: what comes out does not solve the system."""
    if (found := solve_positive(Q, b)) is not None:
        return found
    try:
        x = np.linalg.solve(Q, b)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(x) if np.linalg.norm(Q @ x - b) <= 1e-6 * np.linalg.norm(b) else None


class Swept:
    """T = [[−Q_SS⁻¹, Q_SS⁻¹ Q_SN], [Q_NS Q_SS⁻¹, Q_NN − Q_NS Q_SS⁻¹ Q_SN]], Q positive definite, N the places not in S

    A place that comes to S or leaves it costs one product of two vectors (the sweep operator).
    """

    def __init__(self, Q: NDArray[np.float64], S: NDArray[np.int64]) -> None:
        self._in = np.zeros(len(Q), np.bool_)
        self._in[S] = True
        N = np.flatnonzero(~self._in)
        inverse, cross = np.linalg.inv(square(Q, S)), Q[np.ix_(S, N)]
        follow = inverse @ cross
        self.T = np.empty(Q.shape)
        self.T[np.ix_(S, S)] = -inverse
        self.T[np.ix_(S, N)] = follow
        self.T[np.ix_(N, S)] = follow.T
        self.T[np.ix_(N, N)] = square(Q, N) - cross.T @ follow

    @property
    def inverse_diagonal(self) -> NDArray[np.float64]:
        """(Q_SS⁻¹)_jj of the places in S, 0 elsewhere"""
        return np.where(self._in, -np.diagonal(self.T), 0.0)

    @property
    def schur_diagonal(self) -> NDArray[np.float64]:
        """Q_jj − Q_jS Q_SS⁻¹ Q_Sj of the places not in S, 0 elsewhere"""
        return np.where(self._in, 0.0, np.diagonal(self.T))

    def to(self, S: NDArray[np.int64]) -> None:
        """T of another S"""
        from scipy.linalg.blas import dger

        wanted = np.zeros_like(self._in)
        wanted[S] = True
        for j in np.flatnonzero(wanted != self._in):
            pivot, row = float(self.T[j, j]), self.T[j].copy()
            if not 0.0 < abs(pivot) < np.inf:
                raise np.linalg.LinAlgError("Q is singular")
            dger(-1.0 / pivot, row, row, a=self.T.T, overwrite_a=1)
            self.T[j] = self.T[:, j] = row / (-pivot if self._in[j] else pivot)
            self.T[j, j] = -1.0 / pivot
        self._in = wanted
