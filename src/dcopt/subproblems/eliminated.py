"""A quadratic program without the coordinates that are not penalised, such as an intercept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.engine import off_the_clock
from ..linalg.symmetric import one_thread, square
from .parts import Parts, within

SINGULAR = 1e-6  # What the others must leave of a column: a share of its length, in a search of its square.


def unpenalised_rows(p: Parts) -> NDArray[np.bool_]:
    """The coordinates (rows) that r1 does not penalise or bound"""
    return np.asarray(((p.c == 0.0) & (p.m == 0.0) & np.isinf(p.low) & np.isinf(p.high)).all(axis=1))


@dataclass(frozen=True, eq=False)
class Eliminated:
    """The program without the coordinates F that r1 does not penalise (an intercept): x_F = Q_FF⁻¹ (b_F − Q_FK x_K).

    The matrix of the rest is Q_KK − Q_KF Q_FF⁻¹ Q_FK, for an intercept the Gram matrix of centred columns, on which
    coordinate descent is not slowed by the means of the columns.
    """

    left: NDArray[np.bool_]  # The coordinates (rows) F,
    free: NDArray[Any]  # and where they and the others are in Q
    kept: NDArray[Any]
    share: NDArray[Any]  # Q_FF⁻¹ Q_FK
    inverse: NDArray[Any]
    Q: NDArray[Any]
    p: Parts

    @classmethod
    def of(cls, Q: NDArray[Any], p: Parts, left: NDArray[np.bool_] | None = None) -> Eliminated | None:
        """The elimination; None if there is nothing to eliminate, nothing would be left, or Q_FF is singular

        Left: which are left out, where that was decided before, for another Q or other parts.
        """
        p = p if p.rows or len(Q) == len(p.c) else p.apart()
        left = unpenalised_rows(p) if left is None else left
        free, kept = np.flatnonzero(left), np.flatnonzero(~left)
        if not free.size or not kept.size:
            return None
        few = p.at(kept)
        if len(Q) > len(left):  # Q has a row for every entry.
            free, kept = (within(rows, len(Q) // len(left)) for rows in (free, kept))
        free = free[::-1]  # The intercept comes first, because columns without their means keep their digits.
        whole = square(Q, free)
        with one_thread(len(Q)):
            try:
                L = np.linalg.cholesky(whole)
            except np.linalg.LinAlgError:
                return None
            if not np.all(np.diagonal(L) > SINGULAR * np.sqrt(np.diagonal(whole))):
                return None
            unit = np.linalg.inv(L / np.diagonal(L))  # Q_FF is unit⁻¹ diag(pivots) unit⁻ᵀ, which needs no square roots.
            across, pivots = unit @ Q[np.ix_(free, kept)], np.sum((unit @ whole) * unit, axis=1)[:, None]
            small = np.ascontiguousarray(square(Q, kept) - across.T @ (across / pivots))
        inverse, share = unit.T @ (unit / pivots), unit.T @ (across / pivots)
        if not np.isfinite(small).all() or bool(np.any(np.diagonal(small) < 0.0)):
            return None
        small.flags.writeable = False  # The kernels are compiled for this type.
        return cls(left, free, kept, share, inverse, small, few)

    def split(self, v: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """v_F and v_K, with as many columns as share a row of Q"""
        v = v.reshape(len(self.free) + len(self.kept), -1)
        return v[self.free], v[self.kept]

    def joined(self, free: NDArray[Any], kept: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
        """v of v_F and v_K"""
        out = np.empty((len(self.free) + len(self.kept), free.shape[1]))
        out[self.free], out[self.kept] = free, kept.reshape(-1, free.shape[1])
        return out.reshape(shape)

    def program(self, x: NDArray[Any], u: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """x_K and u_K − Q_KF Q_FF⁻¹ u_F, in the shape of r1: the program without v_F, which follows"""
        (_, x_K), (u_F, u_K) = self.split(x), self.split(u)
        return x_K.reshape(self.p.c.shape), (u_K - self.share.T @ u_F).reshape(self.p.c.shape)

    def solved(self, x: NDArray[Any], u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.float64]:
        """With v for the coordinates that are kept, x_F + Q_FF⁻¹ (u_F − Q_FK (v − x_K)) for the free ones"""
        (x_F, x_K), u_F = self.split(x), self.split(u)[0]
        follow = self.inverse @ u_F - self.share @ (v.reshape(x_K.shape) - x_K)
        return self.joined(x_F + follow, v, x.shape)

    def descend(self, Q: NDArray[Any], b: NDArray[Any], x: NDArray[Any], passes: int, tol: float) -> int:
        """Passes done on x in place; the free coordinates follow exactly, before and after."""
        self._settle(b, x)
        g = np.ascontiguousarray((Q @ x - b)[self.kept])
        some = np.ascontiguousarray(x[self.kept])
        p = self.p
        done: int = descent()(self.Q, g, some, p.c, p.m, p.low, p.high, p.rows, passes, tol)
        x[self.kept] = some
        self._settle(b, x)
        return done

    def ridge(self, v: NDArray[Any], mu: NDArray[Any]) -> NDArray[np.float64]:
        """μRv, ⟨v, μRv⟩ = Σ_K μ_j v_j² + Σ_F μ_j (v_F + Q_FF⁻¹ Q_FK v_K)_j²: for an intercept of centred columns"""
        v_F, v_K = self.split(v)
        out = mu[self.free, None] * (v_F + self.share @ v_K)
        return self.joined(out, mu[self.kept, None] * v_K + self.share.T @ out, v.shape)

    def add_ridge(self, Q: NDArray[Any], mu: NDArray[Any]) -> None:
        """Q + μR, in place"""
        free, kept = self.free[:, None], self.kept[:, None]
        more = mu[free] * self.share
        Q[kept, self.kept] += self.share.T @ more
        Q[free, self.kept] += more
        Q[kept, self.free] += more.T
        Q[np.diag_indices(len(Q))] += mu

    def _settle(self, b: NDArray[Any], x: NDArray[Any]) -> None:
        x[self.free] = self.inverse @ b[self.free] - self.share @ x[self.kept]


@cache
def descent() -> Any:
    """Imported at first use: numba takes longer to import than everything else here."""
    with off_the_clock():
        from . import cd_kernels

        cd_kernels.make_ready()
    return cd_kernels.descend
