"""solve() puts rules, observers and a certificate around the loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from .convex import ScaledIdentity
from .data import check
from .draw import Draw, as_seed
from .errors import BadInput, BadSettings, OutOfData, pick, require_number
from .estimators import Estimator, Full
from .loop import dca
from .measures import MEASURES
from .methods import Method, Planned, as_method
from .problem import Problem
from .run import Run
from .state import Result, State
from .stop import Passes, Rule, Samples, Seconds, Steps, Tol
from .subproblems import Subsolver
from .subproblems import subsolver as as_subsolver
from .sums import Cost
from .xp import Array

Observer = Callable[[State], Any]
_MOST = 10**7  # samples of a stream, where only tol is given


def iterate(
    P: Problem,
    method: str | Method | Estimator | Planned = "dca-page",
    *,
    seed: int | None = None,
    x0: Any = None,
    subsolver: str | Subsolver | None = None,
    state: State | None = None,
) -> Iterator[State]:
    """x_1, x_2, … without end: the researcher's loop. `state` continues from there."""
    _is_problem(P)
    if isinstance(method, Planned):
        P, method = method.P, method.estimator
    if state is not None and seed is None:
        raise BadSettings("seed", seed, "the seed of the run that the state comes from")
    recipe = as_method(method)
    P, estimator = recipe.prepare(P)
    estimator.check(P.n)
    state = first_state(P, x0) if state is None else state.thawed()
    states = dca(P, estimator, _subsolver(subsolver, recipe, P), state, as_seed(seed))
    return _frozen(states)


def _frozen(states: Iterator[State]) -> Iterator[State]:
    """What the researcher gets; a stream that ends is the end of the loop."""
    try:
        for state in states:
            yield state.frozen()
    except OutOfData:
        return


def _is_problem(P: Any) -> None:
    if not isinstance(P, Problem):
        raise BadInput("P", f"is a {type(P).__name__}: build a problem with dcopt.erm(X, y, …) or dcopt.Problem(…)")


def _start_of(plan: Planned, x0: Any) -> None:
    """A plan holds for starts with F(x0) − inf F ≤ D0: refuse another one."""
    if x0 is None:
        return
    low, P = plan.P.lower_bound, plan.P
    if low is None or P.value(x0) - low > plan.D0 * (1 + 1e-12):
        raise BadSettings("x0", "another start", f"one with F(x0) − inf F ≤ {plan.D0:g}, or a plan made with this x0")


def _subsolver(given: str | Subsolver | None, recipe: Method, P: Problem) -> Subsolver:
    return recipe.subsolver(P) if given is None else as_subsolver(given)


def first_state(P: Problem, x0: Any) -> State:
    """t = 0: a checked copy of x0 in dom r1, or zeros (what is nearest to them in dom r1)."""
    x = check.point(x0, P.shape, P.dtype)
    if x0 is None and not math.isfinite(P.r.r1(x)):
        x = P.r.prox(x, 1.0)  # the point of the domain nearest to 0
    if not math.isfinite(P.r.r1(x)):
        raise BadInput("x0", "is outside the domain of r1")
    return State(0, x, None, None, Cost(0, 0))


def solve(
    P: Problem,
    method: str | Method | Estimator | Planned = "dca-page",
    *,
    passes: float | None = None,
    samples: float | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    tol: float | None = None,
    measure: Literal["gap", "criticality"] | None = None,
    loose_tol: float | None = None,
    stop: Rule | None = None,
    output: Literal["last", "best", "uniform", "uniform-before"] | None = None,
    seed: int | None = None,
    x0: Any = None,
    callbacks: Sequence[Observer] = (),
    trace: float | Literal["auto"] | None = "auto",
    subsolver: str | Subsolver | None = None,
) -> Result:
    """min F(x) = G(x) − H(x) + r1(x) − r2(x), until the first of `passes`, `steps`, `seconds`, `tol`, `stop`.

    Parameters
    ----------
    P : the problem, from `erm` or `Problem`
    method : a registered name, a Method, an estimator such as `dcopt.estimators.PAGE(p=…, b_small=…)`, or a Plan
        (then steps, output and measure are the plan's unless they are given)
    passes : budget in N component gradients, honestly counted (a PAGE correction costs 2b'); default 20 if
        nothing else is given
    samples : budget in samples drawn, each counted once; the budget of a stream, which has no passes
    tol, measure : stop when the measure ("gap" or "criticality"), checked about every fifth pass, is at most tol
    loose_tol : a run that ends otherwise is ACCEPTABLE if the measure is at most this
    output : the last point, the best F among the traced points, or the theorems' one: uniformly from x_1 … x_T
        ("uniform", criticality) or from x_0 … x_{T−1} ("uniform-before", gap)
    callbacks : functions of a State, called after every step; a true return value ends the run
    trace : passes between two lines of the trace ("auto": 1); on a stream samples ("auto": at doubling counts);
        None: only the first and the last

    Returns
    -------
    Result with x, status, certificate (recomputed in float64 at that x), trace, spent, seed.
    """
    _is_problem(P)
    if isinstance(method, Planned):
        if method.P.sum is not P.sum:
            raise BadSettings("method", "a plan", "one that was made for this problem")
        if passes is None and steps is None and seconds is None and tol is None and stop is None:
            steps = method.T
        _start_of(method, x0)
        x0 = method.x0 if x0 is None else x0
        output = output or (method.output if tol is None else "last")
        P, measure = method.P, measure or method.measure
        method = method.estimator
    recipe = as_method(method)
    measure, output = measure or "gap", output or "last"
    pick("measure", measure, MEASURES)
    pick("output", output, ("last", "best", "uniform", "uniform-before"))
    most = 1e3 if isinstance(P.G, ScaledIdentity) else 1e5  # passes inside the convex programs of a general G count too
    rule = _rule(passes, samples, steps, seconds, tol, stop, P.n is None, most)
    if output.startswith("uniform") and tol is not None:
        raise BadSettings("output", output, "'last' or 'best' with tol: a uniform index belongs to a fixed budget")
    if loose_tol is not None:
        require_number("loose_tol", loose_tol, 0.0)
    every: Any = trace
    if trace == "auto":
        every = 1.0 if P.n is not None else "doubling"
    elif trace is not None:
        require_number("trace", trace, 0.0, open_low=True)
    if not (isinstance(callbacks, Sequence) and all(map(callable, callbacks))):
        raise BadSettings("callbacks", callbacks, "a list of functions of a State")
    seed = as_seed(seed)
    tuned, estimator = recipe.prepare(P)
    estimator.check(P.n)
    state = first_state(P, x0)
    states = dca(tuned, estimator, _subsolver(subsolver, recipe, tuned), state, seed)
    exact = isinstance(estimator, Full) and recipe.transform is None  # then every step descends
    run = Run(P, tuned, state, MEASURES[measure], measure, every, output, seed, exact)
    with np.errstate(all="ignore"):  # what is not finite is found and said, not warned of
        _compile(P, state.x)
        end = run.go(states, rule, callbacks)
        return run.result(end, recipe.name, tol, loose_tol)


def _rule(
    passes: float | None,
    samples: float | None,
    steps: int | None,
    seconds: float | None,
    tol: float | None,
    stop: Rule | None,
    stream: bool,
    most: float = 1e3,
) -> Rule:
    if stop is not None and not isinstance(stop, Rule):
        raise BadSettings("stop", stop, "a rule such as dcopt.stop.Passes(20) | dcopt.stop.Tol(1e-6)")
    rules: list[Rule] = [] if stop is None else [stop]
    if passes is not None:
        rules.append(Passes(passes))
    if samples is not None:
        rules.append(Samples(samples))
    if steps is not None:
        rules.append(Steps(steps))
    if seconds is not None:
        rules.append(Seconds(seconds))
    if stream and any(rule.uses(Passes) for rule in rules):
        raise BadSettings("passes", passes, "samples=… instead: a stream has no N, and so no passes")
    if stream and not rules and tol is None:
        raise BadSettings("samples", None, "a budget for a stream: samples=, steps=, seconds= or tol=")
    if not rules:
        rules.append(Samples(_MOST) if stream else Passes(20.0 if tol is None else most))
    if tol is not None:
        rules.insert(0, Tol(tol))
    rule = rules[0]
    for other in rules[1:]:
        rule = rule | other
    return rule


def _compile(P: Problem, x: Array) -> None:
    """Let the kernels of a step be compiled or loaded before the clock starts."""
    batch = P.sum.sample(1, Draw(0, 0)) if P.n is not None else P.known.all()
    batch.grad(x)
    batch.diff(x, x)
