"""The gap, at a point itself and (the paper's) lagged."""

from __future__ import annotations

import math

from ..problem import Point, Problem
from ..subproblems import choose
from ..xp import Array, namespace

_ROUNDED = 8.0  # Units in the last place of ∇G(x) that are lost of u in ∇G(x) + u, and of the minimizer.


def gap_at(P: Problem, at: Point) -> float:
    """q(x) − min q,  q(y) = G(y) + r1(y) − ⟨∇G(x) + u, y⟩, and a bound of its rounding error

    Where x is so large that u is lost beside ∇G(x), x seems to be the minimizer. An error e of the linear term hides at
    most (E + √(g + E²))² − g of a gap g, E = ‖e‖/√(2ρ) (as in confidence.py).
    """
    found, rho, xp = _excess(P, at.x, at.u, at.x), P.G.rho + P.r.rho, namespace(at.x)
    digit = _ROUNDED * float(xp.finfo(at.x.dtype).eps)
    if rho <= 0.0:
        return found
    hidden = digit * float(xp.max(xp.abs(P.G.grad(at.x)))) * math.sqrt(math.prod(at.x.shape) / (2.0 * rho))
    most = hidden + math.sqrt(found + hidden * hidden)
    return most * most


def lagged_gap_at(P: Problem, x: Array, prev: Point) -> float:
    """q(x) − min q with the linear term of the previous point: 0 if x is the exact DCA step from there."""
    return _excess(P, x, P.G.grad(prev.x) - P.G.grad(x) + prev.u, prev.x)


def _excess(P: Problem, x: Array, u: Array, warm: Array) -> float:
    """With the minimizer y of q: −D_G(y, x) − ⟨u, x − y⟩ + r1(x) − r1(y); G enters only through x − y."""
    inner = choose(P.G, P.r)(P.G, P.r, P.G.grad(x) + u, warm=warm, tol=min(P.inner_tol, 1e-10))
    y = inner.x
    excess = -P.G.bregman(y, x) - float(namespace(x).sum(u * (x - y))) + (P.r.r1(x) - P.r.r1(y))
    # An inexact y is above min q by at most residual²/(2ρ). A negative excess is rounding; its size counts.
    return abs(excess) + _allowance(inner.certified, P.G.rho + P.r.rho)


def _allowance(residual: float, rho: float) -> float:
    """residual²/(2ρ): 0 for an exact minimizer, ∞ where the error of an inexact one has no bound."""
    if residual == 0.0:
        return 0.0
    return residual * residual / (2.0 * rho) if rho > 0.0 else math.inf
