"""Closed forms: a diagonal G, a quadratic G without r1, and G = a/4 ‖x‖⁴ + b/2 ‖x‖²."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..convex import Convex, Diagonal, Quadratic, ScaledIdentity
from ..convex import Radial as RadialPart
from ..regularizers import L2, Regularizer, Zero
from ..xp import Array, finite
from .base import Inner, Solver, norm, nowhere
from .parts import blocks, homogeneous


@dataclass(frozen=True)
class Prox(Solver):
    """argmin ½ Σ m_j x_j² + r1(x) − ⟨y, x⟩ = prox of r1 at y/m with steps 1/m, exact up to rounding."""

    name = "prox"

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return isinstance(G, ScaledIdentity) or (isinstance(G, Diagonal) and blocks(r))

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        if isinstance(G, ScaledIdentity):
            step = 1.0 / G.kappa
            return Inner(r.prox(y * step, step), 0.0, 1)
        self.demand(G, r)
        steps = 1.0 / G.along(y)  # type: ignore[attr-defined]  # a Diagonal
        x = r.prox(y * steps, steps)
        return Inner(x, r.distance(y - G.grad(x), x), 1)


prox = Prox()


@dataclass(frozen=True)
class Direct(Solver):
    """(Q + λI) x = q + y by the spectrum of Q, computed once; the solution nearest to warm if it is singular."""

    name = "direct"

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return isinstance(G, Quadratic) and isinstance(r, (Zero, L2))

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        assert isinstance(G, Quadratic)
        if not finite(y, warm):
            return nowhere(warm)
        e, V = G.spectrum
        e = np.maximum(e, 0.0) + (r.lam if isinstance(r, L2) else 0.0)
        x, b = np.array(warm, np.float64), np.asarray(y, np.float64)
        keep = e > 8 * len(e) * np.finfo(np.float64).eps * e[-1]
        one = 1.0 / np.where(keep, e, np.inf)
        for _ in range(2):  # The second iteration removes the rounding error of the first.
            lack = V.T @ (b - G.grad(x) - (r.lam * x if isinstance(r, L2) else 0.0))
            x = x + V @ (lack * (one if x.ndim == 1 else one[:, None]))
        out = x.astype(warm.dtype)
        x = out.astype(np.float64)
        return Inner(out, r.distance(b - G.grad(x), x), 1)


direct = Direct()


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
