"""Proximal Newton: a quadratic model of a twice differentiable G, r1 as it is, and a line search on the program."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..convex import Convex, Diagonal, Quadratic, ScaledIdentity
from ..regularizers import Regularizer
from ..xp import Array, finite, namespace
from .base import Best, Inner, Solver, nowhere, rounding
from .eliminated import unpenalised_rows
from .fista import FISTA, Counter, fista
from .groups import groups
from .newton_cg import ARMIJO, IDLE
from .parts import parts, separable, smooth
from .quadratic import minimize

_MOST = 1024  # The largest number of entries of x: a matrix of 8 MiB.


@dataclass(frozen=True)
class ProxNewton(Solver):
    """x⁺ = x + α (v − x),   v ≈ argmin ⟨∇G(x) − y, v⟩ + ½ ⟨v − x, ∇²G(x) (v − x)⟩ + r1(v),   α = 1, ½, ¼, …

    A matrix ∇²G(x) costs a product for every entry of x. FISTA makes as many steps before the first one: that ends easy
    programs, and costs no more than one matrix where it does not. It also goes on where Newton's steps gain nothing,
    and replaces them for x with more than 1024 entries.
    """

    name = "prox-newton"
    steps: int = 200

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return hasattr(G, "hess_dot") and not isinstance(G, (Quadratic, Diagonal, ScaledIdentity)) and not smooth(r)

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        known = namespace(warm) is np and (separable(r) or warm.ndim == 1)
        if not known or warm.size > _MOST or not finite(y, warm):
            return fista(G, r, y, warm, tol)
        first = FISTA(steps=warm.size)(G, r, y, warm, tol)
        if not first.residual > max(tol, rounding(y)):  # type: ignore[operator]  # FISTA knows its residual.
            return first
        with np.errstate(over="ignore", invalid="ignore"):  # A step that is too long is detected and undone.
            then, aim = self._solve(G, r, y, first.x, tol)
        cost, steps = first.cost.plus(then.cost), first.steps + then.steps
        if not then.certified > aim:
            return then._replace(steps=steps, cost=cost)
        last = fista(G, r, y, then.x, tol)
        return last._replace(steps=steps + last.steps, cost=cost.plus(last.cost))

    def _solve(self, G: Convex, r: Regularizer, y: Array, x: Array, tol: float) -> tuple[Inner, float]:
        """The best point of Newton's steps, and the residual that is enough."""
        count = Counter(G)
        g = count.grad(x)
        if not finite(g):
            return nowhere(x, count.cost), tol
        at = _Found(x, *count.value(r, y, x), g, r.distance(y - g, x))
        start = at.residual
        best, aim, idle, k = Best(x, start), max(tol, rounding(y, g)), 0, 0
        while best.residual > aim and k < self.steps and idle < IDLE:
            k += 1
            v = self._model(count, r, y, at.x, at.g, max(0.1 * aim, min(0.1, at.residual / start) * at.residual))
            promised = float(np.sum((at.g - y) * (v - at.x))) + r.r1(v) - r.r1(at.x)
            found = _search(count, r, y, at, v, promised) if finite(v) else None
            if found is None:
                break
            before, lower, at = best.residual, found.value < at.value - at.room, found
            best.offer(at.x, at.residual)
            idle = 0 if lower or best.residual < 0.9 * before else idle + 1
            aim = max(tol, rounding(y, at.g))
        return Inner(np.array(best.x), best.residual, k, count.cost), aim

    def _model(self, count: Counter, r: Regularizer, y: Array, x: Array, g: Array, tol: float) -> Array:
        """argmin ⟨g − y, v⟩ + ½ ⟨v − x, ∇²G(x) (v − x)⟩ + r1(v); NaN where the matrix is no number"""
        H = count.hessian(x)
        if not np.isfinite(H).all():
            return np.full_like(x, np.nan)
        if separable(r):
            p = parts(r, x.shape)
            p = p if p.rows else p.apart()
            u, at = (np.asarray(a, np.float64).reshape(p.c.shape) for a in (y - g, x))
            v = minimize(H, at, u, p, tol, free=unpenalised_rows(p))
            return v.reshape(x.shape).astype(x.dtype, copy=False)
        start = np.asarray(x, np.float64)
        Q = Quadratic(H, H @ start - g, made_of=("a model", id(self)))
        solver = groups if groups.takes(Q, r) else fista
        return solver(Q, r, np.asarray(y, np.float64), start, tol).x.astype(x.dtype, copy=False)


class _Found(NamedTuple):
    """A point, the program's value there and its rounding, ∇G and the residual"""

    x: Array
    value: float
    room: float
    g: Array
    residual: float


def _search(
    count: Counter, r: Regularizer, y: Array, at: _Found, v: Array, promised: float
) -> _Found | None:
    """The first of v, (x + v)/2, … where the program falls by a share of what was promised, or the residual falls.

    The second counts where the program's value stays within rounding. None if there is no such point before the promise
    is hidden by rounding.
    """
    t = 1.0
    while True:
        new = v if t == 1.0 else at.x + t * (v - at.x)
        now, wide = count.value(r, y, new)
        lower = promised < 0.0 and now - at.value <= ARMIJO * t * promised
        if lower or now - at.value <= at.room:
            g = count.grad(new)
            residual = r.distance(y - g, new)
            if math.isfinite(residual) and (lower or residual < at.residual):
                return _Found(new, now, wide, g, residual)
        if not -t * promised > at.room:
            return None
        t *= 0.5


prox_newton = ProxNewton()
