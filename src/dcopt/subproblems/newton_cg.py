"""Newton's method with conjugate gradients, for smooth G and r1 = 0 or a half square."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convex import Convex
from ..regularizers import Regularizer
from ..sums import Cost
from ..xp import Array, finite, namespace
from .base import Best, Inner, Solver, norm, nowhere, rounding
from .parts import parts, smooth

ARMIJO = 1e-4
IDLE = 8  # The number of steps that may lower neither φ by more than rounding nor the residual by a tenth.


@dataclass(frozen=True)
class NewtonCG(Solver):
    """∇²φ(x) p ≈ −∇φ(x),   x⁺ = x + α p,   φ = G + r1 − ⟨y, ·⟩; products with the Hessian only (`G.hess_dot`)."""

    name = "newton-cg"
    steps: int = 500
    products: int = 2_000  # The largest number of products with the Hessian in one step.

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return smooth(r) and hasattr(G, "hess_dot")

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        if not finite(y, warm):
            return nowhere(warm)
        with np.errstate(over="ignore", invalid="ignore"):  # A step that is too long is detected and undone.
            return self._solve(G, r, y, warm, tol)

    def _solve(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        xp = namespace(warm)
        m = xp.astype(xp.reshape(xp.asarray(parts(r, warm.shape).m), warm.shape), warm.dtype)
        x, k, visits = warm, 0, 1
        own = G.grad(x)
        if not finite(own):
            return nowhere(warm, _cost(G, visits))
        g = own + m * x - y
        best, aim, idle = Best(x, r.distance(y - own, x)), max(tol, rounding(y, own)), 0
        while best.residual > aim and k < self.steps and idle < IDLE:
            k += 1

            def times(v: Array, x: Array = x) -> Array:
                return G.hess_dot(x, v) + m * v  # type: ignore[attr-defined]  # seen in takes

            size = norm(g)
            p, spent = conjugate_gradients(times, -g, min(0.1, size**0.5) * size, min(self.products, 4 * x.size + 10))
            slope, value = float(xp.sum(g * p)), _value(G, m, y, x)
            room, step = 8.0 * float(xp.finfo(x.dtype).eps) * (abs(value) + abs(float(xp.sum(y * x)))), 1.0
            visits += spent + 1
            for _ in range(60):
                new = x + step * p
                own = G.grad(new)
                g = own + m * new - y
                visits += 2
                fall, tilt = _value(G, m, y, new) - value, float(xp.sum(g * p))
                # The second condition is Wolfe's in the slopes, which rounding affects less near the solution.
                if fall <= ARMIJO * step * slope or (fall <= room and abs(tilt) <= -0.9 * slope):
                    break
                step *= 0.5
            if not finite(new, g):
                break
            x, before = new, best.residual
            best.offer(x, r.distance(y - own, x))
            # While φ falls the gradient may grow, because a loss may be flat far from its minimizer.
            idle = 0 if fall < -room or best.residual < 0.9 * before else idle + 1
            aim = max(tol, rounding(y, own))
        return Inner(xp.asarray(best.x, copy=True), best.residual, k, _cost(G, visits))


def _value(G: Convex, m: Array, y: Array, x: Array) -> float:
    return G.value(x) + float(namespace(x).sum((0.5 * m * x - y) * x))


def _cost(G: Convex, visits: int) -> Cost:
    """A value or a product with the Hessian is a pass over the rows like a gradient."""
    spent = visits * getattr(G, "components", 0)
    return Cost(spent, spent)


def conjugate_gradients(times: Callable[[Array], Array], b: Array, tol: float, most: int) -> tuple[Array, int]:
    """p with ‖Hp − b‖ ≤ tol, and the number of products. Without curvature it ends early, at a descent direction."""
    xp = namespace(b)
    p: Any = xp.zeros_like(b)
    left, way = b, b
    size = float(xp.sum(b * b))
    flat = float(xp.finfo(b.dtype).eps)
    for k in range(1, most + 1):
        h = times(way)
        bend, long = float(xp.sum(way * h)), float(xp.sum(way * way))
        if not bend > flat * norm(h) * long**0.5 * 1e-3 or bend <= 1e-300:
            return (b if k == 1 else p), k
        step = size / bend
        p, left = p + step * way, left - step * h
        new = float(xp.sum(left * left))
        if not new > tol * tol:
            return p, k
        way, size = left + (new / size) * way, new
    return p, most


newton_cg = NewtonCG()
