"""The protocol of sub-solvers: they solve argmin G + r1 − ⟨y, ·⟩ and certify the residual."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..convex import Convex
from ..draw import Draw
from ..errors import CannotSolve
from ..regularizers import Regularizer
from ..sums import FREE, Cost
from ..xp import Array, namespace

_FALLS = 0.9  # A residual that is left with more than this share has not fallen.
_FALLS_IN_A_VALLEY = 0.999  # The same while the program's value falls; valleys have shown .95 to .98 (tests).


class Inner(NamedTuple):
    """A solution and its certified residual: a bound on dist(0, ∂(G + r1)(x) − y); None where F, looked at, chose x."""

    x: Array
    residual: float | None
    steps: int
    cost: Cost = FREE  # Component gradients, where G is itself a sum.

    @property
    def certified(self) -> float:
        """The residual; infinite where none is known."""
        return math.inf if self.residual is None else self.residual


class Subsolver(Protocol):
    """argmin_x G(x) + r1(x) − ⟨y, x⟩, from a warm start, to a residual of at most tol.

    The residual is that of the returned x, so it is above tol where tol was not met: rounding, no minimizer, a cap.
    """

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner: ...


def for_step(subsolver: Subsolver, draw: Draw) -> Subsolver:
    """The sub-solver for step t. The draws and the effort of a stochastic one are a function of (seed, t)."""
    at = getattr(subsolver, "at", None)
    return subsolver if at is None else at(draw)


class Solver(ABC):
    """The base of the sub-solvers here: frozen settings, and a test of the (G, r1) that they take."""

    name: str = "the sub-solver"

    @abstractmethod
    def takes(self, G: Convex, r: Regularizer) -> bool:
        """Whether the sub-solver can solve the program for this G and r1."""

    @abstractmethod
    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner: ...

    def demand(self, G: Convex, r: Regularizer) -> None:
        """Raise an error if the sub-solver does not take this G and r1."""
        if not self.takes(G, r):
            reason = f"G = {type(G).__name__} and r = {type(r).__name__} are not what it takes"
            raise CannotSolve(f"the sub-solver {self.name}", reason, "fista")


class Best:
    """The best point so far, and a test of whether progress is still possible."""

    def __init__(self, x: Array, residual: float) -> None:
        self.x, self.residual = x, residual
        self._look, self._then, self._stuck, self._least = 128, residual, 0, math.inf

    def offer(self, x: Array, residual: float) -> None:
        if residual < self.residual or not math.isfinite(self.residual):
            self.x, self.residual = x, residual

    def stalled(self, steps: int, value: Callable[[], tuple[float, float]] | None = None) -> bool:
        """Whether the residual has twice fallen too little from one power of 2, of the steps, to the next.

        One that falls like 1/√k or faster loses a tenth; at the level of rounding, or without a minimizer, it does not,
        nor for a while far from the solution. `value` gives the program's value at the present point, and its rounding.
        While the value falls by more than that, a thousandth is enough: in a long valley the residual stays for
        thousands of steps, and without a minimizer it stays for ever.
        """
        if steps < self._look:
            return False
        share = _FALLS
        if value is not None:
            now, room = value()
            share = _FALLS_IN_A_VALLEY if now < self._least - room else _FALLS
            self._least = min(self._least, now)
        self._stuck = self._stuck + 1 if self.residual > share * self._then else 0
        self._look, self._then = 2 * self._look, self.residual
        return self._stuck > 1


def norm(a: Array) -> float:
    """‖a‖₂ over all entries"""
    return math.sqrt(float(namespace(a).sum(a * a)))


def nowhere(warm: Array, cost: Cost = FREE) -> Inner:
    """The answer to a program that holds NaN or infinity: NaN."""
    xp = namespace(warm)
    return Inner(xp.full_like(warm, math.nan), math.nan, 0, cost)


def rounding(y: Array, *more: Array) -> float:
    """The residual that rounding alone leaves when y (and ∇G, …) are of this size."""
    eps = float(namespace(y).finfo(y.dtype).eps)
    return 2.0 * eps * (norm(y) + sum(map(norm, more)))
