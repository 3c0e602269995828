"""How far a point is from critical: where a measure is 0, x is what `P.r.certifies` says.

criticality  d(x) = dist(∇H(x) + w, ∂(G + r1)(x)), w ∈ ∂r2(x): independent of the decomposition's κ
gap          gap(x) = max_y (G + r1)(x) − (G + r1)(y) − ⟨∇H(x) + w, x − y⟩ ≤ d(x)²/(2ρ_φ)

Where r2 has a kink at x, w is the subgradient with the largest d(x): then d(x) = max_{|e| ≤ 1} −F'(x; e), which is 0 if
and only if x is d-stationary, F'(x; e) ≥ 0 for every e. A regularizer that does not choose w certifies "critical" only.

`lagged_gap` is the paper's definition. It takes ∇H and w at the previous point, so it is 0 after every exact DCA
step wherever that ends. It is here for the theorems' plots; no stopping rule uses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from .convex import UnknownScale
from .data.check import point
from .problem import Point, Problem
from .regularizers import Except
from .subproblems import choose
from .xp import Array, namespace

CONFIDENCE = 0.95  # of the bound of a measure from a sample
_ROUNDED = 8.0  # Units in the last place of ∇G(x) that are lost of u in ∇G(x) + u, and of the minimizer.


class SampleBound(NamedTuple):
    """The true measure is at most `bound` with the stated confidence; `spread` is σ̂ of one sample's gradient."""

    bound: float
    spread: float = 0.0


def sample_bound(P: Problem, measure: str, at: Point, value: float) -> SampleBound:
    """The measure and its rounding for a finite sum; an upper confidence bound for a stream.

    Let û = u + e be the linear term at x from m held-out samples, E e = 0 and E‖e‖² = σ²/m. By Markov's inequality for
    ‖e‖² (Chebyshev), ‖e‖ ≤ E = σ/√(m δ) with probability at least 1 − δ.

    criticality: dist(·, ∂r1(x)) is 1-Lipschitz, so d ≤ d̂ + E.
    gap: with y the minimizer of q(·) = (G + r1)(·) − ⟨∇G(x) + u, ·⟩, g = q(x) − q(y) ≤ ĝ + ⟨e, x − y⟩ ≤
        ĝ + ‖e‖ ‖x − y‖,
        and ρ_φ/2 ‖x − y‖² ≤ g by strong convexity, so g ≤ ĝ + ‖e‖ √(2g/ρ_φ). That is s² ≤ ĝ + 2E's for s = √g and
        E' = E/√(2ρ_φ), hence g ≤ (E' + √(ĝ + E'²))².

    At a kink of r2 w is chosen with û. d is the largest distance over all w, so it is 1-Lipschitz too; the bound of the
    gap is for the w that the sample chooses. σ is estimated from the same sample. The bound is for a point that was
    chosen without looking at the sample.
    """
    f = P.sum
    if f.source is None:
        # The gap has an allowance of its own.
        return SampleBound(value + rounding(P, at) if measure == "criticality" else value)
    spread = f.spread(at.x)
    error = spread / math.sqrt((f.evaluation.n or 1) * (1.0 - CONFIDENCE))
    if measure == "criticality":
        return SampleBound(value + error, spread)
    half = error / math.sqrt(2 * (P.G.rho + P.r.rho))
    return SampleBound((half + math.sqrt(value + half * half)) ** 2, spread)


def rounding(P: Problem, at: Point) -> float:
    """A bound of the rounding error of ∇f(x), and so of the critical distance, to first order.

    It is the bound that the sum knows, or ε ‖∇G(x)‖; ε ‖∇f(x)‖ where nothing is known of f, not even κ.
    """
    known = None if P.f is None else P.f.rounding(at.x)
    if known is not None:
        return known
    g = at.down if isinstance(P.G, UnknownScale) else P.G.grad(at.x)
    return float(np.finfo(np.float64).eps) * math.sqrt(float(namespace(g).sum(g * g)))


def criticality_at(P: Problem, at: Point) -> float:
    """d(x) = dist(u, ∂r1(x)), u = ∇H(x) + w − ∇G(x)."""
    return P.r.distance(at.u, at.x)


def gap_at(P: Problem, at: Point) -> float:
    """q(x) − min q,  q(y) = G(y) + r1(y) − ⟨∇G(x) + u, y⟩, and a bound of its rounding error

    Where x is so large that u is lost beside ∇G(x), x seems to be the minimizer. An error e of the linear term hides at
    most (E + √(g + E²))² − g of a gap g, E = ‖e‖/√(2ρ) (as in `sample_bound`).
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


def scale(P: Problem, measure: str = "criticality", x0: Array | None = None) -> float:
    """The size of a measure at the model without features. It does not depend on the start of a run.

    criticality  ‖∇H(x̄) − ∇G(x̄)‖, the length of the gradient of what is smooth in F, r2 not counted
    gap          |F(x̄)|

    x̄ is 0, with an intercept at its best constant, or the nearest point of dom r1. The part of the gradient that
    belongs to an intercept is 0 there, but for rounding, and left out. Where that size is 0 it is taken at x0, and
    where it is 0 there too the scale is 1.
    """
    features = slice(None, -P.r.last) if isinstance(P.r, Except) else slice(None)
    for x, part in ((null_point(P), features), (x0, slice(None))):
        if x is None:
            continue
        at = P.examine(np.asarray(x, np.float64))
        g = at.down[part]
        size = math.sqrt(float(namespace(g).sum(g * g))) if measure == "criticality" else abs(at.F)
        if rounding(P, at) < size < math.inf:
            return size
    return 1.0


def null_point(P: Problem) -> Array:
    """x = 0 in float64, with an intercept at its best constant, or the point of dom r1 that is nearest to it."""
    x = point(None, P.shape, np.float64)
    best = P.sum.evaluation.best_constant() if isinstance(P.r, Except) else None
    if best is not None and isinstance(P.r, Except):
        x[-P.r.last :] = best
    return x if math.isfinite(P.r.r1(x)) else P.r.prox(x, 1.0)


Measure: TypeAlias = Callable[[Problem, Point], float]
MEASURES: dict[str, Measure] = {"criticality": criticality_at, "gap": gap_at}


def _at(P: Problem, x: Array) -> Array:
    """The point in float64, the precision of certificates, for any precision of the data."""
    return point(x, P.shape, np.float64, "x")


def criticality(P: Problem, x: Array) -> float:
    """d(x) = dist(∇H(x) + w, ∂(G + r1)(x)), w ∈ ∂r2(x)."""
    return criticality_at(P, P.examine(_at(P, x)))


def gap(P: Problem, x: Array) -> float:
    """gap(x) = max_y (G + r1)(x) − (G + r1)(y) − ⟨∇H(x) + w, x − y⟩, with the linear term at x itself."""
    return gap_at(P, P.examine(_at(P, x)))


def lagged_gap(P: Problem, x: Array, prev: Array) -> float:
    """max_y (G + r1)(x) − (G + r1)(y) − ⟨∇H(prev) + w, x − y⟩, w ∈ ∂r2(prev): the paper's definition."""
    return lagged_gap_at(P, _at(P, x), P.examine(_at(P, prev)))
