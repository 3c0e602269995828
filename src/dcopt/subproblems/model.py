"""What F looks like from a point, f by its curvature there and r as it is, and low points of that."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..matrices import Swept, solve_positive, square
from .metrics import Matrix, distances
from .moving import Moving
from .newton import one_thread

_TURNS, _CLOSE = 10, 1e-3  # linearisations of r2, and a change of v that ends them
_FOLLOWED = 50  # steps that are made without a look at F
_FIRST, _LOOSE = 1e-3, 0.1  # of the distance: what they leave; the first one decides where those after it lead
_MOSTLY, _LITTLE = 0.5, 1e-6  # of the distance, and of the fall of F
_ROUNDING = 1e-14  # of the trace: a curvature that is none
_SOLVES = 3  # of the equation for a new entry
_MOVES = 100  # from where the model was made: further, it says little of F
_TRIED = 4  # neighbours, where other entries change their signs and nothing is sure
_SINGULAR = 1e-6  # of the diagonal: what is left of a column that the others span


Found: TypeAlias = tuple[float, NDArray[np.float64]]  # F(v) − f(x), and w − ∇f(v)


@dataclass(frozen=True, eq=False)
class Model:
    """m(v) = ⟨∇f(x), v − x⟩ + ½ ⟨v − x, B (v − x)⟩ + r(v), B ≻ 0 the curvature of f at x or above it

    A step of DCA on F linearises r2 once; one of F's model may do so until nothing moves, and look around, at no pass.
    """

    B: Matrix
    grad: NDArray[np.float64]  # ∇f(x), on the entries that move
    r: Moving

    @cached_property
    def x(self) -> NDArray[np.float64]:
        return self.r.mine(self.r.x)

    def slope(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """∇f(x) + B (v − x)"""
        return np.asarray(self.grad + self.B.times(v - self.x))

    def critical(self, v: NDArray[Any], tol: float) -> NDArray[np.float64]:
        """DCA on m from v: the convex program in B, again and again"""
        for _ in range(_TURNS):
            new = self.B.program(v, self._linear(v), self.r.p, tol)
            close = np.linalg.norm(new - v) <= _CLOSE * np.linalg.norm(new - self.x)
            v = new
            if close:
                break
        return v

    def _linear(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """w − ∇f(v) on the model, w ∈ ∂r2(v)"""
        slope = self.slope(v)
        return self.r.steepest(v, lambda: -slope) - slope

    def end(self, tol: float) -> tuple[NDArray[np.float64], float]:
        """A point that is critical to tol, if 50 steps lead there, where B − μR is the curvature of f everywhere; and
        how far F falls from x to it

        By the steps that follow from x, without a look at F: DCA's, then Newton's for the entries that are off their
        kinks and bounds, or DCA's where the others are farther from critical or F does not fall. None raises F.
        """
        v, before, fell, exact = self.x, np.inf, np.inf, False
        start, down = self._exactly(v)
        F = start
        for t in range(_FOLLOWED):
            off, free = distances(down, v, self.r.p), self._free(v)
            far, held = math.sqrt(off @ off), math.sqrt(off @ np.where(free[:, 0], 0.0, off))
            near = far <= tol
            if near and (exact or fell <= _LITTLE * (start - F)):  # where f is flat, a short distance may be a long way
                break
            may = self._newton, self._dca
            for step in may[:1] if near else may if t > 0 and held <= _MOSTLY * far else may[1:]:
                new = step(v, down, (_LOOSE if t else _FIRST) * far)
                found = self._exactly(new)
                if found[0] < F:
                    break
            else:
                break
            fell = F - found[0]
            exact = step is may[0] and self.B.least(new - v) <= _CLOSE * fell  # μ changed nothing
            v, (F, down) = (new, found) if far <= _MOSTLY * before else self._farther(v, new, found)
            before = far
        return v, start - F

    def _free(self, v: NDArray[Any]) -> NDArray[np.bool_]:
        """Which entries are off their kinks and bounds"""
        return np.asarray((v != 0.0) & (v > self.r.p.low) & (v < self.r.p.high))

    def _farther(self, v: NDArray[Any], new: NDArray[Any], found: Found) -> tuple[NDArray[np.float64], Found]:
        """Along a valley that μ makes steeper than it is: 2, 4, 8, … times as far, as long as F falls

        And if F bends along it by more than rounding, which has no end where it does not.
        """
        step = new - v
        bend = float(np.sum(step * (self.B.times(step) - self.B.ridge(step))))
        if not bend > _ROUNDING * float(np.trace(self.B.Q)) * float(np.sum(step * step)):
            return new, found
        while True:
            step = 2.0 * step
            there = self._kept(v, v + step)
            if not (farther := self._exactly(there))[0] < found[0]:
                return new, found
            new, found = there, farther

    def _kept(self, v: NDArray[Any], new: NDArray[Any]) -> NDArray[np.float64]:
        """`new` between the bounds, each entry at its kink where it would cross it from v"""
        p = self.r.p
        return np.minimum(np.maximum(np.where((new * v < 0.0) & (p.c > 0.0), 0.0, new), p.low), p.high)

    def _newton(self, v: NDArray[Any], down: NDArray[Any], tol: float) -> NDArray[np.float64]:
        """v + ∇²F(v)⁻¹ (w − ∇f(v) − ∂r1(v)) on the free entries S, each at most to its kink; ∇²r2 diagonal"""
        flat, c, m = (part.ravel() for part in (v, *self.r.p[:2]))
        S = np.flatnonzero(self._free(v))
        M, bend = square(self.B.Q, S), self.r.bend(v)
        M[np.diag_indices(len(S))] += m[S] - (0.0 if bend is None else bend.ravel()[S])
        with one_thread(len(S)):
            step = solve_positive(M, (down.ravel() - m * flat - c * np.sign(flat))[S])
        new = flat.copy()
        new[S] += 0.0 if step is None else step
        return self._kept(v, new.reshape(v.shape))

    def _dca(self, v: NDArray[Any], down: NDArray[Any], tol: float) -> NDArray[np.float64]:
        return self.B.program(v, down, self.r.p, tol)

    def _exactly(self, v: NDArray[Any]) -> Found:
        """F(v) − f(x), without μ, and w − ∇f(v)"""
        step = v - self.x
        bent = self.B.times(step) - self.B.ridge(step)
        w = self.r.steepest(v, lambda: -self.grad - bent)
        return float(np.sum(step * (self.grad + 0.5 * bent)) + self.r.value(v)), w - self.grad - bent

    def lower(self, v: NDArray[Any], tol: float, least: float) -> list[NDArray[np.float64]]:
        """Critical points of m, each lower than the one before, at neighbours that promise to be so by `least`.

        None where B has not a row for every entry, or r is no sum over entries.
        """
        way: list[NDArray[np.float64]] = []
        if len(self.B.Q) != v.size or self.r.each(v) is None:
            return way
        with one_thread(v.size), suppress(np.linalg.LinAlgError):  # B is as good as singular: the way ends there
            swept = Swept(self.B.Q, np.flatnonzero(v))
            while len(way) < min(v.size, _MOVES):
                new = self._next(v, swept, tol, least)
                if new is None:
                    break
                v = new
                way.append(v)
        return way

    def _next(self, v: NDArray[Any], swept: Swept, tol: float, least: float) -> NDArray[np.float64] | None:
        """The critical point at the best neighbour, if it is lower; else at the next one."""
        swept.to(np.flatnonzero(v))
        change, new = self._changes(v, swept)
        m = self.value(v)
        for j in np.argsort(change, kind="stable")[:_TRIED]:
            if not change[j] < -least:
                break
            there = self.critical(self._moved(v, swept, int(j), new), tol)
            if self.value(there) < m:
                return there
        return None

    def value(self, v: NDArray[Any]) -> float:
        """m(v)"""
        step = v - self.x
        return float(np.sum(step * (self.grad + 0.5 * self.B.times(step))) + np.sum(self._each(v)))

    def _changes(self, v: NDArray[Any], swept: Swept) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How m changes with one entry more or less, the others S following, v_S − B_SS⁻¹ B_Sj δ_j; and the new entries

        If j leaves: by at most ½ v_j² / (B_SS⁻¹)_jj + ψ'(|v_j|)|v_j| − ψ(|v_j|). If j comes as t: by at most
        g_j t + ½ h_j t² + ψ(|t|), h_j = B_jj − B_jS B_SS⁻¹ B_Sj. For at a critical point the slopes of the others
        cancel, and ψ, concave, is below its tangents.
        """
        flat, c, g, h = v.ravel(), self.r.p.c.ravel(), self.slope(v).ravel(), swept.diagonal
        there = flat != 0.0
        far = ~there & (h > _SINGULAR * np.diagonal(self.B.Q))
        new = np.zeros_like(flat)
        new[far] = -g[far] / h[far]
        for _ in range(_SOLVES):
            slope = c - np.abs(self.r.slope(new.reshape(v.shape)).ravel())
            new[far] = -np.sign(g[far]) * np.maximum(np.abs(g[far]) - slope[far], 0.0) / h[far]
        come = g * new + 0.5 * h * new**2 + self._each(new.reshape(v.shape))
        slope = c - np.abs(self.r.slope(v).ravel())
        leave = 0.5 * flat**2 / -h + slope * np.abs(flat) - self._each(v)
        return np.where(there, leave, np.where(new != 0.0, come, np.inf)), new

    def _moved(self, v: NDArray[Any], swept: Swept, j: int, new: NDArray[Any]) -> NDArray[np.float64]:
        """v with entry j as in `new`, the others following"""
        flat = v.ravel()
        there, step = flat != 0.0, new[j] if flat[j] == 0.0 else flat[j] / swept.diagonal[j]
        moved = flat - np.where(there, swept.T[j], 0.0) * step
        moved[j] = new[j]
        return np.asarray(moved.reshape(v.shape))

    def _each(self, v: NDArray[Any]) -> NDArray[Any]:
        values = self.r.each(v)
        assert values is not None  # seen before
        return values.ravel()
