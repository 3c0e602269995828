"""Leaps to lower critical points of the model of F: one coefficient more or less at a time, at no pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..linalg.symmetric import Swept, one_thread
from ..subproblems.eliminated import SINGULAR
from .candidates import Candidate
from .models import DenseModel
from .policy import Escape
from .program import PenaltyOnWorkingSet, Program

if TYPE_CHECKING:
    from .settings import Local



def leaps(program: Program, B: DenseModel, how: Local) -> Iterator[Candidate]:
    """Steps to low points of the model, ever nearer ones, and to the critical point that its own DCA comes to."""
    assert how.escape is not None  # `candidates` has asked.
    here, escape = program.here, how.escape
    m = PenalisedModel(B, program.r.mine(program.here.look.grad), program.r, escape)
    if not here.x.any() and np.trace(B.Q) <= escape.steep * here.C.bound * len(B.Q):
        return  # f is flat at 0: its model says nothing of points that are far.
    away, least = here.relative_distance, escape.least * abs(here.F)
    tol = how.accuracy.of(away, here.C.constant) * away * here.size
    v = m.critical(m.x, tol)
    way = m.lower(v, tol, least)
    k = len(way)
    while k:
        yield Candidate(way[k - 1] - m.x, least)
        k //= escape.rung
    if not how.leaps_only:
        yield Candidate(v - m.x, 0.5 * how.descent.sigma * B.quad(v - m.x))


@dataclass(frozen=True, eq=False)
class PenalisedModel:
    """m(v) = ⟨∇f(x), v − x⟩ + ½ ⟨v − x, B (v − x)⟩ + r(v), B ≻ 0 the curvature of f at x or above it

    A step of DCA on F linearises r2 once. On the model that is repeated until nothing moves, and neighbours are tried,
    without a pass over the rows.
    """

    B: DenseModel
    grad: NDArray[np.float64]  # ∇f(x), on the entries that move
    r: PenaltyOnWorkingSet
    how: Escape = Escape()

    @cached_property
    def x(self) -> NDArray[np.float64]:
        return self.r.mine(self.r.x)

    def slope(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """∇f(x) + B (v − x)"""
        return np.asarray(self.grad + self.B.times(v - self.x))

    def critical(self, v: NDArray[Any], tol: float) -> NDArray[np.float64]:
        """DCA on m from v: the convex program in B, again and again"""
        for _ in range(self.how.turns):
            new = self.B.minimize(v, self._linear(v), self.r.own_r1, tol)
            close = np.linalg.norm(new - v) <= self.how.close * np.linalg.norm(new - self.x)
            v = new
            if close:
                break
        return v

    def _linear(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """w − ∇f(v) on the model, w ∈ ∂r2(v)"""
        slope = self.slope(v)
        return self.r.steepest(v, lambda: -slope) - slope

    def lower(self, v: NDArray[Any], tol: float, least: float) -> list[NDArray[np.float64]]:
        """Critical points of m, each lower than the one before, at neighbours that promise to be so by `least`.

        None where B has not a row for every entry, or r is no sum over entries.
        """
        way: list[NDArray[np.float64]] = []
        if len(self.B.Q) != v.size or self.r.each(v) is None:
            return way
        with one_thread(v.size), suppress(np.linalg.LinAlgError):  # B is as good as singular: the way ends there
            swept = Swept(self.B.Q, np.flatnonzero(v))
            while len(way) < v.size:
                new = self._next(v, swept, tol, least)
                if new is None:
                    break
                v = new
                way.append(v)
        return way

    def _next(self, v: NDArray[Any], swept: Swept, tol: float, least: float) -> NDArray[np.float64] | None:
        """The critical point at the best neighbour, if it is lower."""
        swept.to(np.flatnonzero(v))
        change, new = self._changes(v, swept)
        j = int(np.argmin(change))
        if not change[j] < -least:
            return None
        there = self.critical(self._moved(v, swept, j, new), tol)
        return there if self.value(there) < self.value(v) else None

    def value(self, v: NDArray[Any]) -> float:
        """m(v)"""
        step = v - self.x
        return float(np.sum(step * (self.grad + 0.5 * self.B.times(step))) + np.sum(self._each(v)))

    def _changes(self, v: NDArray[Any], swept: Swept) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How m changes with one entry of v more or less, and for every entry the number that it has then.

        S are the entries that are not 0. Those that stay follow: v_S − B_SS⁻¹ B_Sj δ_j if v_j changes by δ_j. At a
        critical point the slopes of the others cancel, and ψ, concave, is below its tangents: both are bounds.
        """
        on = v.ravel() != 0.0
        entering, t = self._entering(v, swept)  # t is 0 in S: an entry of S that changes leaves it.
        return np.where(on, self._leaving(v, swept), np.where(t != 0.0, entering, np.inf)), t

    def _leaving(self, v: NDArray[Any], swept: Swept) -> NDArray[np.float64]:
        """½ v_j² / (B_SS⁻¹)_jj + ψ'(|v_j|)|v_j| − ψ(|v_j|) for the entries of S"""
        flat = v.ravel()
        half = np.divide(0.5 * flat**2, swept.inverse_diagonal, out=np.zeros_like(flat), where=flat != 0.0)
        return np.asarray(half + self._rise(v) * np.abs(flat) - self._each(v))

    def _entering(self, v: NDArray[Any], swept: Swept) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """g_j t + ½ h_j t² + ψ(|t|), h_j = B_jj − B_jS B_SS⁻¹ B_Sj, for the entries not in S; and t

        t is −g_j/h_j, thresholded by the slope of ψ there; 0 in S, and where column j depends on those of S.
        """
        flat, g, h = v.ravel(), self.slope(v).ravel(), swept.schur_diagonal
        able = (flat == 0.0) & (h > SINGULAR * np.diagonal(self.B.Q))
        newton, t = np.zeros_like(flat), np.zeros_like(flat)
        newton[able] = -g[able] / h[able]
        rise = self._rise(newton.reshape(v.shape))
        t[able] = -np.sign(g[able]) * np.maximum(np.abs(g[able]) - rise[able], 0.0) / h[able]
        return g * t + 0.5 * h * t**2 + self._each(t.reshape(v.shape)), t

    def _rise(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """ψ'(|v_j|): the weight of r1 less the slope of r2"""
        return np.asarray(self.r.own_r1.c.ravel() - np.abs(self.r.slope(v).ravel()))

    def _moved(self, v: NDArray[Any], swept: Swept, j: int, new: NDArray[Any]) -> NDArray[np.float64]:
        """v with entry j as in `new`, the others of S following.

        v_S − B_SS⁻¹ B_Sj t if j enters with t = new_j, and v_S − (B_SS⁻¹)_Sj v_j / (B_SS⁻¹)_jj if it leaves. Row j of T
        holds on S what one unit moves the others by: B_SS⁻¹ B_Sj of an entry not in S, −(B_SS⁻¹)_Sj of one in S.
        """
        flat = v.ravel()
        units = new[j] if flat[j] == 0.0 else -flat[j] / swept.inverse_diagonal[j]
        moved = flat - np.where(flat != 0.0, swept.T[j], 0.0) * units
        moved[j] = new[j]
        return np.asarray(moved.reshape(v.shape))

    def _each(self, v: NDArray[Any]) -> NDArray[Any]:
        values = self.r.each(v)
        assert values is not None  # `lower` has asked.
        return values.ravel()
