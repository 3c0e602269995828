"""The theorems as a planner: constants, conditions, batch sizes, steps and cost for an accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ..convex import LocalCurvature
from ..errors import BadSettings, pick, require_number
from ..measures import MEASURES
from ..problem import Problem
from ..solve import first_state
from .modes import certified, in_own_metric, practical, printed
from .origins import constants_of, deviation, start_value
from .record import Plan

__all__ = ["Plan", "plan"]


def plan(
    P: Problem,
    eps: float,
    measure: Literal["gap", "criticality"] = "gap",
    setting: Literal["finite-sum", "online"] = "finite-sum",
    mode: Literal["certified", "paper", "practical"] = "certified",
    *,
    D0: float | None = None,
    sigma: float | None = None,
    x0: Any = None,
) -> Plan:
    """Batch sizes, probability, κ and steps for E measure(x̂) ≤ eps.

    "paper" follows the four theorems as printed and reports the conditions that this problem violates;
    "certified" follows the corrected theory and raises κ until they all hold; "practical" is what `dca-page` does.
    D0 ≥ F(x0) − inf F and sigma² ≥ E‖∇h_i − ∇H‖² are computed or estimated when they are not given.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> P = dcopt.erm(np.eye(4), [0, 1, 0, 1])
    >>> dcopt.plan(P, eps=0.1).violated
    ()
    """
    require_number("eps", eps, 0.0, open_low=True)
    pick("measure", measure, ("gap", "criticality"))
    pick("setting", setting, ("finite-sum", "online"))
    pick("mode", mode, ("certified", "paper", "practical"))
    if isinstance(P.G, LocalCurvature):
        raise BadSettings("decomposition", "local", "scalar, diagonal or gram: the theorems assume one G for all steps")
    if measure == "criticality" and P.r.L2 is None:
        raise BadSettings("measure", measure, "'gap': r2 is not smooth, and the criticality theorems need L_r2")
    if P.n is None and setting == "finite-sum":
        raise BadSettings("setting", setting, "'online': the problem is a stream")
    make = {"certified": certified, "practical": practical, "paper": printed}[mode]
    own = P.own_constants is not None
    if own and measure == "gap" and setting == "finite-sum" and mode != "paper":
        return _at_start(replace(in_own_metric(P, make, eps, start_value(P, D0, x0)), x0=x0))
    c, named = constants_of(P, P.constants)
    named += start_value(P, D0, x0)
    if setting == "online":
        named += deviation(P, sigma, x0)
    return _at_start(replace(make(P, c, named, eps, measure, setting), x0=x0))


def _at_start(plan: Plan) -> Plan:
    """The plan, with a remark if x0 already meets the accuracy."""
    P, how = plan.P, plan.P.sum.facts().how
    if how:
        said = f"the constants are {how}: what the plan promises holds where they are bounds"
        plan = replace(plan, remarks=(*plan.remarks, said))
    if P.f is None or P.f.facts().rows is None:
        return plan
    value = MEASURES[plan.measure](P, P.examine(np.asarray(first_state(P, plan.x0).x, np.float64)))
    if not value <= plan.eps:
        return plan
    return replace(plan, remarks=(*plan.remarks, f"the {plan.measure} at x0 is {value:.3g}: ε is met without a step"))
