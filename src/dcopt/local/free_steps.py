"""Steps on a quadratic with a known Gram matrix: they cost no pass, and one look at F decides about all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ..problem import Problem
from ..state import State
from ..sums import FREE
from ..sums.known_quadratic import KnownQuadratic
from .candidates import Candidate
from .program import Program
from .settings import ALL, Local


def free_steps(program: Program, how: Local, seed: int) -> Iterator[Candidate]:
    """The step to where the method's own steps on f lead, if f is a quadratic that is known on the working set.

    In nearly dependent columns, programs with a small ridge are often not solved, and steps with a large one are short
    along a flat valley. So there are two ways: with the small one alone, and with the large one first. The lower end is
    taken. F has to fall by σ of what it falls by on the way.
    """
    here = program.here
    f = KnownQuadratic(here.f, here.look, program.columns)
    P, ways = replace(here.P, f=f), ((how.ridge.exact,), (how.ridge.known, how.ridge.exact))
    begin = State(0, here.look.x, None, f.look(here.look.x), FREE)
    F, state = min((_end(P, how, ridges, begin, here.rounding, seed) for ridges in ways), key=lambda end: end[0])
    step = (state.x - here.look.x).reshape(here.x.shape)[program.columns]
    yield Candidate(step, how.descent.sigma * (here.F - F))


def _end(
    P: Problem, how: Local, ridges: tuple[float, ...], state: State, rounding: float, seed: int
) -> tuple[float, State]:
    """F and the state after steps with each ridge in turn, until one lowers F by no more than rounding may add"""
    from .step import local_dca

    F = state.memory.f + P.r.value(state.x)
    for ridge in ridges:
        own = replace(how, ridge=replace(how.ridge, exact=ridge), samples=ALL, epochs=None, escape=None)
        for after in islice(local_dca(P, own, state, seed), how.descent.looks):
            state, before, F = after, F, after.memory.f + P.r.value(after.x)
            if not before - F > rounding:
                break
    return F, state
