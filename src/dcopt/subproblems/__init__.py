"""Sub-solvers, and which one a problem gets."""

from __future__ import annotations

from ..convex import Convex, ScaledIdentity
from ..errors import CannotSolve
from ..regularizers import Regularizer
from .base import Inner, Subsolver
from .prox import prox


def choose(G: Convex, r: Regularizer) -> Subsolver:
    """The sub-solver for what G and r1 declare."""
    if isinstance(G, ScaledIdentity):
        return prox  # type: ignore[return-value]  # it takes a narrower G, and has just been given one
    raise CannotSolve("the sub-solver", f"no closed form is known for G = {type(G).__name__}", "ScaledIdentity")


__all__ = ["Inner", "Subsolver", "choose", "prox"]
