"""How far a point is from critical: where a measure is 0, x is what `P.r.certifies` says.

criticality  d(x) = dist(∇H(x) + w, ∂(G + r1)(x)), w ∈ ∂r2(x): independent of the decomposition's κ
gap          gap(x) = max_y (G + r1)(x) − (G + r1)(y) − ⟨∇H(x) + w, x − y⟩ ≤ d(x)²/(2ρ_φ)

Where r2 has a kink at x, w is the subgradient with the largest d(x): then d(x) = max_{|e| ≤ 1} −F'(x; e), which is 0 if
and only if x is d-stationary, F'(x; e) ≥ 0 for every e. A regularizer that does not choose w certifies "critical" only.

`lagged_gap` is the paper's definition. It takes ∇H and w at the previous point, so it is 0 after every exact DCA
step wherever that ends. It is here for the theorems' plots; no stopping rule uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..data.check import point
from ..problem import Point, Problem
from ..xp import Array
from .criticality import criticality_at
from .gap import gap_at, lagged_gap_at
from .scale import scale

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


__all__ = ["MEASURES", "Measure", "criticality", "gap", "lagged_gap", "scale"]
