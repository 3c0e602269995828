"""The size to which a relative tolerance refers."""

from __future__ import annotations

import math

import numpy as np

from ..data.check import point
from ..problem import Problem
from ..regularizers import Except
from ..xp import Array, namespace
from .confidence import rounding


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
