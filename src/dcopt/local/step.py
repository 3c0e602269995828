"""One step of the local method: a model of f at x, candidates from it, and a look at F that decides.

1. One pass over the rows has told f, ∇f and the predictions at x: the `Look` in `state.memory`.
2. The working set holds the rows of x that are not 0, and the worst of those that have to leave 0.
3. The model is ½⟨d, Qd⟩ on it, Q the curvature |φ''| of f at x plus a ridge.
4. Candidates come best first: Newton's step, then DCA's in τQ, τ = 1, 3, 9, …; before them, where asked, leaps to
   lower critical points of the model, and the ends of epochs of stochastic steps.
5. The first candidate is taken at which F, looked at, has fallen by what was promised. That look is the memory of the
   next step. Where there is none, x stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, repeat

from ..draw import Draw
from ..problem import Problem
from ..state import State
from ..sums import FREE, Cost, Look, Sum
from .candidates import candidates
from .place import Place
from .program import Program
from .settings import Local


def local_dca(P: Problem, usual: Local, state: State, seed: int, first: Local | None = None) -> Iterator[State]:
    """x⁺ is the first candidate at which F, looked at, has fallen as far as it must. `first`: how the first step is."""
    assert P.f is not None  # `Local.check` has asked.
    for how in chain(() if first is None else (first,), repeat(usual)):
        draw = Draw(seed, state.t)
        f = how.samples.sum(P.f, draw)
        look, cost = known(f, state)
        here = Place.of(P, f, look)
        if here.finite:
            program = Program.of(here, how)
            for candidate in islice(candidates(program, how, draw), how.descent.looks):
                cost = cost.plus(candidate.cost)
                if not candidate.possible:
                    continue
                there, cost = f.look(program.moved(candidate.step)), cost.plus(one_pass(f))
                if not there.f + P.r.value(there.x) > here.F - candidate.fall + here.rounding:
                    look = there  # NaN too: the run says that it diverged
                    break
        state = State(state.t + 1, look.x, state.x, look, state.spent.plus(cost), residual=None)
        yield state


def known(f: Sum, state: State) -> tuple[Look, Cost]:
    """What the last step has told about x; one pass where there is none, or where it saw another sample."""
    memory = state.memory
    if isinstance(memory, Look) and memory.n == f.n:
        return memory, FREE
    return f.look(state.x), one_pass(f)


def one_pass(f: Sum) -> Cost:
    """Every component once"""
    return Cost(f.n or 0, f.n or 0)
