"""The conformance suite: laws that every registered component keeps, and that users can run on their own."""

from __future__ import annotations

from collections.abc import Mapping

from ..data.rows import RowMatrix
from ..errors import a_kind
from ..losses import Loss
from ..problem import Problem
from ..regularizers import Regularizer
from ..sums import Components, ComponentStream
from .base import Law, LawBroken, run
from .components import LAWS as COMPONENT_LAWS
from .convex import LAWS as CONVEX_LAWS
from .estimators import LAWS as ESTIMATOR_LAWS
from .facets import LAWS as FACET_LAWS
from .losses import LAWS as LOSS_LAWS
from .problems import LAWS as PROBLEM_LAWS
from .regularizers import LAWS as REGULARIZER_LAWS
from .rows import LAWS as VERB_LAWS
from .subsolvers import LAWS as SUBSOLVER_LAWS

ROW_LAWS: Mapping[str, Law] = {**VERB_LAWS, **FACET_LAWS}


def laws_for(component: object) -> Mapping[str, Law]:
    """The laws that apply to a component, from what it is."""
    if isinstance(component, type):
        raise TypeError(f"{component.__name__} is a class: give an instance, {component.__name__}(…)")
    if isinstance(component, Loss):
        return LOSS_LAWS
    if isinstance(component, Regularizer):
        return REGULARIZER_LAWS
    if isinstance(component, Components):
        return COMPONENT_LAWS
    if isinstance(component, Problem):
        return PROBLEM_LAWS
    if hasattr(component, "start") and hasattr(component, "step"):
        return ESTIMATOR_LAWS
    if hasattr(component, "tdot"):
        return ROW_LAWS
    if hasattr(component, "bregman"):
        return CONVEX_LAWS
    if hasattr(component, "takes"):
        return SUBSOLVER_LAWS
    kinds = "loss, regularizer, estimator, row matrix, convex part, sub-solver, sum of components or problem"
    raise TypeError(f"{a_kind(component)} is no {kinds}")


def check(component: object) -> list[str]:
    """Run every law that applies to your own loss, regularizer, estimator, row matrix, convex part G, sub-solver,
    components or problem (of which G and H must be convex, and F what they make).

    Returns the names of the laws kept; raises LawBroken with every law that is not, and where that was seen.

    Examples
    --------
    >>> import dcopt
    >>> "slope-is-derivative" in dcopt.check(dcopt.losses.LOSSES["logistic"])
    True
    """
    if isinstance(component, ComponentStream):
        component = component.holdout
    return run(laws_for(component), component)


__all__ = [
    "COMPONENT_LAWS", "CONVEX_LAWS", "ESTIMATOR_LAWS", "LOSS_LAWS", "PROBLEM_LAWS", "REGULARIZER_LAWS", "ROW_LAWS",
    "SUBSOLVER_LAWS", "LawBroken", "RowMatrix", "check", "laws_for",
]  # fmt: skip
