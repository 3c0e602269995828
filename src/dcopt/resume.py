"""resume() goes on where a checkpoint was written: the same bits as if the run had never stopped."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .draw import Draw, as_seed
from .errors import BadModel, BadSettings, ResumeMismatch
from .estimators import Estimator
from .estimators.base import Checked
from .job import Job, Observer, Told, Tolerance, are_observers, is_problem
from .methods import Method, Planned, as_method, resolve
from .problem import Problem
from .run import Saved
from .state import Result, State
from .stop import Rule
from .store.fingerprint import SAME, mismatch
from .store.restored import Checkpoint, guarded, load


def resume(
    path: str | os.PathLike[str],
    P: Problem,
    method: str | Method | Estimator | Planned | None = None,
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
    is_problem(P)
    are_observers(callbacks)
    if isinstance(method, Planned):
        P, method = method.P, method.estimator
    found, notes = load(path)
    origin = found.origin
    differs = mismatch(origin.fingerprint, P)
    if method is not None and (given := resolve(method, P)[0]) is not origin.method and method != origin.method:
        then = as_method(origin.method)
        differs += (f"the method: {_name(origin.method, then)} then, {_name(method, given)} now",)
    if seed is not None and as_seed(seed) != origin.seed:
        differs += (f"the seed: {origin.seed} then, {seed} now",)
    if differs:
        raise ResumeMismatch(found.path, differs)
    if origin.own_rule and stop is None:
        raise BadSettings("stop", None, "the rule that the run was given: a file cannot hold it")
    # before there was a word for it, who searched leapt too
    told = guarded(path, lambda: Told(**{"leaps": origin.told.get("search", False)} | origin.told))
    if not (passes is None and steps is None and seconds is None):
        told = replace(told, passes=passes, steps=steps, seconds=seconds)
    x = guarded(path, lambda: found.x(P.shape))
    new = Tolerance.of(P, told.measure, x, tol, atol, loose_tol, told.scale if scale is None else scale)
    if new.tol is not None:
        told = replace(told, tol=new.tol, scale=new.scale)
    told = replace(told, loose_tol=told.loose_tol if new.loose_tol is None else new.loose_tol)
    rule = told.rule(P, stop)
    job = Job(P, origin.method, told, origin.seed, origin.subsolver)
    if job.made != origin.estimator:
        raise ResumeMismatch(found.path, (f"the estimator: {origin.estimator} then, {job.made} now",))
    state, saved = guarded(path, lambda: _restored(found, job))
    _same_value(found.path, P, saved)
    if notes:  # a damaged file is not a generation to keep
        os.replace(found.path, path)
    result = job.run(rule, callbacks, state, saved, job.keeper(path, every, stop is not None))
    return replace(result, notes=(*notes, *result.notes))


def _name(method: Any, recipe: Method) -> str:
    return recipe.name if isinstance(method, (str, Method)) else repr(method)


def _restored(found: Checkpoint, job: Job) -> tuple[State, Saved]:
    """The memory is laid out as the estimator's own, which a first estimate shows, and is tried on a copy."""
    shape, of = job.P.shape, job.tuned.sum
    fresh = None if found.t == 0 else job.estimator.start(of, found.x(shape), Draw(job.seed, 0)).memory
    state, saved = found.state(shape, fresh), found.saved(shape)
    if isinstance(state.memory, Checked):
        state.memory.check()
    if state.t > 0:
        tried = job.estimator.step(of, state.x, state.prev, state.thawed().memory, Draw(job.seed, state.t))
        if tried.g.shape != shape:
            raise BadModel(found.path, f"its memory leads to a gradient of shape {tried.g.shape}, x has shape {shape}")
    return state, saved


def _same_value(path: str, P: Problem, saved: Saved) -> None:
    """Functions have a fingerprint of their names only: F at the first and the best point tells whether they differ."""
    for look in saved.looks[:2]:
        if look is None or not math.isfinite(look.F):
            continue
        F = P.value(look.x)
        if not abs(F - look.F) <= SAME * max(1.0, abs(look.F)):
            raise ResumeMismatch(path, (f"F at a point of the run: {look.F!r} then, {F!r} now",))
