"""Sub-solvers, and the choice of one for a problem."""

from __future__ import annotations

from ..convex import Convex
from ..errors import pick, require
from ..regularizers import Regularizer
from .base import Inner, Solver, Subsolver, rounding
from .cd import CoordinateDescent, cd
from .closed_forms import Direct, Prox, Radial, direct, prox, radial
from .fista import FISTA, fista
from .groups import GroupDescent, groups
from .newton_cg import NewtonCG, newton_cg
from .oracle import Oracle, oracle
from .prox_newton import ProxNewton, prox_newton
from .svrg import InnerSVRG, svrg

SUBPROBLEMS: dict[str, Solver] = {  # The laws run on the programs that each sub-solver takes.
    "prox": prox,
    "radial": radial,
    "direct": direct,
    "cd": cd,
    "groups": groups,
    "newton-cg": newton_cg,
    "svrg": svrg,
    "prox-newton": prox_newton,
    "fista": fista,
    "oracle": oracle,
}


def choose(G: Convex, r: Regularizer) -> Solver:
    """The sub-solver for what G and r1 declare: closed forms first, then the one that needs the fewest passes."""
    for solver in (prox, radial, direct, cd, groups, newton_cg):
        if solver.takes(G, r):
            return solver
    if svrg.worth(G, r):
        return svrg
    return prox_newton if prox_newton.takes(G, r) else fista


def subsolver(spec: str | Subsolver) -> Subsolver:
    """The sub-solver of a registered name, or a callable (G, r, y, warm, tol) -> Inner unchanged."""
    if isinstance(spec, str):
        return SUBPROBLEMS[pick("subsolver", spec, SUBPROBLEMS, "a callable")]
    require(callable(spec), "subsolver", spec, "a registered name or a callable (G, r, y, warm, tol) -> Inner")
    return spec


__all__ = [
    "FISTA", "SUBPROBLEMS", "CoordinateDescent", "Direct", "GroupDescent", "Inner", "InnerSVRG", "NewtonCG", "Oracle",
    "Prox", "ProxNewton", "Radial", "Solver", "Subsolver", "cd", "choose", "direct", "fista", "groups",
    "newton_cg", "oracle", "prox", "prox_newton", "radial", "rounding", "subsolver", "svrg",
]  # fmt: skip
