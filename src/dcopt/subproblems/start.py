"""Where a run with a concave penalty starts, if nobody says where."""

from __future__ import annotations

import math

import numpy as np

from ..draw import Draw
from ..matrices import solve
from ..nested import Nested
from ..problem import Problem
from ..sums import Cost, LinearSum
from ..xp import Array
from .curvature import cheap, curvature_at_0
from .local import STEEP, Local
from .newton import one_thread


def dense_start(P: Problem, draw: Draw, nested: Nested | None, ridge: float = 2.0) -> tuple[Array | None, Cost]:
    """x = −(Q + ridge q I)⁻¹ ∇f(0), q the mean of Q's diagonal: a step of f alone, or None where 0 is better; its cost.

    A concave penalty holds at 0 what starts there; from a point with all coordinates it lets go of those that do not
    pay, and the critical point at the end is mostly a lower one. It takes two rows for each unknown to mean anything.
    """
    solver = Local(P, nested).at(draw)
    f = P.f if solver.f is None else solver.f
    assert isinstance(f, LinearSum)
    every = np.arange(f.shape[0])
    if P.r.L2 == 0.0 or not 2 * math.prod(f.shape) <= min(f.n, 2 * solver.most_full) or not cheap(f):
        return None, Cost(0, 0)
    zero, one = np.zeros(f.shape, f.dtype), Cost(f.n, f.n)
    seen = f.recent.at(zero)
    Q, q = curvature_at_0(f, seen.z, every)
    if q <= STEEP * f.bound:
        return None, Cost(0, 0)
    Q[np.diag_indices(len(Q))] += ridge * q
    with one_thread(len(Q)):
        step = solve(Q, np.asarray(seen.grad, np.float64))
    if step is None:
        return None, one
    x = -step.astype(f.dtype)
    there = f.recent.look(x)
    if not there.value + P.r.value(x) < seen.value + P.r.value(zero):  # NaN is not less
        return None, one
    f.recent.put(there)
    return x, one  # the other look is that of the first step
