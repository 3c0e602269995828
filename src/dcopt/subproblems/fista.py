"""Accelerated proximal gradients: for every G with a gradient and every r1 with a prox."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex
from ..convex.base import columns_of_hessian
from ..regularizers import Regularizer
from ..sums import Cost
from ..xp import Array, finite, namespace
from .base import Best, Inner, Solver, norm, nowhere, rounding

_EVERY = 10  # The number of steps between certificates while the steps are long.
_GROW, _SHRINK = 1.2, 0.5  # The factors of the step where the smoothness of G is not known.


@dataclass(frozen=True)
class FISTA(Solver):
    """x⁺ = prox_{s r1}(z − s (∇G(z) − y)),   z = x + β (x − x⁻),   s = 1/L, or found by backtracking where L = inf.

    Restarts when the momentum points uphill, ⟨z − x⁺, x⁺ − x⟩ > 0. Stops on the certified residual alone.
    """

    name = "fista"
    steps: int = 50_000

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return True

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        if not finite(y, warm):
            return nowhere(warm)
        with np.errstate(over="ignore", invalid="ignore"):  # A step that is too long is detected and undone.
            return self._solve(G, r, y, warm, tol)

    def _solve(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        count = Counter(G)
        x, g = warm, count.grad(warm)
        if not finite(g):
            return nowhere(warm, count.cost)
        best = Best(x, r.distance(y - g, x))
        aim = max(tol, rounding(y, g))
        known = math.isfinite(G.L)
        step = 1.0 / (G.L if G.L > 0.0 else 1.0) if known else _first_step(count, x, g, y)
        rho, t, beta, k = G.rho, 1.0, 0.0, 0
        z, gz = x, g

        def value() -> tuple[float, float]:
            return count.value(r, y, x)

        while best.residual > aim and k < self.steps and not best.stalled(k, value):
            k += 1
            if known:
                new, at_new = r.prox(z - step * (gz - y), step), None
                if norm(new - z) <= step * aim or k % _EVERY == 0:
                    at_new = count.grad(new)
            else:
                new, at_new, step = _backtrack(count, r, y, z, gz, step)
            if not finite(new) or (at_new is not None and not finite(at_new)):
                break
            if at_new is not None:
                best.offer(new, r.distance(y - at_new, new))
                aim = max(tol, rounding(y, at_new))
                if best.residual <= aim:
                    break
            uphill = float(namespace(x).sum((z - new) * (new - x))) > 0.0
            t, old = (1.0, 1.0) if uphill else (0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t)), t)
            root = math.sqrt(min(1.0, rho * step))
            beta = 0.0 if uphill else min((old - 1.0) / t, (1.0 - root) / (1.0 + root))
            z = new + beta * (new - x) if beta > 0.0 else new
            x, gz = new, at_new if at_new is not None and z is new else count.grad(z)
            step = step if known else _GROW * step
        return Inner(namespace(best.x).asarray(best.x, copy=True), best.residual, k, count.cost)


class Counter:
    """∇G and the program's value with a counter of their evaluations."""

    def __init__(self, G: Convex) -> None:
        self.G, self.calls = G, 0

    def grad(self, x: Array) -> Array:
        self.calls += 1
        return self.G.grad(x)

    def value(self, r: Regularizer, y: Array, x: Array) -> tuple[float, float]:
        """G + r1 − ⟨y, ·⟩ at x, which is a pass like a gradient, and the rounding of the three."""
        self.calls += 1
        each = self.G.value(x), r.r1(x), -float(namespace(x).sum(y * x))
        return sum(each), 8.0 * float(namespace(x).finfo(x.dtype).eps) * sum(map(abs, each))

    def hessian(self, x: Array) -> NDArray[np.float64]:
        """∇²G(x), which counts as a product with it for every entry of x."""
        self.calls += x.size
        own = getattr(self.G, "hessian", None)
        return columns_of_hessian(self.G, x) if own is None else own(x)

    @property
    def cost(self) -> Cost:
        spent = self.calls * getattr(self.G, "components", 0)
        return Cost(spent, spent)


def _first_step(count: Counter, x: Array, g: Array, y: Array) -> float:
    """An estimate of 1/L from a short step downhill"""
    length = norm(g - y)
    if length == 0.0:
        return 1.0
    way = (1e-3 * (1.0 + norm(x)) / length) * (y - g)
    bend = norm(count.grad(x + way) - g) / norm(way)
    return 1.0 / bend if 0.0 < bend < math.inf else 1.0


def _backtrack(
    count: Counter, r: Regularizer, y: Array, z: Array, gz: Array, step: float
) -> tuple[Array, Array, float]:
    """The first step with ⟨∇G(x⁺) − ∇G(z), x⁺ − z⟩ ≤ ‖x⁺ − z‖²/(2s), the sum of D_G(x⁺, z) and D_G(z, x⁺).

    D_G(x⁺, z) ≤ ‖x⁺ − z‖²/(2s) is what the theory asks for. This condition implies it and uses gradients alone,
    which rounding affects less than values of G near the solution.
    """
    xp = namespace(z)
    eps = float(xp.finfo(z.dtype).eps)
    for _ in range(200):
        new = r.prox(z - step * (gz - y), step)
        g, h = count.grad(new), new - z
        most = float(xp.sum(h * h)) / step
        slack = 4.0 * eps * (norm(g) + norm(gz)) * norm(h)
        if most == 0.0 or float(xp.sum((g - gz) * h)) <= 0.5 * most + slack:
            break
        step *= _SHRINK
    return new, g, step


fista = FISTA()
