"""A problem as a function of the level: κ in form (S) with G = κ/2 ‖x‖², else the shift η."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..convex import LocalCurvature, Majorizer, ScaledIdentity, UnknownScale
from ..problem import Problem
from ..subproblems.base import Subsolver
from ..sums import Cost
from ..xp import Array, namespace


def scales(P: Problem) -> bool:
    """Whether the level is κ itself."""
    return P.f is not None and isinstance(P.G, ScaledIdentity | UnknownScale)


def not_adaptive(P: Problem, local: bool, other_step: bool) -> str:
    """Why κ cannot be adapted; "" where it can. `other_step`: a step is not the program with an estimated gradient."""
    if P.n is None:
        return "F is tested on all components, and a stream has none"
    if local or isinstance(P.G, LocalCurvature):
        return "its metric is the curvature of f at x, and F is tested in every step"
    if isinstance(P.G, Majorizer):
        return "G was made to majorize f, and is scaled by what the theory needs"
    return "its step is not the convex program with an estimated gradient" if other_step else ""


class Levels:
    """The problem at a level with its sub-solver. The last one is kept, because making it may cost a factorisation."""

    def __init__(self, P: Problem, solver: Callable[[Problem], Subsolver]) -> None:
        self.P, self._solver = P, solver
        self.n = P.n or 1
        self.eps = float(np.finfo(P.dtype).eps)
        self.scales = scales(P)
        self._last: tuple[float, Problem, Subsolver] | None = None

    def at(self, level: float) -> tuple[Problem, Subsolver]:
        if self._last is None or self._last[0] != level:
            P = self.P.with_kappa(level) if self.scales else self.P.shift(level)
            self._last = (level, P, self._solver(P))
        return self._last[1:]

    def promise(self, Q: Problem, x: Array, new: Array) -> tuple[float, Cost]:
        """What the step from x to `new` lowers F by if the gradient is exact and the curvature of f (or H) is 0.

        In form (S), ⟨∇G(new) − ∇G(x), new − x⟩; in problem (M), D_G(x, new) + η/2 ‖new − x‖². With the cost of it,
        where G is itself a sum over the data.
        """
        if Q.f is not None:
            promised, looks = Q.G.bregman(x, new) + Q.G.bregman(new, x), 2
        else:
            d = new - x
            promised, looks = Q.G.bregman(x, new) + 0.5 * Q.eta * float(namespace(d).sum(d * d)), 1
        each = 2 * looks * Q.G.components
        return promised, Cost(each, each)
