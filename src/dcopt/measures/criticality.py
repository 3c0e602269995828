"""The critical distance."""

from __future__ import annotations

from ..problem import Point, Problem


def criticality_at(P: Problem, at: Point) -> float:
    """d(x) = dist(u, ∂r1(x)), u = ∇H(x) + w − ∇G(x)."""
    return P.r.distance(at.u, at.x)
