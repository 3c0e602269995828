"""solve() puts rules, observers and a certificate around the loop."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from .adaptive import Adaptive
from .auto import AUTO, as_adaptive, resolve
from .convex import UnknownScale
from .data import check
from .draw import as_seed
from .errors import BadInput, BadSettings, OutOfData, elsewhere, require, require_number
from .estimators import Estimator
from .local import Local
from .method import Method, Planned, own_subsolver
from .problem import Problem
from .runs.goal import Goal, Tolerance, default_tol
from .runs.run import Observer, Run, require_observers, require_problem
from .runs.stop import Rule, Settle
from .state import Result, State
from .subproblems import Subsolver
from .sums import FREE
from .xp import Array


def iterate(
    P: Problem,
    method: str | Method | Estimator | Local | Planned = "dca-page",
    *,
    seed: int | None = None,
    x0: Any = None,
    subsolver: str | Subsolver | None = None,
    kappa: str | Adaptive | None = None,
    state: State | None = None,
) -> Iterator[State]:
    """x_1, x_2, … without end: the researcher's loop. `state` continues from there; `kappa` as in `solve`."""
    require_problem(P)
    adaptive = as_adaptive(kappa)
    if isinstance(method, Planned):
        _require_own_kappa(adaptive)
        P, method = method.P, method.estimator
    require(state is None or isinstance(state, State), "state", state, "a State, as a result and iterate give it")
    if state is not None and seed is None:
        raise BadSettings("seed", seed, "the seed of the run that the state comes from")
    ready = resolve(method, P, adaptive)
    state = first_state(P, x0) if state is None else state.thawed()
    return _frozen(ready.states(state, as_seed(seed), own_subsolver(subsolver, ready)))


def _frozen(states: Iterator[State]) -> Iterator[State]:
    """What the researcher gets; a stream that ends is the end of the loop."""
    try:
        for state in states:
            yield state.frozen()
    except OutOfData:
        return


def _require_own_kappa(adaptive: Adaptive | None) -> None:
    if adaptive is not None:
        raise BadSettings("kappa", "adaptive", "None with a plan: what it promises is for its own κ")


def _require_planned_start(plan: Planned, x0: Any) -> None:
    """A plan holds for starts with F(x0) − inf F ≤ D0, and for the one that it was made with: refuse another one."""
    low, P = plan.P.lower_bound, plan.P
    if x0 is None or np.array_equal(first_state(P, x0).x, first_state(P, plan.x0).x):
        return
    if low is None or P.value(x0) - low > plan.D0 * (1 + 1e-12):
        raise BadSettings("x0", "another start", f"one with F(x0) − inf F ≤ {plan.D0:g}, or a plan made with this x0")


def first_state(P: Problem, x0: Any) -> State:
    """t = 0: a checked copy of x0 in dom r1, or zeros (what is nearest to them in dom r1)."""
    x = check.point(x0, P.shape, P.dtype)
    if not math.isfinite(P.r.r1(x)):
        inside = P.r.prox(x, 1.0)
        if x0 is None or _rounded(inside, x):  # the point of the domain nearest to 0, or to a bound that was rounded
            x = inside
    if not math.isfinite(P.r.r1(x)):
        raise BadInput("x0", "is outside the domain of r1")
    return State(0, x, None, None, FREE)


def _rounded(a: Array, b: Array) -> bool:
    """Whether the entries differ by the rounding of their type at most."""
    return bool(np.all(np.abs(a - b) <= np.finfo(b.dtype).eps * np.abs(b)))


@elsewhere(
    max_iter="passes= or steps=", maxiter="passes= or steps=", n_iter="passes= or steps=", iterations="steps=",
    epochs="passes=", max_epochs="passes=", max_passes="passes=", max_time="seconds=", time_limit="seconds=",
    timeout="seconds=", eps="tol= or atol=", tolerance="tol= or atol=", gtol="tol= or atol=", random_state="seed=",
    init="x0=", x_init="x0=", callback="callbacks=", verbose="callbacks=", solver="method=", algorithm="method=",
)  # fmt: skip
def solve(
    P: Problem,
    method: str | Method | Estimator | Local | Planned = "auto",
    *,
    tol: float | None = None,
    atol: float | None = None,
    passes: float | None = None,
    samples: float | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    measure: Literal["gap", "criticality"] | None = None,
    scale: float | None = None,
    loose_tol: float | None = None,
    search: bool | None = None,
    stop: Rule | None = None,
    output: Literal["last", "best", "uniform", "uniform-before"] | None = None,
    seed: int | None = None,
    x0: Any = None,
    callbacks: Sequence[Observer] = (),
    trace: float | Literal["auto"] | None = "auto",
    subsolver: str | Subsolver | None = None,
    kappa: str | Adaptive | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 5.0,
) -> Result:
    """min F(x) = G(x) − H(x) + r1(x) − r2(x), until the first of `tol`, `atol`, `passes`, `steps`, `seconds`, `stop`.

    Without any of these a run ends at tol = 1e-6 (1e-4 in float32).

    Parameters
    ----------
    P : the problem, from `erm` or `Problem`
    method : a registered name, "auto" (the notes of the result say what it took, and why), a Method, an estimator such
        as `dcopt.estimators.PAGE(p=…, b_small=…)`, or a Plan (then steps, output and measure are the plan's unless they
        are given)
    tol : stop when the measure is at most this share of its scale. For the critical distance the scale is the length of
        the gradient of what is smooth in F at the null point, x = 0 with an intercept at its best constant; for the gap
        it is |F| there (`dcopt.measures.scale`). Neither depends on x0
    atol : stop when the measure is at most this number; with tol, at the larger one of both
    measure : "criticality", the distance dist(∇H(x) + w, ∂(G + r1)(x)), or "gap", the paper's measure, which depends on
        G: for κ/2 ‖x‖² it is about d²/2κ, small at points that are far from critical where κ is large. "dca-local" and
        "dca-nested", whose G changes, have the gap of a diagonal G with the curvature of every feature. It is checked
        about every fifth pass
    passes : budget in N component gradients, honestly counted (a PAGE correction costs 2b'); 1000 by default with tol,
        10⁵ for a general G
    scale : what tol and loose_tol are shares of, where it is known: a path of problems with the same f shares it
    samples : budget in samples drawn, each counted once; the budget of a stream, which has no passes
    loose_tol : a run that ends otherwise is ACCEPTABLE if the measure is at most this share of its scale
    search : leave critical points for lower ones, where r is a sum of concave profiles of entries ("auto", "dca-local"
        and "dca-nested"; these two from where they would have ended); None: for "auto" without an x0
    x0 : the start; without `search` a run ends at a critical point near it. By default 0; for "auto" a step of f alone
        from 0 where the penalty is concave and that is lower (of small data, and then for "dca-local" too, the best of
        three such starts after six steps each; they are counted as passes and not as steps, and left out where steps,
        seconds, samples, less than 100 passes or a stop rule are given)
    stop : a rule of your own, such as dcopt.stop.Passes(20) | dcopt.stop.Tol(1e-6); dcopt.stop.Settle() goes on at tol
        as long as steps pay
    output : the last point, the best F among the traced points, or the theorems' one: uniformly from x_1 … x_T
        ("uniform", criticality) or from x_0 … x_{T−1} ("uniform-before", gap)
    callbacks : functions of a State, called after every step; a true return value ends the run
    trace : passes between two lines of the trace ("auto": 1); on a stream samples ("auto": at doubling counts);
        None: only the first and the last
    kappa : "adaptive", or `dcopt.adaptive.Adaptive(…)`: κ (of a general G the shift η) follows what the run sees, so
        that no constant is needed. F is tested where the estimator evaluates all components, at the latest after three
        passes. Where it has not fallen, the run goes back to the last good point, which is also what it returns if its
        last point is higher. All work is counted in passes. None: κ of the problem and of the method
    checkpoint, every : a new file that is written when the run begins, every so many seconds (of the clock; 0: after
        every step) and when it ends, so that `dcopt.resume` can go on. Saving takes no time from `seconds`; if it
        fails the run goes on, and the result's notes say so

    Returns
    -------
    Result with x, status, certificate (recomputed in float64 at that x), trace, spent, seed.
    """
    require_problem(P)
    adaptive = as_adaptive(kappa)
    if not isinstance(method, str) and isinstance(method, Planned):
        _require_own_kappa(adaptive)
        if method.P.sum is not P.sum:
            raise BadSettings("method", "a plan", "one that was made for this problem")
        if (passes, steps, seconds, tol, atol, stop) == (None,) * 6:
            steps = method.T
        _require_planned_start(method, x0)
        x0 = method.x0 if x0 is None else x0
        output = output or (method.output if tol is None and atol is None else "last")
        P, measure = method.P, measure or method.measure
        method = method.estimator
    measure, output = measure or "criticality", output or "last"
    require(search is None or isinstance(search, bool | np.bool_), "search", search, "None, True or False")
    free = isinstance(method, str) and method == AUTO
    searches = x0 is None and free if search is None else bool(search)
    if (passes, samples, steps, seconds, tol, atol) == (None,) * 6 and P.n is not None and not _ends(stop):
        tol = default_tol(P.dtype)
    for name, number in (("tol", tol), ("atol", atol), ("scale", scale)):
        if number is not None:
            require_number(name, number, 0.0)
    given = tol if atol is None else atol  # It says that there is a tolerance; `absolute` gives its value below.
    settle = isinstance(stop, Settle)
    goal = Goal(
        passes=passes, samples=samples, steps=steps, seconds=seconds, tol=given, measure=measure, loose_tol=loose_tol,
        output=output, trace=trace, settle=settle, search=searches, leaps=searches and free,
    )  # fmt: skip
    if measure == "gap" and isinstance(P.G, UnknownScale):
        raise BadSettings("measure", measure, "'criticality': the gap depends on κ, which this problem does not know")
    goal.rule(P, stop)  # It refuses what does not fit together before anything is looked at.
    require_observers(callbacks)
    seed = as_seed(seed)
    ready = resolve(method, P, adaptive)
    run = Run(P, ready, goal, seed, own_subsolver(subsolver, ready))
    if search:
        run.require_search()
    state = first_state(P, x0)
    goal = goal.absolute(Tolerance.of(P, measure, state.x, tol, atol, loose_tol, scale))
    run = replace(run, goal=goal)
    keeper = None
    if checkpoint is not None:
        _require_new(checkpoint, P)
        keeper = run.keeper(checkpoint, every, _ends(stop))
    starts = None
    if x0 is None and isinstance(method, str) and method in (AUTO, "dca-local"):
        starts = run.starts(goal.roomy and not _ends(stop), one=free)
    return run.go(goal.rule(P, stop), callbacks, *run.begin(state, starts), keeper=keeper)


def _ends(stop: Rule | None) -> bool:
    """Whether a rule of the caller's may end a run by itself."""
    return stop is not None and not isinstance(stop, Settle)


def _require_new(checkpoint: Any, P: Problem) -> None:
    """Hours of another run are not written over, and a stream cannot be wound back."""
    if not isinstance(checkpoint, (str, os.PathLike)):
        raise BadSettings("checkpoint", checkpoint, "a path")
    if P.n is None:
        raise BadSettings("checkpoint", str(checkpoint), "None: the source of a stream cannot be wound back")
    if os.path.lexists(checkpoint):
        expected = "a file that is not there yet: dcopt.resume(path, P) continues this one, remove it to start over"
        raise BadSettings("checkpoint", str(checkpoint), expected)
