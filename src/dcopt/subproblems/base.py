"""What a sub-solver is: it solves argmin G + r1 − ⟨y, ·⟩ and says how well."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..convex import Convex
from ..regularizers import Regularizer
from ..xp import Array


class Inner(NamedTuple):
    """A solution and its certified residual: a bound on dist(0, ∂(G + r1)(x) − y)."""

    x: Array
    residual: float
    steps: int


class Subsolver(Protocol):
    """argmin_x G(x) + r1(x) − ⟨y, x⟩, from a warm start, to a residual of at most tol."""

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner: ...
