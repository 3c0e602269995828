"""CVXPY as a sub-solver for tests and unusual problems: general and slow."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convex import Convex, Diagonal, Mean, Quadratic, Radial, ScaledIdentity, Shifted
from ..losses import Huber, Logistic, Quartic, Softmax, Squared
from ..regularizers import L2, Bounded, Box, ElasticNet, Except, Fused, Regularizer, SparseGroup, Zero
from ..regularizers.units import ENTRIES, Entries, Lists
from ..sums import pieces
from ..xp import Array, finite
from .base import Best, Inner, Solver, norm, nowhere
from .parts import kink_of

_STEPS = 20
_PARTS = (ScaledIdentity, Diagonal, Quadratic, Radial)
_LOSSES = (Squared, Logistic, Softmax, Huber, Quartic)


@dataclass(frozen=True)
class Oracle(Solver):
    """CVXPY's solution and a few proximal gradient steps, because cone solvers return 1e-9 in place of 0."""

    name = "oracle"
    solver: str = "CLARABEL"

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return _known(G) and _written(r)

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        if not finite(y, warm):
            return nowhere(warm)
        found = self.solve(G, r, np.asarray(y, np.float64))
        if found is None:  # There is no minimizer, or CVXPY found none.
            w = np.asarray(warm, np.float64)
            return Inner(np.array(warm), r.distance(y - G.grad(w), w), 0)
        x = found[0]
        best = Best(x, r.distance(y - G.grad(x), x))
        bend = G.L if math.isfinite(G.L) else norm(G.grad(1.001 * x) - G.grad(x)) / max(1e-3 * norm(x), 1e-300)
        for _ in range(_STEPS if bend > 0.0 else 0):
            x = r.prox(x - (G.grad(x) - y) / bend, 1.0 / bend)
            best.offer(x, r.distance(y - G.grad(x), x))
        out = best.x.astype(warm.dtype)
        x = out.astype(np.float64)
        return Inner(out, r.distance(y - G.grad(x), x), 1)

    def solve(self, G: Convex, r: Regularizer, y: Any) -> tuple[Any, float] | None:
        """CVXPY's x and least value; None if it finds no minimizer."""
        import cvxpy

        cp: Any = cvxpy  # CVXPY is typed only in part.
        x = cp.Variable(y.shape)
        penalty, bounds = _regularizer(cp, r, x)
        program = cp.Problem(cp.Minimize(_convex(cp, G, x) + penalty - cp.sum(cp.multiply(y, x))), bounds)
        with warnings.catch_warnings():  # CVXPY warns of inaccurate solutions. The residual measures the inaccuracy.
            warnings.simplefilter("ignore")
            try:
                program.solve(solver=self.solver)
            except cp.error.SolverError:
                return None
        if program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            return None
        return np.asarray(x.value, np.float64), float(program.value)


def _known(G: Convex) -> bool:
    if isinstance(G, Shifted):
        return _known(G.G)
    return isinstance(G, _PARTS) or (isinstance(G, Mean) and isinstance(G.sum.loss, _LOSSES))


def _written(r: Regularizer) -> bool:
    if isinstance(r, Except | Bounded):
        return _written(r.of)
    return isinstance(r, (Zero, L2, Box, Fused, SparseGroup)) or kink_of(r) is not None


def _convex(cp: Any, G: Convex, x: Any) -> Any:
    """G(x) as an expression"""
    if isinstance(G, Shifted):
        return _convex(cp, G.G, x) + 0.5 * G.eta * cp.sum_squares(x)
    if isinstance(G, ScaledIdentity):
        return 0.5 * G.kappa * cp.sum_squares(x)
    if isinstance(G, Diagonal):
        return 0.5 * cp.sum_squares(cp.multiply(np.sqrt(G.along(np.zeros(x.shape))) + np.zeros(x.shape), x))
    if isinstance(G, Quadratic):
        e, V = G.spectrum
        root = np.sqrt(np.maximum(e, 0.0))[:, None] * V.T
        return 0.5 * cp.sum_squares(root @ x) - cp.sum(cp.multiply(G.linear(np.zeros(x.shape)), x)) + G.const
    if isinstance(G, Radial):
        return 0.25 * G.a * cp.square(cp.sum_squares(x)) + 0.5 * G.b * cp.sum_squares(x)
    assert isinstance(G, Mean)
    return _loss(cp, G, x) / G.sum.n + 0.5 * G.mu * cp.sum_squares(x)


def _loss(cp: Any, G: Mean, x: Any) -> Any:
    f = G.sum
    some = np.arange(f.shape[0])
    a, y, w = (np.concatenate(side) for side in zip(*f.each(pieces.columns, some), strict=True))
    z = a @ x
    if isinstance(f.loss, Squared):
        rows = 0.5 * cp.square(z - y)
    elif isinstance(f.loss, Logistic):
        rows = cp.logistic(cp.multiply(-y, z))
    elif isinstance(f.loss, Huber):
        rows = 0.5 * cp.huber(z - y, f.loss.c)
    elif isinstance(f.loss, Quartic):
        rows = 0.25 * cp.square(cp.square(z))
    else:
        own = np.zeros(z.shape)
        own[np.arange(f.n), y] = 1.0
        rows = cp.log_sum_exp(z, axis=1) - cp.sum(cp.multiply(own, z), axis=1)
    return cp.sum(cp.multiply(w, rows))


def _regularizer(cp: Any, r: Regularizer, x: Any) -> tuple[Any, list[Any]]:
    """r1(x) as an expression, and constraints"""
    if isinstance(r, Except):
        return _regularizer(cp, r.of, x[: -r.last])
    if isinstance(r, SparseGroup):
        single = cp.sum(cp.multiply(np.broadcast_to(r.single(np.zeros(x.shape)), x.shape), cp.abs(x)))
        return single + _regularizer(cp, r.grouped, x)[0], []
    if isinstance(r, Bounded):
        return _regularizer(cp, r.of, x)[0], _regularizer(cp, r.box, x)[1]
    zero = np.zeros(x.shape)
    if isinstance(r, Box):
        ends = [np.broadcast_to(ENTRIES.fit(b, zero), x.shape) for b in r.bounds]
        low, high = (np.where(np.isfinite(b), b, 0.0) for b in ends)
        here = [np.isfinite(b).astype(float) for b in ends]
        bounds = [cp.multiply(here[0], x - low) >= 0, cp.multiply(here[1], high - x) >= 0]
        return 0.0, bounds
    if isinstance(r, L2):
        return 0.5 * r.lam * cp.sum_squares(x), []
    if isinstance(r, Fused):
        c, gaps = r.differences.kink.c, cp.abs(cp.diff(x, axis=0))
        c = np.broadcast_to(ENTRIES.fit(c, np.zeros(gaps.shape)), gaps.shape)
        return cp.sum(cp.multiply(c, gaps)) + r.l1 * cp.sum(cp.abs(x)), []
    kink = kink_of(r)
    if kink is None:
        return 0.0, []
    c = kink.units.fit(kink.c, zero)
    if isinstance(kink.units, Lists):
        groups = np.split(kink.units.order, kink.units.starts[1:])
        each = [cp.norm(cp.vec(x[g], order="C"), 2) for g in groups]
        total = cp.sum(cp.multiply(np.broadcast_to(c, len(each)), cp.hstack(each)))
    elif x.ndim == 2 and not isinstance(kink.units, Entries):
        total = cp.sum(cp.multiply(np.broadcast_to(c, (x.shape[0], 1))[:, 0], cp.norm(x, 2, axis=1)))
    else:
        total = cp.sum(cp.multiply(np.broadcast_to(c, x.shape), cp.abs(x)))
    if isinstance(r, ElasticNet):
        m = r.mu * (1.0 if r.weights is None else kink.units.spread(kink.units.fit(r.weights, zero), zero))
        total = total + 0.5 * cp.sum(cp.multiply(np.broadcast_to(m, x.shape), cp.square(x)))
    return total, []


oracle = Oracle()
