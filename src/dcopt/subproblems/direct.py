"""A linear system, for a quadratic G and r1 = 0 or a half square."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..convex import Convex, Quadratic
from ..regularizers import L2, Regularizer, Zero
from ..xp import Array
from .base import Inner, Solver, finite, nowhere


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
