"""The metrics of a local step, as a matrix or by the columns of A, and the convex program in each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..matrices import positive
from .cd import Reduced, class_kernels, column_kernels, kernel
from .newton import SMALL, newton, newton_rows, one_thread
from .parts import Parts, directions, lengths

TINY = 2**16  # entries of A: compiling would take longer than all the rest
_THETAS, _KEPT = (1.0, 0.5, 0.25), 0.05  # shares of E that are tried, and what must be left of the diagonal
_ROUNDS = 6  # of coordinate descent and Newton's method
_PASSES, _MOST, _ENTRIES = 10, 100, 2**23  # of the first descent: at least, at most, entries of Q that it reads
Gram = Callable[[NDArray[Any]], NDArray[Any]]
Metric: TypeAlias = "Matrix | ByColumns | ByClasses"


@dataclass(frozen=True, eq=False)
class Matrix:
    """Q, with the same rows and columns as v, or one for every entry of v."""

    Q: NDArray[np.float64]
    mu: NDArray[np.float64]  # the diagonal of μR, Q ⪰ μR
    tiny: bool = False
    same: bool = False  # at every x: a program that is solved to the end leaves little to do
    less: Reduced | None = None  # R is diagonal in its coordinates, where an intercept is that of centred columns

    def program(
        self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float, tau: float = 1.0
    ) -> NDArray[np.float64]:
        """argmin_v τ/2 ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩"""
        first = _PASSES if self.same or p.rows else max(_PASSES, min(_MOST, _ENTRIES // self.Q.size))
        Q = self.Q if tau == 1.0 else tau * self.Q
        less = None if self.less is None else Reduced.of(Q, p, self.less.left)
        if less is None:
            return _program(Q, x, u, p, tol, self.tiny, first)
        x1, u1 = less.program(x, u)  # descent would crawl along the columns' means
        start, left = (float(np.linalg.norm(distances(*here))) for here in ((u, x, p), (u1, x1, less.p)))
        tol *= min(left / start, 1.0) if start > 0.0 else 1.0  # the same share of what is to do, if that is less
        return less.solved(x, u, _program(less.Q, x1, u1, less.p, tol, self.tiny, first))

    def square(self, step: NDArray[Any]) -> float:
        """⟨step, Q step⟩"""
        return float(np.sum(step * _times(self.Q, step)))

    def times(self, v: NDArray[Any]) -> NDArray[Any]:
        """Qv"""
        return _times(self.Q, v)

    def ridge(self, v: NDArray[Any]) -> NDArray[Any]:
        """μRv"""
        if self.less is not None:
            return self.less.centred(v, self.mu)
        return v * self.mu.reshape(v.shape if len(self.mu) == v.size else (-1, 1))

    def least(self, step: NDArray[Any]) -> float:
        """⟨step, μR step⟩"""
        return float(np.sum(step * self.ridge(step)))

    def fallen(self, fall: NDArray[Any], gram: Gram) -> Matrix:
        """Q − θE, E = Aᵀ diag(fall) A"""
        E = gram(fall)
        return self._first(np.diagonal(E), lambda theta: self.Q - theta * E)

    def bent(self, bend: NDArray[Any], x: NDArray[Any]) -> Matrix:
        """Q − θE, E = diag(bend); if bend has a number for every row of x, E = bend_j x_j x_jᵀ/|x_j|² in its block, and
        Q has a row for every entry
        """
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

        return self._first(lost, less)

    def _first(self, lost: NDArray[Any], less: Callable[[float], NDArray[np.float64]]) -> Matrix:
        """With the largest θ that leaves it positive definite; itself where none does. `lost`: E's diagonal"""
        h = np.diagonal(self.Q)
        with one_thread(len(self.Q)):
            for theta in _THETAS:
                if np.all(h - theta * lost > _KEPT * h) and positive(M := less(theta)):
                    return replace(self, Q=M, same=False)
        return self


class Columns(NamedTuple):
    """Some columns of A: the entries begin_j ≤ e < end_j belong to the j-th of them, each with its row and value.

    The rows of a column are in order, each at most once: one with as many entries as A has rows has one in each.
    """

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float64]

    def sizes(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Σ_i w_i a_ij² of every column j"""
        return np.asarray(column_kernels().sizes(*self, weights))


@dataclass(frozen=True, eq=False)
class ByColumns:
    """Q = Aᵀ diag(weights) A + diag(ridge) as the columns of A: nothing of the size of Q is made."""

    a: Columns
    weights: NDArray[np.float64]
    ridge: NDArray[np.float64]
    h: NDArray[np.float64]  # the diagonal
    mu: NDArray[np.float64]  # what `ridge` is at first
    passes: int = 30  # more of them than a step is worth would be needed where Q is ill-conditioned

    def fallen(self, fall: NDArray[Any], gram: Gram) -> ByColumns:
        """Q − θE, E = Aᵀ diag(fall) A, whose diagonal is positive; whether it is definite shows at the step"""
        theta, h = self._first(self.a.sizes(fall))
        return replace(self, weights=self.weights - theta * fall, h=h) if theta else self

    def bent(self, bend: NDArray[Any], x: NDArray[Any]) -> ByColumns:
        """Q − θE, E = diag(bend), likewise"""
        theta, h = self._first(bend[:, 0])
        return replace(self, ridge=self.ridge - theta * bend[:, 0], h=h) if theta else self

    def _first(self, E: NDArray[Any]) -> tuple[float, NDArray[np.float64]]:
        """The largest θ for which the diagonal stays positive, or 0, and that diagonal"""
        found = ((theta, self.h - theta * E) for theta in _THETAS)
        return next(((theta, h) for theta, h in found if np.all(h > _KEPT * self.h)), (0.0, self.h))

    def program(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ by coordinate descent, with W A (v − x) kept up to date"""
        x, u, c, m, low, high = (np.ascontiguousarray(part) for part in (x, u, *p[:4]))
        arrays, v = (*self.a, self.weights, self.h, self.ridge), x.copy()
        column_kernels().descend_columns(*arrays, x, u, v, c, m, low, high, self.passes, tol)
        return v

    def least(self, step: NDArray[Any]) -> float:
        """⟨step, diag(μ) step⟩"""
        return float(np.sum(self.mu * step[:, 0] ** 2))

    def square(self, step: NDArray[Any]) -> float:
        """⟨step, Q step⟩"""
        z = column_kernels().times(*self.a, step[:, 0].copy(), len(self.weights))
        return float(np.sum(self.weights * z * z) + np.sum(self.ridge * step[:, 0] ** 2))


@dataclass(frozen=True, eq=False)
class ByClasses:
    """⟨v, Qv⟩ = Σ_i w_i ⟨z_i, (diag p_i − p_i p_iᵀ) z_i⟩ + Σ_j μ_j |v_j|² − Σ_j bend_j ⟨unit_j, v_j⟩², z_i = ⟨a_i, v⟩ a
    number for each of k classes with chances p_i, as the columns of A: nothing of the size of Q is made.
    """

    a: Columns
    weights: NDArray[np.float64]
    p: NDArray[np.float64]
    h: NDArray[np.float64]  # above the eigenvalues of the block of every column
    mu: NDArray[np.float64]
    bend: NDArray[np.float64]
    unit: NDArray[np.float64]
    passes: int = 30

    def bent(self, bend: NDArray[Any], x: NDArray[Any]) -> ByClasses:
        """Q − θE, E = bend_j x_j x_jᵀ/|x_j|² in the block of each row; of single entries nothing is taken off"""
        if bend.ndim > 1:
            return self
        theta = next((theta for theta in _THETAS if np.all(theta * bend <= (1.0 - _KEPT) * self.h)), 0.0)
        return replace(self, bend=theta * bend, unit=directions(x)) if theta else self

    def fallen(self, fall: NDArray[Any], gram: Gram) -> ByClasses:
        """Softmax is convex"""
        return self

    def program(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ by coordinate descent over columns"""
        x, u, c, m, low, high = (np.ascontiguousarray(part) for part in (x, u, *p[:4]))
        arrays, v = (*self.a, self.weights, self.p, self.h, self.mu, self.bend, self.unit), x.copy()
        class_kernels().descend_classes(*arrays, x, u, v, c, m, low, high, p.rows, self.passes, tol)
        return v

    def least(self, step: NDArray[Any]) -> float:
        """Σ_j μ_j |step_j|²"""
        return float(np.sum(self.mu[:, None] * step**2))

    def square(self, step: NDArray[Any]) -> float:
        """⟨step, Q step⟩"""
        z = class_kernels().times_classes(*self.a, np.ascontiguousarray(step), len(self.weights))
        spread = np.sum(self.p * z * z, axis=1) - np.sum(self.p * z, axis=1) ** 2
        along = np.sum(self.unit * step, axis=1)
        return float(self.weights @ spread + self.least(step) - np.sum(self.bend * along**2))


def distances(u: NDArray[Any], x: NDArray[Any], p: Parts) -> NDArray[np.float64]:
    """dist(u_j, ∂r1(x)_j) for every coordinate (row) j"""
    u = u - p.m * x
    if p.rows:
        away, c = lengths(u - p.c * directions(x)), p.c[:, 0]
        return np.asarray(np.where(lengths(x) > 0.0, away, np.maximum(away - c, 0.0)))
    near = np.minimum(np.maximum(u, -p.c), p.c)  # of [−c, c] to u
    away = u - np.where(x != 0.0, np.copysign(p.c, x), near)  # NaN: in u where it is in x
    held = (x >= p.high) | (x <= p.low)
    if held.any():
        away = np.where(x >= p.high, np.minimum(away, 0.0), away)
        away = np.where(x <= p.low, np.maximum(away, 0.0), away)
    return np.asarray(np.abs(away[:, 0]) if away.shape[1] == 1 else np.linalg.norm(away, axis=1))


def _times(Q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """Qv, with the same Q for every column of v or with one for all of its entries."""
    return np.asarray(Q @ v if len(Q) == len(v) else (Q @ v.ravel()).reshape(v.shape))


def _program(
    Q: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float, tiny: bool, first: int
) -> NDArray[np.float64]:
    """The program, in a Q that has a row for every entry of x or is the same for every column"""
    if len(Q) == len(x) or p.rows:
        return _descended(Q, x, u, p, tol, tiny, first)
    x1, u1 = x.reshape(-1, 1), u.reshape(-1, 1)  # every entry is a coordinate of its own
    return _descended(Q, x1, u1, p.apart(), tol, tiny, first).reshape(x.shape)


def _descended(
    Q: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float, tiny: bool, first: int
) -> NDArray[np.float64]:
    """Coordinate descent from x, Newton's method from there, and both again; tiny data: Newton's first.

    Of a small Q many passes cost less than a call of Newton's method, which comes nearer than tol asks for.
    """
    b = _times(Q, x) + u
    v = np.array(x, order="C")
    if tiny and len(x) <= SMALL and not p.rows:
        v = newton(Q, b, v, p, 20)
        if _residual(Q, b, v, p) <= tol:
            return v
    Q = np.ascontiguousarray(Q)
    Q.flags.writeable = False  # the type that is compiled
    for turn in range(_ROUNDS):
        passes = first << turn
        g = np.ascontiguousarray(_times(Q, v) - b)
        if kernel()(Q, g, v, p.c, p.m, p.low, p.high, p.rows, passes, tol) < passes:
            break  # it knows the distance
        if not p.rows:
            v = newton(Q, b, v, p)
        elif len(Q) > len(x):
            v = newton_rows(Q, b, v, p, 0.5 * tol)
        if _residual(Q, b, v, p) <= tol:
            break
    return v


def _residual(Q: NDArray[Any], b: NDArray[Any], v: NDArray[Any], p: Parts) -> float:
    off = distances(b - _times(Q, v), v, p)
    return float(np.sqrt(np.sum(off * off)))
