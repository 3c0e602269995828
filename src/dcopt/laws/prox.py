"""The laws of r₁ of a regularizer: its prox, and the distance to its subdifferential."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..regularizers.base import Regularizer
from .base import Law, demand
from .regularizer_points import cases, dot, small, steps


def prox_minimizes(r: Regularizer) -> None:
    """p = prox(v) beats 200 perturbations, and (v - p) / step ∈ ∂r₁(p)."""
    for draw, xs in cases(r, 3):
        for v in xs:
            v = v + 0.2 * draw.normal(size=v.shape)
            for step in steps(draw, v.shape, r):
                p = r.prox(v, step)

                def cost(q: Any, v: Any = v, step: Any = step) -> float:
                    return r.r1(q) + 0.5 * dot((q - v) / step, q - v)

                best = cost(p)
                for i in range(200):
                    q = p + draw.normal(size=p.shape) * 10.0 ** -(i % 6) * (draw.random(p.shape) < 0.5)
                    demand(cost(q) >= best - 1e-12 * (1 + abs(best)), "a point near prox(v) costs less")
                u = (v - p) / step
                d = r.distance(u, p)
                demand(small(1e-2 * d, float(np.abs(u).max())), f"(v - p)/step is {d:g} away from a subgradient")


def prox_is_firm(r: Regularizer) -> None:
    """⟨p - q, v - u⟩ ≥ |p - q|² in the metric of the step, for p = prox(v), q = prox(u)."""
    for draw, xs in cases(r):
        for v, u in zip(xs, xs[::-1], strict=True):
            v, u = v + draw.normal(size=v.shape), 2.0 * u
            for step in steps(draw, v.shape, r):
                p, q = r.prox(v, step), r.prox(u, step)
                gap = dot((p - q) / step, p - q) - dot((p - q) / step, v - u)
                demand(small(gap, dot((v - u) / step, v - u)), "prox is not firmly non-expansive")


def distance_is_exact(r: Regularizer) -> None:
    """dist(u, ∂r₁(x)) = max over |e| ≤ 1 of ⟨u, e⟩ - r₁'(x; e): never less than a random direction gives,
    never more than the direction in which the prox moves gives (so it is attained)."""
    t = 1e-6
    for draw, xs in cases(r):
        for x in xs:
            u = draw.normal(size=x.shape) * float(draw.choice([0.05, 0.3, 2.0]))
            d, at = r.distance(u, x), r.r1(x)
            for _ in range(100):
                e = draw.normal(size=x.shape) * (draw.random(x.shape) < 0.6)
                e /= np.linalg.norm(e) or 1.0
                low = dot(u, e) - (r.r1(x + t * e) - at) / t
                demand(d >= low - 1e-7 * (1 + abs(at)), f"distance {d:g} is below {low:g}")
            # The quotient falls short by about t / |x_j|: a step far below the smallest entry that is not rounding.
            s = 1e-5 * min(0.1, float(np.min(np.abs(x), where=np.abs(x) > 1e-12, initial=0.1)))
            move = r.prox(x + s * u, s) - x
            size = float(np.linalg.norm(move))
            top = (dot(u, move) - (r.r1(x + move) - at)) / size if size > 1e-3 * s else 0.0
            demand(d <= top + 1e-4 * (1 + np.abs(u).max()), f"distance {d:g} is above {top:g}")
            far = np.full(x.shape, 1e9)
            if r.r1(far) == math.inf:
                demand(r.distance(u, far) == math.inf, "distance is finite outside the domain")


LAWS: dict[str, Law] = {
    "prox-minimizes": prox_minimizes,
    "prox-is-firm": prox_is_firm,
    "distance-is-exact": distance_is_exact,
}
