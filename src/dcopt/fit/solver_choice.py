"""solver="auto": the choice of decomposition and method, and of the method to fall back on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ..auto import AUTO, full_method, rule_for
from ..convex import UnknownScale
from ..errors import BadSettings, pick
from ..local import costs
from ..methods import METHODS
from ..problem import Problem
from ..regularizers import Regularizer
from ..subproblems.groups import spread_out

if TYPE_CHECKING:
    from .task import Task

SEARCHES = ("dca-local", "dca-nested")
# Methods with full gradients, for which the metric of a Gram matrix is suitable.
_EXACT = ("dca", "cccp", "bdca", "pdcae")


class Choice(NamedTuple):
    """A decomposition and a method; kept as `solver_`."""

    decomposition: str
    method: str
    reason: str


def choices(solver: str, task: Task, r: Regularizer, search: bool = False, near: bool = False) -> list[Choice]:
    """The way to solve it, and what to fall back on where it ends without a certificate.

    With `search` those come first that can leave critical points for lower ones. `near`: a fit starts near a solution.
    """
    found = _choices(solver, task.problem(r), near)
    if not search:
        return found
    if solver not in (AUTO, *SEARCHES):
        raise BadSettings("search", True, f'False, or solver="auto", {" or ".join(SEARCHES)}')
    return sorted(found, key=lambda way: way.method not in SEARCHES)


def _choices(solver: str, P: Problem, near: bool) -> list[Choice]:
    d, *classes = P.shape
    small = costs.gram_of_groups(d).yes and not spread_out(P.r, math.prod(classes))
    if solver != AUTO:
        name = pick("solver", solver, (AUTO, *METHODS))
        return [Choice("gram" if name in _EXACT and small else "scalar", name, "asked for")]
    rule = rule_for(P, near)
    first = Choice("gram" if rule.decomposition == "gram" else "scalar", rule.method_for(P), rule.why(P))
    if isinstance(P.G, UnknownScale):  # Methods that follow from L cannot take over.
        return [first]
    if first.method in SEARCHES and small:
        # The local metric needs a tenth of the passes and of the time, and the critical points where paths end are as
        # good (on a9a, w8a and mushrooms now one is lower, now the other).
        return [first, Choice("gram", full_method(P), f"{d} features: their Gram matrix is cheap")]
    rule = rule_for(P, near, after="groups")
    last = Choice("scalar", rule.method_for(P), rule.why(P))
    return [first] if last == first else [first, last]
