"""Confidence bounds of the true measure from a held-out sample.

Let û = u + e be the linear term at x from m held-out samples, E e = 0 and E‖e‖² = σ²/m. By Markov's inequality for
‖e‖² (Chebyshev), ‖e‖ ≤ E = σ/√(m δ) with probability at least 1 − δ.

criticality: dist(·, ∂r1(x)) is 1-Lipschitz, so d ≤ d̂ + E.
gap: with y the minimizer of q(·) = (G + r1)(·) − ⟨∇G(x) + u, ·⟩, g = q(x) − q(y) ≤ ĝ + ⟨e, x − y⟩ ≤ ĝ + ‖e‖ ‖x − y‖,
    and ρ_φ/2 ‖x − y‖² ≤ g by strong convexity, so g ≤ ĝ + ‖e‖ √(2g/ρ_φ). That is s² ≤ ĝ + 2E's for s = √g and
    E' = E/√(2ρ_φ), hence g ≤ (E' + √(ĝ + E'²))².

At a kink of r2 w is chosen with û. d is the largest distance over all w, so it is 1-Lipschitz too; the bound of the gap
is for the w that the sample chooses.

σ is estimated from the same sample. The bound is for a point that was chosen without looking at the sample.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..convex import UnknownScale
from ..problem import Point, Problem
from ..xp import namespace

CONFIDENCE = 0.95


class SampleBound(NamedTuple):
    """The true measure is at most `bound` with the stated confidence; `spread` is σ̂ of one sample's gradient."""

    bound: float
    spread: float = 0.0


def sample_bound(P: Problem, measure: str, at: Point, value: float) -> SampleBound:
    """The measure and its rounding for a finite sum; an upper confidence bound for a stream."""
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
