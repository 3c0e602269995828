"""Algorithm 1, once, for every method."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from .draw import Draw
from .estimators.base import Estimator
from .problem import Problem
from .state import State
from .subproblems.base import Inner, Subsolver, for_step
from .xp import Array


def dca(P: Problem, estimator: Estimator, subsolver: Subsolver, state: State, seed: int) -> Iterator[State]:
    """x_{t+1} ∈ argmin G + r1 − ⟨g_t + w_t, ·⟩,   g_t ≈ ∇H(x_t),   w_t ∈ ∂r2(x_t) where F falls most."""
    while True:
        t, x, spent = state.t, state.x, state.spent
        draw = Draw(seed, t)
        if t == 0:
            estimate = estimator.start(P.sum, x, draw)
        else:
            estimate = estimator.step(P.sum, x, state.prev, state.memory, draw)
        g = P.linear(x if estimate.at is None else estimate.at, estimate.g)
        inner, asked = program(P, for_step(subsolver, draw), x, state.prev, g)
        spent = spent.plus(estimate.cost).plus(inner.cost)
        state = State(t + 1, inner.x, x, estimate.memory, spent, inner.residual, asked)
        yield state


def program(P: Problem, subsolver: Subsolver, x: Array, prev: Array | None, g: Array) -> tuple[Inner, float]:
    """argmin G + r1 − ⟨g + w, ·⟩ from x, and the residual that was asked for"""
    w, r1 = P.r.linearize(x, partial(P.down, x, g))
    y = g + w
    asked = P.tolerance(x, prev, y)
    return subsolver(P.G, r1, y, warm=x, tol=asked), asked
