"""The closed form for a quadratic G that is a multiple of the identity."""

from __future__ import annotations

from ..convex import ScaledIdentity
from ..regularizers import Regularizer
from ..xp import Array
from .base import Inner


def prox(G: ScaledIdentity, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
    """argmin κ/2 ‖x‖² + r1(x) − ⟨y, x⟩ = prox_{r1/κ}(y/κ), exact up to rounding."""
    step = 1.0 / G.kappa
    return Inner(r.prox(y * step, step), 0.0, 1)
