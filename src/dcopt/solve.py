"""solve() puts rules, observers and a certificate around the loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from .data import check
from .draw import Draw, as_seed
from .errors import BadInput, BadSettings, pick, require_number
from .estimators import Estimator, Full
from .loop import dca
from .measures import MEASURES
from .methods import Method, as_method
from .problem import Problem
from .run import Run
from .state import Result, State
from .stop import Passes, Rule, Seconds, Steps, Tol
from .subproblems import Subsolver, choose
from .sums import Cost
from .xp import Array

Observer = Callable[[State], Any]


def iterate(
    P: Problem,
    method: str | Method | Estimator = "dca-page",
    *,
    seed: int | None = None,
    x0: Any = None,
    subsolver: Subsolver | None = None,
    state: State | None = None,
) -> Iterator[State]:
    """x_1, x_2, … without end: the researcher's loop. `state` continues from there."""
    P, estimator = as_method(method).prepare(P)
    estimator.check(P.n)
    state = first_state(P, x0) if state is None else state
    states = dca(P, estimator, subsolver or choose(P.G, P.r), state, as_seed(seed))
    return (state.frozen() for state in states)


def first_state(P: Problem, x0: Any) -> State:
    """t = 0: a checked copy of x0 in dom r1, or zeros."""
    x = check.point(x0, P.shape, P.dtype)
    if not math.isfinite(P.r.r1(x)):
        raise BadInput("x0", "is outside the domain of r1")
    return State(0, x, None, None, Cost(0, 0))


def solve(
    P: Problem,
    method: str | Method | Estimator = "dca-page",
    *,
    passes: float | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    tol: float | None = None,
    measure: Literal["gap", "criticality"] = "gap",
    loose_tol: float | None = None,
    stop: Rule | None = None,
    output: Literal["last", "best", "uniform"] = "last",
    seed: int | None = None,
    x0: Any = None,
    callbacks: Sequence[Observer] = (),
    trace: float | None = 1.0,
    subsolver: Subsolver | None = None,
) -> Result:
    """min F(x) = G(x) − H(x) + r1(x) − r2(x), until the first of `passes`, `steps`, `seconds`, `tol`, `stop`.

    Parameters
    ----------
    P : the problem, from `erm` or `Problem`
    method : a registered name, a Method, or an estimator such as `dcopt.estimators.PAGE(p=…, b_small=…)`
    passes : budget in N component gradients, honestly counted (a PAGE correction costs 2b'); default 20 if
        nothing else is given
    tol, measure : stop when the measure, checked about every fifth pass, is at most tol
    loose_tol : a run that ends otherwise is ACCEPTABLE if the measure is at most this
    output : the last point, the best F among the traced points, or (the theorems') one uniformly from x_1 … x_T
    callbacks : functions of a State, called after every step; a true return value ends the run
    trace : passes between two lines of the trace; None: only the first and the last

    Returns
    -------
    Result with x, status, certificate (recomputed in float64 at that x), trace, spent, seed.
    """
    recipe = as_method(method)
    pick("measure", measure, MEASURES)
    pick("output", output, ("last", "best", "uniform"))
    rule = _rule(passes, steps, seconds, tol, stop)
    if output == "uniform" and tol is not None:
        raise BadSettings("output", output, "'last' or 'best' with tol: a uniform index belongs to a fixed budget")
    if loose_tol is not None:
        require_number("loose_tol", loose_tol, 0.0)
    if trace is not None:
        require_number("trace", trace, 0.0, open_low=True)
    seed = as_seed(seed)
    tuned, estimator = recipe.prepare(P)
    estimator.check(P.n)
    state = first_state(P, x0)
    states = dca(tuned, estimator, subsolver or choose(tuned.G, tuned.r), state, seed)
    run = Run(P, tuned, state, MEASURES[measure], measure, trace, output, seed, exact=isinstance(estimator, Full))
    _compile(P, state.x)
    end = run.go(states, rule, callbacks)
    return run.result(end, recipe.name, tol, loose_tol)


def _rule(
    passes: float | None, steps: int | None, seconds: float | None, tol: float | None, stop: Rule | None
) -> Rule:
    rules: list[Rule] = [] if stop is None else [stop]
    if passes is not None:
        rules.append(Passes(passes))
    if steps is not None:
        rules.append(Steps(steps))
    if seconds is not None:
        rules.append(Seconds(seconds))
    if not rules:
        rules.append(Passes(20.0 if tol is None else 1000.0))
    if tol is not None:
        rules.insert(0, Tol(tol))
    rule = rules[0]
    for other in rules[1:]:
        rule = rule | other
    return rule


def _compile(P: Problem, x: Array) -> None:
    """Let the kernels of a step be compiled or loaded before the clock starts."""
    if P.n is not None:
        batch = P.sum.sample(1, Draw(0, 0))
        batch.grad(x)
        batch.diff(x, x)
