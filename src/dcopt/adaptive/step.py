"""One step with a κ that is a function of what the run has seen.

1. The estimator sees the sum through a `WatchingSum`: where it evaluates all components, F at x is known at no cost.
   After `window` passes without that it starts anew or, if it evaluates no full gradient, F is looked at: one pass.
2. Where F is known, it is tested. If it has not fallen by σ times what the steps promised, the run goes back to the
   last good point, whose estimate was kept, with a larger κ. Otherwise κ follows the share that came true.
3. Between tests κ rises, in form (S), to the curvature of f that a batch shows along the last step.
4. The step is that of `loop.dca`. If it leads to numbers that are not finite, the last good point is restored, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..draw import Draw
from ..estimators.base import Estimate, Estimator
from ..loop import program
from ..problem import Problem
from ..state import State, owned
from ..subproblems.base import Inner, Subsolver, for_step
from ..sums import Cost, WatchingSum
from ..xp import Array, finite, namespace
from .levels import Levels
from .memory import Adapted, Good, begin
from .policy import Adaptive
from .start import first_level


def adaptive_dca(
    P: Problem, estimator: Estimator, solver: Callable[[Problem], Subsolver], how: Adaptive, state: State, seed: int
) -> Iterator[State]:
    """x_{t+1} ∈ argmin G + r1 − ⟨g_t + w_t, ·⟩ with G = κ_t/2 ‖x‖², or with the shift η_t/2 ‖x‖² added to G and H."""
    levels = Levels(P, solver)
    while True:
        draw = Draw(seed, state.t)
        here, known, cost = _look(P, estimator, how, levels, state, draw)
        while True:
            Q, subsolver = levels.at(known.level)
            prev = None if here.t < state.t else state.prev
            inner, asked = program(Q, for_step(subsolver, draw), here.x, prev, Q.linear(here.at, here.g))
            promised, more = levels.promise(Q, here.x, inner.x)
            cost = cost.plus(inner.cost).plus(more)
            if math.isfinite(promised) or not (finite(known.good.g) and known.level < _HUGE):
                break
            known = _restored(how, known)
            here = known.good
        known = _stepped(known, promised, inner, here.x, cost)
        state = State(state.t + 1, inner.x, here.x, known, state.spent.plus(cost), inner.residual, asked)
        yield state


def _look(
    P: Problem, estimator: Estimator, how: Adaptive, levels: Levels, state: State, draw: Draw
) -> tuple[Good, Adapted, Cost]:
    """The point from which the step is made with the estimate there, what is known, and the cost of both."""
    x, watch = state.x, WatchingSum(P.sum)
    known = state.memory if isinstance(state.memory, Adapted) else None
    due = known is None or known.age >= known.window * levels.n
    if known is None or (due and known.comes_free):
        estimate = estimator.start(watch, x, draw)
    else:
        estimate = estimator.step(watch, x, state.prev, known.inner, draw)
    f, cost = watch.value_at(x), estimate.cost
    comes_free = f is not None
    if f is None and due:
        f, cost = P.sum.all().value_grad(x)[0], cost.plus(Cost(levels.n, levels.n))
    here = _good(state.t, x, math.nan, estimate)
    if f is not None:
        here = here._replace(F=P.value_with(x, f), memory=owned(estimate.memory))
        cost = cost.plus(Cost(P.G.components, P.G.components))
    if known is None:
        level, more = first_level(levels, how, estimator, here, draw)
        known = begin(estimate.memory, here, level, min(1.0, how.window), comes_free)
        return here, known, cost.plus(more)
    known = known._replace(inner=estimate.memory, age=known.age + cost.gradients)
    if f is not None:
        known = _tested(how, known, here, 8.0 * levels.eps * (abs(here.F) + abs(f)))
        return known.good, known, cost
    if P.f is not None and watch.bend is not None and watch.bend > known.last:
        known = known._replace(level=known.level + watch.bend - known.last)
    return here, known, cost


def _tested(how: Adaptive, known: Adapted, here: Good, rounding: float) -> Adapted:
    """A new window from this point with a κ that follows the share of the promise that came true; or from the last."""
    fell, promised = known.good.F - here.F, known.promised
    if not fell >= how.sigma * promised - rounding:  # NaN too
        return _restored(how, known)
    level = known.level
    if promised * (1.0 - how.target) > rounding:  # Otherwise the share is not told by such numbers.
        level = known.times(how.ratio(fell / promised))
    return begin(known.inner, here, level, min(2.0 * known.window, how.window), known.comes_free)


def _restored(how: Adaptive, known: Adapted) -> Adapted:
    """A new window from the last good point, with a larger κ: 2, 4, 16, … times, if that fails again and again."""
    rise = how.factor ** min(2.0 ** min(known.failures, 10), math.log(_FAR) / math.log(how.factor))
    level = min(max(known.level, known.times(rise)), _HUGE) or how.first
    inner = owned(known.good.memory)
    return begin(inner, known.good, level, known.window, known.comes_free, known.failures + 1)


def _stepped(known: Adapted, promised: float, inner: Inner, x: Array, cost: Cost) -> Adapted:
    d = inner.x - x
    moved = float(namespace(d).sum(d * d))
    return known._replace(
        promised=known.promised + promised, moved=known.moved + moved, shifted=known.shifted + known.level * moved,
        last=promised / moved if moved > 0.0 else known.level,
    )  # fmt: skip


def _good(t: int, x: Array, F: float, estimate: Estimate) -> Good:
    return Good(t, x, F, estimate.g, x if estimate.at is None else estimate.at, None)


def blank(P: Problem, estimator: Estimator, x: Array, draw: Draw) -> Adapted:
    """A memory of the right form, into which that of a file is read."""
    estimate = estimator.start(P.sum, x, draw)
    good = _good(0, x, 0.0, estimate)._replace(memory=estimate.memory)
    return begin(estimate.memory, good, 1.0, 1.0, True)


_FAR = 2.0**64  # The most by which κ rises at once.
_HUGE = float(np.sqrt(np.finfo(np.float64).max))  # A κ beyond it leaves no room for κ‖x‖².
