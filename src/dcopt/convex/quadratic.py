"""G(x) = ½ ⟨x, Qx⟩ − ⟨q, x⟩ + const: least squares through its Gram matrix, and any metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data import check
from ..data.rows import RowMatrix
from ..data.rows import gram as row_gram
from ..errors import BadSettings, require, require_number
from ..xp import Array
from .base import Part, moved

_ACCURACY = 1e-10  # The error of the entries of a given Q that is allowed, relative to the largest.


class Spectrum(NamedTuple):
    """Q = V diag(e) Vᵀ, e increasing"""

    e: NDArray[np.float64]
    V: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Quadratic(Part):
    """G(x) = ½ ⟨x, Qx⟩ − ⟨q, x⟩ + const, Q symmetric positive semidefinite (d, d); x is (d,) or (d, c).

    Kept in float64 whatever x is. `made_of`: the data that Q, q and const were computed from, which say more than these
    do: their last bits depend on the machine.
    """

    Q: Array
    q: Array = 0.0
    const: float = 0.0
    made_of: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            Q, q = np.array(self.Q, np.float64, order="C"), np.array(self.q, np.float64)
        except (TypeError, ValueError):
            raise BadSettings("Q", self.Q, "a symmetric matrix of finite numbers") from None
        good = Q.ndim == 2 and Q.shape[0] == Q.shape[1] > 0 and bool(np.isfinite(Q).all())
        require(good, "Q", Q.shape, "a square matrix of finite numbers")
        room = _ACCURACY * float(np.abs(Q).max())
        require(bool(np.abs(Q - Q.T).max() <= room), "Q", "not symmetric", "a symmetric matrix")
        good = (q.ndim == 0 or q.shape[0] == len(Q)) and q.ndim <= 2 and bool(np.isfinite(q).all())
        require(good, "q", q.shape, f"{len(Q)} finite numbers, or as many rows")
        require_number("const", self.const, -np.inf)
        Q = 0.5 * (Q + Q.T)
        if self.made_of is None:
            _refuse_indefinite(Q, len(Q) * room)
        for name, array in (("Q", Q), ("q", q)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        return f"Quadratic(Q {self.Q.shape}, q {self.q.shape}, const={self.const:g})"

    @cached_property
    def spectrum(self) -> Spectrum:
        return Spectrum(*np.linalg.eigh(self.Q))

    @cached_property
    def _eigenvalue_error(self) -> float:
        e = self.spectrum.e
        return float(8 * len(e) * np.finfo(np.float64).eps * max(e[-1], 0.0))  # The error of a computed eigenvalue.

    @property
    def rho(self) -> float:
        return max(0.0, float(self.spectrum.e[0]) - self._eigenvalue_error)

    @property
    def L(self) -> float:
        return max(0.0, float(self.spectrum.e[-1])) + self._eigenvalue_error

    @property
    def shape(self) -> tuple[int, ...]:
        return self.q.shape if self.q.ndim == 2 else (len(self.Q),)

    def shift(self, eta: float) -> Quadratic:
        require_number("eta", eta, 0.0)
        made_of = moved(self.made_of, f"shifted by {eta:.9g}")
        return Quadratic(self.Q + eta * np.eye(len(self.Q)), self.q, self.const, made_of)

    def linear(self, x: Array) -> Array:
        """q, in the shape of x"""
        q = self.q[:, None] if self.q.ndim == 1 and x.ndim == 2 else self.q
        return np.broadcast_to(q, x.shape)

    def value(self, x: Array) -> float:
        return float(np.sum(x * (0.5 * (self.Q @ x) - self.linear(x)))) + self.const

    def grad(self, x: Array) -> Array:
        return (self.Q @ x - self.linear(x)).astype(x.dtype, copy=False)

    def hess_dot(self, x: Array, v: Array) -> Array:
        return (self.Q @ v).astype(v.dtype, copy=False)

    def bregman(self, x: Array, y: Array) -> float:
        h = x - y
        return 0.5 * float(np.sum(h * (self.Q @ h)))


def _refuse_indefinite(Q: NDArray[np.float64], room: float) -> None:
    """`room` is how far eigenvalues may be below 0: errors ε of entries change them by at most d ε."""
    if room == 0.0:  # Q = 0
        return
    try:
        np.linalg.cholesky(Q + room * np.eye(len(Q)))  # This takes a twentieth of the time of the eigenvalues.
    except np.linalg.LinAlgError:
        low = float(np.linalg.eigvalsh(Q)[0])
        require(low >= -room, "Q", f"least eigenvalue {low:.3g}", "a positive semidefinite matrix: G must be convex")


def least_squares(A: Any, b: Any, weights: Any = None) -> Quadratic:
    """G(x) = (1/2N) Σ w_i (⟨a_i, x⟩ − b_i)²: Q = AᵀWA/N, q = AᵀWb/N; weights are scaled to mean 1.

    A is dense, sparse or a row matrix; b is (N,), or (N, c) for x (d, c).
    """
    rows = check.as_rows(A, "A")
    n = rows.shape[0]
    b = check.real_array(b, "b").astype(np.float64)
    columns = [check.vector(column, "b", n) for column in (b.T if b.ndim == 2 else [b])]
    b = np.stack(columns, axis=1) if b.ndim == 2 else columns[0]
    w = check.sample_weights(weights, n, np.float64)
    wb = b if w is None else (b.T * w).T
    q = np.asarray(rows.tdot(wb), np.float64) / n
    return Quadratic(gram(rows, w), q, 0.5 * float(np.sum(b * wb)) / n, made_of=("least squares", rows, b, w))


def gram(a: RowMatrix, weights: Array | None = None) -> NDArray[np.float64]:
    """AᵀWA/N, in float64"""
    n, d = a.shape
    return np.asarray(row_gram(a, weights, np.arange(d)) / n, np.float64)
