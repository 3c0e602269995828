"""The closed form for G = a/4 ‖x‖⁴ + b/2 ‖x‖² and a positively homogeneous r1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..convex import Convex
from ..convex import Radial as RadialPart
from ..regularizers import Regularizer
from ..xp import Array
from .base import Inner, Solver, finite, norm, nowhere
from .parts import homogeneous


@dataclass(frozen=True)
class Radial(Solver):
    """x = t z,   z = argmin r1(z) − ⟨y, z⟩ + ½ ‖z‖²,   a t³ ‖z‖² + b t = 1.

    ∂r1(tz) = ∂r1(z) for t > 0, so y − z ∈ ∂r1(x), and (a ‖x‖² + b) x = z.
    """

    name = "radial"

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return isinstance(G, RadialPart) and homogeneous(r)

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        if not finite(y):
            return nowhere(warm)
        z = r.prox(y, 1.0)
        size = norm(z)
        if size == 0.0:
            return Inner(z, r.distance(y, z), 1)
        x = z * scale(G.a * size * size, G.b)  # type: ignore[attr-defined]  # a Radial
        return Inner(x, r.distance(y - G.grad(x), x), 1)


def scale(p: float, b: float) -> float:
    """The root t > 0 of p t³ + b t = 1: Newton's method from above, which needs no safeguard for a convex function."""
    t = min(1.0 / b if b > 0.0 else math.inf, p ** (-1.0 / 3.0) if p > 0.0 else math.inf)
    for _ in range(60):
        new = t - (p * t**3 + b * t - 1.0) / (3.0 * p * t * t + b)
        if not new < t:
            break
        t = new
    return t


radial = Radial()
