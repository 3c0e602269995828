"""The closed form for a quadratic G that is a multiple of the identity, or diagonal."""

from __future__ import annotations

from dataclasses import dataclass

from ..convex import Convex, Diagonal, ScaledIdentity
from ..regularizers import Regularizer
from ..xp import Array
from .base import Inner, Solver
from .parts import blocks


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
