"""What F looks like from a point, f by its curvature there and r as it is, and low points of that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrices import Swept
from ..regularizers import Regularizer
from .metrics import Matrix
from .newton import one_thread
from .parts import Parts, entries

_TURNS, _CLOSE = 10, 1e-3  # linearisations of r2, and a change of v that ends them
_SOLVES = 3  # of the equation for a new entry
_MOVES = 100  # from where the model was made: further, it says little of F
_TRIED = 4  # neighbours, where other entries change their signs and nothing is sure
_SINGULAR = 1e-6  # of the diagonal: what is left of a column that the others span


@dataclass(frozen=True, eq=False)
class Model:
    """m(v) = ⟨∇f(x), v − x⟩ + ½ ⟨v − x, B (v − x)⟩ + r(v), B ≻ 0 the curvature of f at x or above it

    A step of DCA on F linearises r2 once; one of F's model may do so until nothing moves, and look around, at no pass.
    """

    B: Matrix
    x: NDArray[np.float64]
    grad: NDArray[np.float64]  # ∇f(x)
    p: Parts
    r2: Callable[[NDArray[Any]], NDArray[Any]]  # some w ∈ ∂r2(v)
    values: Callable[[NDArray[Any]], NDArray[Any] | None]  # r(v), entry by entry, where it is their sum

    @classmethod
    def of(
        cls, r: Regularizer, B: Matrix, x: NDArray[Any], grad: NDArray[Any], columns: NDArray[np.int64], p: Parts,
        shape: tuple[int, ...],
    ) -> Model:  # fmt: skip
        """That of F at x, (d, k), where only these rows of it move; F takes x in this shape."""

        def whole(v: NDArray[Any]) -> NDArray[Any]:
            y = x.copy()
            y[columns] = v
            return y.reshape(shape)

        def mine(a: Any) -> NDArray[np.float64]:
            return np.asarray(a, np.float64).reshape(x.shape)[columns]

        def values(v: NDArray[Any]) -> NDArray[Any] | None:
            found = entries(r, whole(v))
            return None if found is None else mine(found)

        return cls(B, x[columns], mine(grad), p, lambda v: mine(r.subgrad(whole(v))), values)

    def slope(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """∇f(x) + B (v − x)"""
        return np.asarray(self.grad + self.B.times(v - self.x))

    def critical(self, v: NDArray[Any], tol: float) -> NDArray[np.float64]:
        """DCA on m from v: the convex program in B, again and again"""
        for _ in range(_TURNS):
            new = self.B.program(v, self.r2(v) - self.slope(v), self.p, tol)
            close = np.linalg.norm(new - v) <= _CLOSE * np.linalg.norm(new - self.x)
            v = new
            if close:
                break
        return v

    def lower(self, v: NDArray[Any], tol: float, least: float) -> list[NDArray[np.float64]]:
        """Critical points of m, each lower than the one before, at neighbours that promise to be so by `least`.

        None where B has not a row for every entry, or r is no sum over entries.
        """
        way: list[NDArray[np.float64]] = []
        if len(self.B.Q) != v.size or self.values(v) is None:
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
        flat, c, g, h = v.ravel(), self.p.c.ravel(), self.slope(v).ravel(), swept.diagonal
        there = flat != 0.0
        far = ~there & (h > _SINGULAR * np.diagonal(self.B.Q))
        new = np.zeros_like(flat)
        new[far] = -g[far] / h[far]
        for _ in range(_SOLVES):
            slope = c - np.abs(self.r2(new.reshape(v.shape)).ravel())
            new[far] = -np.sign(g[far]) * np.maximum(np.abs(g[far]) - slope[far], 0.0) / h[far]
        come = g * new + 0.5 * h * new**2 + self._each(new.reshape(v.shape))
        slope = c - np.abs(self.r2(v).ravel())
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
        values = self.values(v)
        assert values is not None  # seen before
        return values.ravel()
