"""Where a run with a concave penalty starts, if nobody says where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..draw import Draw
from ..linalg.symmetric import one_thread, solve
from ..problem import Problem
from ..state import State
from ..sums import Look
from ..xp import Array
from . import costs
from .policy import Escape
from .settings import Local
from .step import local_dca, one_pass


class Started(NamedTuple):
    """The first state of a run, with what was spent on finding it, and a note; "" where it starts at the given x."""

    state: State
    note: str = ""


@dataclass(frozen=True)
class Multistart:
    """x = −(Q + ridge q I)⁻¹ ∇f(0), q the mean of Q's diagonal, for each ridge: a step of f alone from 0.

    From 0, coordinates rarely leave 0 under a concave penalty. From a dense start, useless coordinates reach 0, and the
    critical point at the end is mostly a lower one. Starts at which F is not lower than at 0 are left out. Of several
    starts, the run takes the one with the lowest F after `steps` steps, and goes on from there.
    """

    ridges: tuple[float, ...] = (2.0, 5.0, 10.0)
    steps: int = 6

    def begin(self, P: Problem, how: Local, state: State, seed: int) -> Started:
        """The lowest start, or the given state, which is 0, where there is none."""
        assert P.f is not None  # `Local.check` has asked.
        f = how.samples.sum(P.f, Draw(seed, 0))
        if P.r.L2 == 0.0 or math.prod(f.shape) > costs.BLOCK_ROWS:
            return Started(state)
        every, zero = np.arange(f.shape[0]), f.look(np.zeros(f.shape, f.dtype))
        C = f.curvature(zero)
        if C is None or not costs.all_columns_are_cheap(C, every).yes:
            return Started(state)
        spent, found = state.spent.plus(one_pass(f)), []
        Q, q = C.at_zero(every)
        for ridge in self.ridges if q > (how.escape or Escape()).steep * C.bound else ():
            x = _step(Q + ridge * q * np.eye(len(Q)), zero)
            if x is None:
                continue
            there, spent = f.look(x), spent.plus(one_pass(f))
            if not there.f + P.r.value(x) < zero.f + P.r.value(zero.x):  # NaN is not less.
                continue
            begun = State(0, x, None, there, spent)
            if len(self.ridges) > 1:
                *_, last = islice(local_dca(P, how, begun, seed), self.steps)
                begun, spent = begun._replace(x=last.x, memory=last.memory), last.spent
            if math.isfinite(begun.memory.f + P.r.value(begun.x)):
                found.append(begun)
        if not found:
            return Started(state._replace(spent=spent))
        best = min(found, key=lambda start: start.memory.f + P.r.value(start.x))
        several = f", the lowest of {len(found)} after {self.steps} steps each," if len(self.ridges) > 1 else ""
        passes = (spent.gradients - state.spent.gradients) / (P.n or 1)
        note = f"it starts with a step of f alone{several} where F is lower than at 0"
        note += f" ({passes:.3g} passes; x0 = zeros starts at 0)"
        return Started(best._replace(spent=spent), note)


def _step(Q: NDArray[np.float64], zero: Look) -> Array | None:
    """−Q⁻¹ ∇f(0); None where Q is as good as singular"""
    with one_thread(len(Q)):
        step = solve(Q, np.asarray(zero.grad, np.float64))
    return None if step is None else -step.astype(zero.x.dtype)
