"""A decomposition made anew at every point: the curvature of f there, on the coordinates that matter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex
from ..draw import Draw
from ..losses import Softmax
from ..nested import Nested
from ..problem import Problem
from ..regularizers import Regularizer
from ..sums import Cost, LinearSum, Seen
from ..xp import Array
from .base import Inner, nowhere
from .cd import SMALL, column_kernel, kernel, newton, one_thread
from .parts import Parts, parts


@dataclass(frozen=True, eq=False)
class Local:
    """x⁺ = argmin_v τ/2 ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨w − ∇f(x), v⟩,   Q = (1/N) Σ w_i |φ''(⟨a_i, x⟩)| a_i a_iᵀ + μI

    It is the DCA step of F = G_x − H_x + r1 − r2 with G_x = τ/2 ⟨·, Q ·⟩, where τ = 1, 3, 9, … is the first with

        F(x⁺) ≤ F(x) − σ/2 τ ⟨x⁺ − x, Q (x⁺ − x)⟩,

    which holds for every τ that makes G_x majorize f along the step, so that the search ends. Before τ = 1 it tries the
    curvature of F itself in the place of Q, as far as that is positive definite: near the end Newton's step. Only the
    coordinates move that are not 0 or have to leave 0 (at most `most` new ones): the others stay where the program
    on all coordinates might move them later, and the certificate, which knows all of them, says when that is over.
    Every look at F is a pass, and gives the next gradient too (`Revisited`). The residual is said to be 0: the
    program is solved as well as the step needs, and what was promised of the step, descent, was tested at the point.
    """

    P: Problem
    nested: Nested | None = None
    f: LinearSum | None = None  # what this step sees, if not all of P.f
    sigma: float = 0.1
    grow: float = 3.0
    ridge: float = 1e-4  # μ, as a share of the mean of the diagonal
    share: float = 0.05  # the program is solved to this share of the distance at x
    trials: int = 30
    most: int | None = None  # new columns at once; by default 500 or an eighth of all
    most_full: int = 2048

    def at(self, draw: Draw) -> Local:
        """The solver of step t, which sees what the estimator sees."""
        if self.nested is None:
            return self
        assert isinstance(self.P.f, LinearSum)
        return replace(self, nested=None, f=self.nested.sum(self.P.f, draw))

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        f = self.P.f if self.f is None else self.f
        assert isinstance(f, LinearSum)
        u = np.asarray(y - G.grad(warm), np.float64)  # w − ∇f(x)
        p, shape = parts(r, warm.shape), warm.shape
        x = np.array(warm, np.float64).reshape(p.c.shape)
        u = u.reshape(x.shape)
        off = _distances(u, x, p)
        start = float(np.sqrt(np.sum(off * off)))
        columns = self._columns(x, off)
        here, one = f.recent.at(warm), Cost(f.n, f.n)
        F = here.value + self.P.r.value(warm)
        if not (np.isfinite(start) and np.isfinite(F)):
            return nowhere(warm, one)
        if start == 0.0:  # critical: it stays, and the look that found it is paid
            return Inner(warm, 0.0, 0, one)
        few = Parts(p.c[columns], p.m[columns], p.low[columns], p.high[columns], p.rows)
        Q = self._by_columns(f, here.z, columns, p) or Matrix(self._metric(f, here.z, columns))
        M = self._bent(Q, here, x, columns, p) if isinstance(Q, Matrix) else Q
        slack, tau = 8 * np.finfo(warm.dtype).eps * abs(F), 1.0
        for looks in range(1, self.trials + 1):
            new = M.program(tau, x[columns], u[columns], few, self.share * start)
            v = x.copy()
            v[columns] = new
            trial = v.reshape(shape).astype(warm.dtype)
            step = new - x[columns]
            there, cost = f.recent.at(trial), Cost(looks * f.n, looks * f.n)
            value = there.value + self.P.r.value(trial)
            if np.isnan(value):
                return nowhere(warm, cost)
            if value <= F - 0.5 * self.sigma * tau * M.square(step) + slack:
                return Inner(trial, 0.0, looks, cost)
            if M is Q:
                tau *= self.grow
            M = Q
        return Inner(warm, 0.0, looks, cost)

    def _metric(self, f: LinearSum, z: Array, columns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Q; for softmax all of ∇²f, dk × dk, where that is small: a bound of it costs steps."""
        k = f.classes[0] if f.classes else 1
        if not isinstance(f.loss, Softmax) or len(columns) * k > self.most_full:
            Q = np.asarray(f.a.gram(_weights(f, f.loss.bend(z, f.labels)), columns) / f.n, np.float64)
        else:
            blocks = np.empty((len(columns), k, len(columns), k))
            for i in range(k):
                for j in range(i + 1):
                    blocks[:, i, :, j] = f.a.gram(_weights(f, f.loss.cross(z, i, j)), columns) / f.n
                    blocks[:, j, :, i] = blocks[:, i, :, j]
            Q = blocks.reshape(len(columns) * k, len(columns) * k)
        Q[np.diag_indices(len(Q))] += self.ridge * max(float(np.trace(Q)) / len(Q), 1e-12)
        return Q

    def _by_columns(self, f: LinearSum, z: Array, columns: NDArray[np.int64], p: Parts) -> ByColumns | None:
        """Where a pass over the stored entries of these columns costs less than one over their Gram matrix."""
        a: Any = f.a
        if p.rows or f.classes or not hasattr(a, "columns") or len(columns) ** 2 < 2 * a.count(columns):
            return None
        ptr, rows, values = a.columns(columns)
        weights = np.asarray(_weights(f, f.loss.bend(z, f.labels)) / f.n, np.float64)
        which = np.repeat(np.arange(len(columns)), np.diff(ptr))
        h = np.asarray(np.bincount(which, weights[rows] * values * values, len(columns)), np.float64)
        ridge = self.ridge * max(float(h.mean()), 1e-12)
        return ByColumns(ptr, rows, values, weights, h + ridge, ridge)

    def _bent(self, matrix: Matrix, seen: Seen, x: NDArray[Any], columns: NDArray[np.int64], p: Parts) -> Matrix:
        """Q − θE, E = (2/N) Σ w_i (φ'')₋ a_i a_iᵀ + diag r2''(x): ∇²F on its smooth piece for the largest θ ≤ 1 that
        leaves it positive definite. Q itself far from the end (a sample), and for rows.
        """
        f, r, Q = self.P.f, self.P.r, matrix.Q
        assert isinstance(f, LinearSum)
        if p.rows or self.f not in (None, f) or (r.L2 == 0.0 and f.loss.curvature[0] >= 0.0):
            return matrix
        near = 1e-5 * np.abs(x)
        up, down = (np.asarray(r.subgrad((x + e).reshape(seen.x.shape)), np.float64) for e in (near, -near))
        bend = np.divide((up - down).reshape(x.shape), 2 * near, out=np.zeros_like(x), where=near > 0.0)[columns]
        E = np.diag(np.maximum(bend.ravel() if len(Q) == bend.size else bend.min(axis=1), 0.0))
        if f.loss.curvature[0] < 0.0:
            E += 2.0 * f.a.gram(_weights(f, np.maximum(-f.loss.bend(seen.z, f.labels), 0.0)), columns) / f.n
        with one_thread():
            for theta in (1.0, 0.5, 0.25):
                M = Q - theta * E
                if np.all(np.diagonal(M) > 0.05 * np.diagonal(Q)) and _positive(M):
                    return Matrix(M)
        return matrix

    def _columns(self, x: NDArray[Any], off: NDArray[Any]) -> NDArray[np.int64]:
        """The coordinates (rows) that are not 0, and those that leave 0: the worst ones first.

        Where there are many, their Gram matrix must not cost much more than the look at all of them.
        """
        there = np.any(x != 0.0, axis=1)
        new = np.flatnonzero((off > 0.0) & ~there)
        room = max(max(500, len(x) // 8) if self.most is None else self.most, int(there.sum()))
        if len(new) > room:
            new = new[np.argsort(-off[new], kind="stable")[:room]]
        return np.union1d(np.flatnonzero(there), new).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Q, with the same rows and columns as v, or one for every entry of v."""

    Q: NDArray[np.float64]

    def program(self, tau: float, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v τ/2 ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩"""
        return _program(tau * self.Q, x, u, p, tol)

    def square(self, step: NDArray[Any]) -> float:
        """⟨step, Q step⟩"""
        return float(np.sum(step * _times(self.Q, step)))


@dataclass(frozen=True, eq=False)
class ByColumns:
    """Q = Aᵀ diag(weights) A + ridge I as the columns of A: nothing of the size of Q is made."""

    ptr: NDArray[Any]
    rows: NDArray[Any]
    values: NDArray[Any]
    weights: NDArray[np.float64]
    h: NDArray[np.float64]  # the diagonal
    ridge: float

    def program(self, tau: float, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v τ/2 ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ by coordinate descent, z = A (v − x) kept up to date"""
        v, z = np.array(x, order="C"), np.zeros(len(self.weights))
        c, m, low, high = (np.ascontiguousarray(part) for part in p[:4])
        arrays = self.ptr, self.rows, self.values, tau * self.weights, tau * self.h
        column_kernel()(*arrays, tau * self.ridge, z, np.ascontiguousarray(x), u.copy(), v, c, m, low, high, 200, tol)
        return v

    def square(self, step: NDArray[Any]) -> float:
        """⟨step, Q step⟩"""
        z = np.bincount(self.rows, np.repeat(step[:, 0], np.diff(self.ptr)) * self.values, len(self.weights))
        return float(np.sum(self.weights * z * z) + self.ridge * np.sum(step * step))


def _distances(u: NDArray[Any], x: NDArray[Any], p: Parts) -> NDArray[np.float64]:
    """dist(u_j, ∂r1(x)_j) for every coordinate (row) j"""
    u = u - p.m * x
    if p.rows:
        size, c = np.linalg.norm(x, axis=1), p.c[:, 0]
        unit = np.divide(x, size[:, None], out=np.zeros_like(x), where=size[:, None] > 0)
        away = np.linalg.norm(u - c[:, None] * unit, axis=1)
        return np.asarray(np.where(size > 0, away, np.maximum(np.linalg.norm(u, axis=1) - c, 0.0)))
    away = np.where(x != 0.0, u - p.c * np.sign(x), np.sign(u) * np.maximum(np.abs(u) - p.c, 0.0))
    away = np.where(x >= p.high, np.minimum(away, 0.0), away)
    away = np.where(x <= p.low, np.maximum(away, 0.0), away)
    return np.asarray(np.linalg.norm(away, axis=1))


def _weights(f: LinearSum, bend: Array) -> NDArray[np.float64]:
    bend = np.asarray(bend, np.float64)
    bend = np.abs(bend) if f.loss.curvature[0] < 0.0 else bend
    return np.asarray(bend if f.weights is None else bend * f.weights, np.float64)


def _positive(M: NDArray[Any]) -> bool:
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True


def _times(Q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """Qv, with the same Q for every column of v or with one for all of its entries."""
    return np.asarray(Q @ v if len(Q) == len(v) else (Q @ v.ravel()).reshape(v.shape))


def _program(Q: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
    """Newton's method where that is cheap; else coordinate descent from x, Newton's from there, and both again."""
    if len(Q) > len(x) and not p.rows:  # every entry is a coordinate of its own
        c, m, low, high, x1, u1 = (part.reshape(-1, 1) for part in (*p[:4], x, u))
        return _program(Q, x1, u1, Parts(c, m, low, high, False), tol).reshape(x.shape)
    b = _times(Q, x) + u
    if len(x) <= SMALL and (quick := newton(Q, b, x, p)) is not None and _residual(Q, b, quick, p) <= tol:
        return quick
    Q = np.ascontiguousarray(Q)
    Q.flags.writeable = False  # the type that is compiled
    v, g = np.array(x, order="C"), np.ascontiguousarray(-u)
    for passes in (20, 200):
        kernel()(Q, g, v, p.c, p.m, p.low, p.high, p.rows, passes, tol)
        left = _residual(Q, b, v, p)
        if left <= tol:
            break
        if (better := newton(Q, b, v, p)) is not None and _residual(Q, b, better, p) < left:
            v, g = better, np.ascontiguousarray(_times(Q, better) - b)
            if _residual(Q, b, v, p) <= tol:
                break
    return v


def _residual(Q: NDArray[Any], b: NDArray[Any], v: NDArray[Any], p: Parts) -> float:
    off = _distances(b - _times(Q, v), v, p)
    return float(np.sqrt(np.sum(off * off)))
