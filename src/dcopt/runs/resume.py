"""resume() goes on where a checkpoint was written: the same bits as if the run had never stopped."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..adaptive import Adaptive, blank
from ..adaptive.memory import Adapted
from ..auto import recipe, resolve
from ..draw import Draw, as_seed
from ..errors import BadModel, BadSettings, ResumeMismatch
from ..estimators import Estimator
from ..estimators.base import Checked
from ..local import Local
from ..method import Method, Planned, own_subsolver
from ..methods import as_method
from ..problem import Problem
from ..state import Result, State
from ..store.fingerprint import SAME, mismatch
from ..store.restored import Checkpoint, guarded, load
from .goal import Goal, Tolerance
from .ledger import Ledger
from .run import Observer, Run, require_observers, require_problem
from .stop import Rule
from .trace import Record


def resume(
    path: str | os.PathLike[str],
    P: Problem,
    method: str | Method | Estimator | Local | Planned | None = None,
    *,
    passes: float | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    tol: float | None = None,
    atol: float | None = None,
    loose_tol: float | None = None,
    stop: Rule | None = None,
    scale: float | None = None,
    seed: int | None = None,
    callbacks: Sequence[Observer] = (),
    every: float = 5.0,
) -> Result:
    """Continue a run of `solve(..., checkpoint=path)`, on the same problem; `path` is written on.

    The result is that of a run which was never stopped: x, spent, trace, status and certificate, timings aside.

    Parameters
    ----------
    path : the checkpoint; where it is damaged, the generation before it is taken, and the result's notes say so
    P : the problem, built again from the same data (its fingerprint is compared: ResumeMismatch)
    method, seed : need not be given; if they are, they must be those of the run. A run of a plan needs the plan here
    passes, steps, seconds : budgets of the whole run, what was used before included; one of them replaces the old ones
    tol, atol, scale, loose_tol : replace the old ones
    stop : a rule of your own is not in the file: give it again if the run had one

    Examples
    --------
    >>> import dcopt, numpy as np, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.safetensors"
    >>> P = dcopt.erm(np.eye(4), [0, 1, 0, 1], regularizer="scad")
    >>> first = dcopt.solve(P, steps=10, seed=0, checkpoint=path)
    >>> dcopt.resume(path, P, steps=20).steps
    20
    """
    require_problem(P)
    require_observers(callbacks)
    if isinstance(method, Planned):
        P, method = method.P, method.estimator
    found, notes = load(path)
    origin = found.origin
    differs = mismatch(origin.fingerprint, P)
    if method is not None and (given := recipe(method, P)[0]) is not origin.method and method != origin.method:
        then = as_method(origin.method)
        differs += (f"the method: {_name(origin.method, then)} then, {_name(method, given)} now",)
    if seed is not None and as_seed(seed) != origin.seed:
        differs += (f"the seed: {origin.seed} then, {seed} now",)
    if differs:
        raise ResumeMismatch(found.path, differs)
    if origin.own_rule and stop is None:
        raise BadSettings("stop", None, "the rule that the run was given: a file cannot hold it")
    goal = guarded(path, lambda: Goal(**origin.told))
    if not (passes is None and steps is None and seconds is None):
        goal = replace(goal, passes=passes, steps=steps, seconds=seconds)
    x = guarded(path, lambda: found.x(P.shape))
    new = Tolerance.of(P, goal.measure, x, tol, atol, loose_tol, goal.scale if scale is None else scale)
    if new.tol is not None:
        goal = replace(goal, tol=new.tol, scale=new.scale)
    goal = replace(goal, loose_tol=goal.loose_tol if new.loose_tol is None else new.loose_tol)
    rule = goal.rule(P, stop)
    told = origin.adaptive
    adaptive = None if told is None else guarded(path, lambda: Adaptive(**told))
    ready = resolve(origin.method, P, adaptive, origin.decomposition)
    run = Run(P, ready, goal, origin.seed, own_subsolver(origin.subsolver, ready))
    if run.ready.text != origin.estimator:
        raise ResumeMismatch(found.path, (f"the estimator: {origin.estimator} then, {run.ready.text} now",))
    state, ledger, records = guarded(path, lambda: _restored(found, run))
    _same_value(found.path, P, ledger)
    if notes:  # a damaged file is not a generation to keep
        os.replace(found.path, path)
    keeper = run.keeper(path, every, stop is not None)
    result = run.go(rule, callbacks, state, ledger, records, keeper, new=False)
    return replace(result, notes=(*notes, *result.notes))


def _name(method: Any, recipe: Method) -> str:
    return recipe.name if isinstance(method, (str, Method)) else repr(method)


def _restored(found: Checkpoint, run: Run) -> tuple[State, Ledger, Sequence[Record]]:
    """The memory is laid out as the method's own, which a first step shows, and is tried on a copy."""
    shape, ready = run.P.shape, run.ready
    fresh = None if not found.has_memory else _fresh(found, run)
    state, ledger = found.state(shape, fresh), found.ledger(shape)
    if ledger.leap and not run.may_search:
        raise BadModel(found.path, "its next step is a search, which this run does not make")
    if isinstance(state.memory, Checked):
        state.memory.check()
    if state.t > 0 and ready.local is None:
        draw = Draw(run.seed, state.t)
        memory = state.thawed().memory
        inner = memory.inner if isinstance(memory, Adapted) else memory
        tried = ready.estimator.step(ready.P.sum, state.x, state.prev, inner, draw)
        if tried.g.shape != shape:
            raise BadModel(found.path, f"its memory leads to a gradient of shape {tried.g.shape}, x has shape {shape}")
    return state, ledger, found.records()


def _fresh(found: Checkpoint, run: Run) -> Any:
    """A memory of the method at the point of the file"""
    x, ready = found.x(run.P.shape), run.ready
    if ready.adaptive is not None:
        return blank(ready.P, ready.estimator, x, Draw(run.seed, 0))
    if ready.local is None:
        return ready.estimator.start(ready.P.sum, x, Draw(run.seed, 0)).memory
    f = ready.local.samples.sum(ready.P.sum, Draw(run.seed, max(found.t - 1, 0)))
    return f.look(x)


def _same_value(path: str, P: Problem, ledger: Ledger) -> None:
    """Functions have a fingerprint of their names only: F at the first and the best point tells whether they differ."""
    for look in (ledger.first, ledger.best):
        if look is None or not math.isfinite(look.F):
            continue
        F = P.value(look.x)
        if not abs(F - look.F) <= SAME * max(1.0, abs(look.F)):
            raise ResumeMismatch(path, (f"F at a point of the run: {look.F!r} then, {F!r} now",))
