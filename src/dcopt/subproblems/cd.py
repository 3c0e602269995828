"""Coordinate descent for a quadratic G and a separable r1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex, Quadratic
from ..regularizers import Regularizer
from ..xp import Array
from .base import Best, Inner, Solver, finite, nowhere, rounding
from .parts import Parts, parts, separable

_FIRST = 32  # passes before the gradient is computed afresh


@dataclass(frozen=True)
class CoordinateDescent(Solver):
    """min ½⟨x, Qx⟩ − ⟨q + y, x⟩ + r1(x), r1 over entries or rows: one coordinate (row) after the other, exactly.

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
        descend, p = _kernel(), parts(r, warm.shape)
        b = np.asarray(y, np.float64)
        x = np.array(warm, np.float64, order="C")
        residual = r.distance(b - G.grad(x), x)
        best, done, chunk = Best(x, residual), 0, _FIRST
        aim = max(tol, rounding(b, G.grad(x)))
        while best.residual > aim and done < self.passes and not best.stalled(done):
            g = np.ascontiguousarray((G.grad(x) - b).reshape(p.c.shape))
            before, x = x, x.copy()
            done += descend(G.Q, g, x.reshape(p.c.shape), p.c, p.m, p.low, p.high, p.rows, chunk, 0.5 * aim)
            if not finite(x) or np.array_equal(x, before):  # no number, or no coordinate moves
                break
            gradient = G.grad(x)
            residual = r.distance(b - gradient, x)
            best.offer(x, residual)
            aim = max(tol, rounding(b, gradient))
            if best.residual > aim and not p.rows:
                better = polish(G.Q, (b + G.linear(x)).reshape(p.c.shape), x.reshape(p.c.shape), p)
                if better is not None:
                    better = better.reshape(x.shape)
                    polished = r.distance(b - G.grad(better), better)
                    x = better if polished < residual else x
                    best.offer(better, polished)
            chunk = min(2 * chunk, self.passes)
        out = best.x.astype(warm.dtype)
        if out.dtype != best.x.dtype:
            x = out.astype(np.float64)
            return Inner(out, r.distance(b - G.grad(x), x), done)
        return Inner(out, best.residual, done)


def sweep(Q: NDArray[Any], b: NDArray[Any], x: NDArray[Any], p: Parts, passes: int = 1) -> NDArray[Any]:
    """So many passes from x, float64 (d, k): none raises ½⟨x, Qx⟩ − ⟨b, x⟩ + r1(x), and nothing is certified."""
    Q, x = Q.view(), x.copy()
    Q.flags.writeable = False  # the type that is compiled
    _kernel()(Q, Q @ x - b, x, p.c, p.m, p.low, p.high, p.rows, passes, 0.0)
    return x


def polish(Q: NDArray[Any], b: NDArray[Any], x: NDArray[Any], p: Parts) -> NDArray[Any] | None:
    """(Q + m)_SS x_S = b_S − Q_SB x_B − c_S sign(x_S), S the coordinates off their kinks and bounds.

    None where that is singular or leaves the piece of r1 on which it holds: then S is not yet the right one.
    """
    out = x.copy()
    for i in range(x.shape[1]):
        t, c = x[:, i], p.c[:, i]
        free = ((t != 0.0) | (c == 0.0)) & (t > p.low[:, i]) & (t < p.high[:, i])
        if not free.any():
            continue
        held = np.where(free, 0.0, t)
        aim = (b[:, i] - Q @ held - c * np.sign(t))[free]
        try:
            new = np.linalg.solve(Q[np.ix_(free, free)] + np.diag(p.m[free, i]), aim)
        except np.linalg.LinAlgError:
            return None
        same = (np.sign(new) == np.sign(t[free])) | (c[free] == 0.0)
        if not bool(np.all(same & (new >= p.low[free, i]) & (new <= p.high[free, i]))):
            return None
        out[free, i] = new
    return out


@cache
def _kernel() -> Any:
    """Imported at first use: numba takes longer to import than everything else here."""
    from . import cd_kernels

    cd_kernels.make_ready()
    return cd_kernels.descend


cd = CoordinateDescent()
