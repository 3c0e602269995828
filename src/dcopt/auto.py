"""method="auto": one table of rules for `solve` and the estimators. The first that takes a problem decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

from .adaptive import Adaptive
from .convex import LocalCurvature, UnknownScale, majorizing_gram
from .errors import BadSettings, pick
from .estimators import Estimator
from .local import Local, Samples, costs
from .method import Method, Ready
from .methods import METHODS, as_method
from .problem import Problem
from .subproblems.groups import spread_out
from .subproblems.parts import separable

AUTO = "auto"


class Rule(NamedTuple):
    """A condition on a problem, the method for it, and the reason."""

    name: str
    takes: Callable[[Problem, bool], bool]  # the problem, and whether it starts near a solution
    method: str | Callable[[Problem], str]
    why: Callable[[Problem], str]
    decomposition: Literal["own", "gram"] = "own"

    def method_for(self, P: Problem) -> str:
        return self.method if isinstance(self.method, str) else self.method(P)


def _has_model(P: Problem) -> bool:
    """Whether the local method can make its steps."""
    return not _is_general(P) and (P.tunable or isinstance(P.G, LocalCurvature | UnknownScale)) and separable(P.r)


def _is_general(P: Problem) -> bool:
    """Whether the curvature of f at a point is not known: H is given, or f is a function of the user's."""
    return P.f is None or not P.f.facts().has_model


def _has_rows(P: Problem) -> bool:
    """Whether the sum is a loss over rows of data."""
    return P.sum.facts().rows is not None


def _kinks(P: Problem) -> bool:
    """Whether the components have kinks, so that no batch is steady."""
    return not math.isfinite(P.sum.facts().L_v or 0.0)


def _grows(P: Problem) -> bool:
    """Whether there are rows enough for a first sample."""
    return _has_rows(P) and costs.batches(P.n).yes and Samples().share(0, P.sum) < 1.0


def _gram(P: Problem) -> bool:
    """Whether r is over groups of features, and the Gram matrix of all features is affordable."""
    tunable = P.tunable and _has_rows(P)
    return tunable and costs.gram_of_groups(P.shape[0]).yes and not spread_out(P.r, math.prod(P.shape[1:]))


def full_method(P: Problem) -> str:
    """The method with full gradients: extrapolated where f is convex and no Gram matrix is all of its curvature."""
    facts = P.sum.facts()
    return "pdcae" if P.f is not None and facts.convex and not facts.constant else "dca"


def _called(P: Problem) -> str:
    return "rows" if _has_rows(P) else "components"


def _counts(P: Problem) -> str:
    return f"{P.n} rows for {math.prod(P.shape)} unknowns"


RULES = (
    Rule("stream", lambda P, near: P.n is None, "dca-page", lambda P: "a stream"),
    Rule(
        "few components", lambda P, near: _is_general(P) and not costs.batches(P.n).yes, "dca",
        lambda P: f"a general G, and {P.n} components are soon seen",
    ),
    Rule(
        "kinks", lambda P, near: _is_general(P) and _kinks(P), "dca",
        lambda P: "a general G, and components with kinks",
    ),
    Rule(
        "many components", lambda P, near: _is_general(P), "dca-page",
        lambda P: f"a general G and {P.n} components",
    ),
    Rule(
        "constant curvature", lambda P, near: _has_model(P) and P.sum.facts().constant, "dca-local",
        lambda P: "the curvature is the same everywhere, so that one matrix serves all steps",
    ),
    Rule(
        "growing samples", lambda P, near: _has_model(P) and _grows(P) and not near, "dca-nested",
        lambda P: f"curvature at x, and {_counts(P)} let samples grow",
    ),
    Rule(
        "curvature", lambda P, near: _has_model(P), "dca-local",
        lambda P: f"curvature at x; {_counts(P)} are seen from the start",
    ),
    Rule(
        "groups", lambda P, near: _gram(P), full_method,
        lambda P: f"r is not separable by coefficient or row, and the Gram matrix of {P.shape[0]} features is cheap",
        "gram",
    ),
    Rule(
        "batches", lambda P, near: P.tunable and _has_rows(P) and costs.batches(P.n).yes, "dca-page",
        lambda P: f"r is not separable by coefficient or row, and {P.n} rows allow batches",
    ),
    Rule(
        "full gradients", lambda P, near: True, full_method,
        lambda P: f"{P.n} {_called(P)}" if P.tunable else "full gradients in the given metric",
    ),
)  # fmt: skip


def rule_for(P: Problem, near: bool = False, after: str | None = None) -> Rule:
    """The first rule that takes the problem; `near`: it starts near a solution, as along a path of λ.

    `after`: only the rules behind the one of this name.
    """
    names = [rule.name for rule in RULES]
    rules = RULES if after is None else RULES[names.index(after) + 1 :]
    return next(rule for rule in rules if rule.takes(P, near))


def resolve(
    spec: str | Method | Estimator | Local, P: Problem, adaptive: Adaptive | None = None,
    decomposition: str | None = None,
) -> Ready:  # fmt: skip
    """The method for a problem, from a name, an estimator or settings; `decomposition`: instead of that of "auto"."""
    method, own, notes = recipe(spec, P, adaptive is not None)
    decomposition = own if decomposition is None else decomposition
    ready = method.ready(in_decomposition(P, decomposition), adaptive)
    made_from = method if isinstance(spec, (str, Method)) else spec
    return replace(ready, notes=notes + ready.notes, recipe=made_from, decomposition=decomposition)


def recipe(
    spec: str | Method | Estimator | Local, P: Problem, adapts: bool = False
) -> tuple[Method, str, tuple[str, ...]]:
    """The recipe, its decomposition, and why "auto" took it: the first rule which takes the problem decides."""
    if not (isinstance(spec, str) and spec == AUTO):
        if isinstance(spec, str):
            pick("method", spec, (*METHODS, AUTO), "an estimator")
        return as_method(spec), "own", ()
    if adapts:
        many = costs.batches(P.n).yes
        name = "dca-page" if many else "dca"
        why = f"kappa is adapted, and {P.n} components " + ("allow batches" if many else "are few")
        return METHODS[name], "own", (f"auto took {name}: {why}",)
    rule = rule_for(P)
    name = rule.method_for(P)
    return METHODS[name], rule.decomposition, (f"auto took {name}: {rule.why(P)}",)


def as_adaptive(kappa: str | Adaptive | None) -> Adaptive | None:
    """The settings of an adaptive κ, if one is asked for."""
    if kappa is None or isinstance(kappa, Adaptive):
        return kappa
    if isinstance(kappa, str) and kappa == "adaptive":
        return Adaptive()
    number = "a number is a part of the problem: dcopt.erm(…, kappa=…) or dcopt.convex.ScaledIdentity(κ)"
    raise BadSettings("kappa", kappa, f'None, "adaptive" or dcopt.adaptive.Adaptive(…); {number}')


def in_decomposition(P: Problem, decomposition: str) -> Problem:
    """The same F, with the given G or with the Gram matrix of all features as G."""
    rows = P.sum.facts().rows
    if pick("decomposition", decomposition, ("own", "gram")) == "own" or rows is None:
        return P
    G = majorizing_gram(rows)
    return replace(P, G=G, tunable=False, inner_tol=G.resolution)
