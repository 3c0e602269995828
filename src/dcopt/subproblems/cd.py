"""Coordinate descent for a quadratic G and a separable r1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex, Quadratic
from ..regularizers import Regularizer
from ..xp import Array, finite
from .base import Best, Inner, Solver, nowhere, rounding
from .eliminated import Eliminated, descent
from .newton import SMALL, newton
from .parts import Parts, parts, separable

_FIRST = 32  # The gradient is recomputed after this many passes.


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """min ½⟨x, Qx⟩ − ⟨q + y, x⟩ + r1(x), r1 over entries or rows: each coordinate (row) in turn, exactly.

    Then, for r1 over entries, the linear system of the coordinates that are off their kinks and bounds: once the right
    ones have been found that ends it at the level of rounding, however ill-conditioned Q is.
    """

    name = "cd"
    passes: int = 20_000

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return isinstance(G, Quadratic) and separable(r)

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        assert isinstance(G, Quadratic)
        if not finite(y, warm):
            return nowhere(warm)
        p = parts(r, warm.shape)
        b = np.asarray(y, np.float64)
        x = np.array(warm, np.float64, order="C")
        residual = r.distance(b - G.grad(x), x)
        best, done, chunk = Best(x, residual), 0, _FIRST
        aim = max(tol, rounding(b, G.grad(x)))
        if best.residual > aim and x.size <= SMALL:
            x = self._newton(G, r, b, x, p, best)
            done += 1
        reduced = Eliminated.of(G.Q, p) if best.residual > aim else None
        while best.residual > aim and done < self.passes and not best.stalled(done):
            before, x = x, x.copy()
            flat, aims = x.reshape(p.c.shape), (b + G.linear(x)).reshape(p.c.shape)
            if reduced is None:
                g = np.ascontiguousarray((G.grad(x) - b).reshape(p.c.shape))
                done += descent()(G.Q, g, flat, p.c, p.m, p.low, p.high, p.rows, chunk, 0.5 * aim)
            else:
                done += reduced.descend(G.Q, aims, flat, chunk, 0.5 * aim)
            if not finite(x) or np.array_equal(x, before):  # The residual is NaN, or no coordinate moves.
                break
            gradient = G.grad(x)
            residual = r.distance(b - gradient, x)
            best.offer(x, residual)
            aim = max(tol, rounding(b, gradient))
            if best.residual > aim:
                x = self._newton(G, r, b, x, p, best)
            chunk = min(2 * chunk, self.passes)
        out = best.x.astype(warm.dtype)
        if out.dtype != best.x.dtype:
            x = out.astype(np.float64)
            return Inner(out, r.distance(b - G.grad(x), x), done)
        return Inner(out, best.residual, done)

    def _newton(self, G: Quadratic, r: Regularizer, b: Array, x: Array, p: Parts, best: Best) -> Array:
        """x, or the result of `newton` from x if its residual is less than all before."""
        if p.rows:
            return x
        aims, steps = (b + G.linear(x)).reshape(p.c.shape), 20 if x.size <= SMALL else 2
        better = newton(G.Q, aims, x.reshape(p.c.shape), p, steps).reshape(x.shape)
        best.offer(better, r.distance(b - G.grad(better), better))
        return better if best.x is better else x


def sweep(Q: NDArray[Any], b: NDArray[Any], x: NDArray[Any], p: Parts, passes: int = 1) -> NDArray[Any]:
    """This many passes from x, float64 (d, k). None raises ½⟨x, Qx⟩ − ⟨b, x⟩ + r1(x); nothing is certified."""
    Q, x = Q.view(), x.copy()
    Q.flags.writeable = False  # The kernels are compiled for this type.
    descent()(Q, Q @ x - b, x, p.c, p.m, p.low, p.high, p.rows, passes, 0.0)
    return x


cd = CoordinateDescent()
