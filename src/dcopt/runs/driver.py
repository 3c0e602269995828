"""Drives an iterator of states: the clock, the trace, the checks, and why the run ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.engine import clock
from ..draw import Draw
from ..errors import OutOfData
from ..measures import MEASURES, sample_bound
from ..problem import Problem
from ..state import State
from ..status import Status
from ..sums import Look
from ..xp import Array, finite
from . import judge
from .goal import Goal
from .interrupts import Interrupts, Stopped
from .judge import Promise
from .ledger import End, Examined, Ledger
from .stop import Rule, Seconds
from .trace import Record, Trace

_SMALL = 2**22  # entries of A: there one step more costs nothing


class Driver:
    """One run. It is the `Progress` that stop rules see; all that decides is in `state` and `ledger`.

    P is the problem of which F and the measure are taken.
    """

    def __init__(
        self, P: Problem, goal: Goal, promise: Promise, seed: int, state: State, ledger: Ledger | None = None,
        records: Sequence[Record] = (),
    ) -> None:  # fmt: skip
        self.P, self.goal, self.promise, self.seed, self.state = P, goal, promise, seed, state
        self.ledger = Ledger((0, state.x)) if ledger is None else ledger
        self.trace = Trace(goal.measure, list(records))
        self.whole = True  # The state is the newest one: a step that failed may have written into its memory.
        self.tol_met: float | None = None
        self._seconds_before, self._seconds_of_step = self.ledger.seconds, 0.0  # The second one is 0 between steps.
        self._small = (self.P.n or math.inf) * state.x.size <= _SMALL

    # ---- what rules see

    @property
    def t(self) -> int:
        return self.state.t

    @property
    def samples(self) -> int:
        return self.state.spent.paper

    @property
    def passes(self) -> float:
        return float(self.samples) if self.P.n is None else self.state.spent.gradients / self.P.n

    @property
    def seconds(self) -> float:
        return self._seconds_before + self._seconds_of_step

    def written(self) -> Ledger:
        """The ledger as a checkpoint keeps it"""
        return replace(self.ledger, seconds=self._seconds_before)

    def meets(self, tol: float, settle: bool = False) -> bool:
        """Whether the measure is at most tol. It is checked here where that is due or free; else the answer is no.

        A check is counted and timed, and the ledger notes it: that is where stalling shows. `Tol` asks at every step.
        """
        free = self.memory() is not None
        if self.ledger.checked != self.t and (free or self.passes >= self.ledger.next_check):
            self._check(0 if free else self.P.sum.evaluation.n or 0)
        if self.ledger.checked != self.t or not self.examine().bound.bound <= tol:
            return False
        if settle and self._small and free and judge.still_falls(self.ledger, tol):
            return False
        self.tol_met = tol
        return True

    def memory(self) -> Look | None:
        """What the method has seen of x with all components in float64: then a check costs nothing."""
        seen = self.state.memory
        whole = isinstance(seen, Look) and seen.n == self.P.n and seen.x.dtype == np.float64
        return seen if whole else None

    def _check(self, cost: int) -> None:
        wait = judge.CHECK_EVERY * (1 if self.P.n is not None else cost)
        look, eps = self.examine(), float(np.finfo(self.P.dtype).eps)
        self._seconds_before += look.seconds
        self.ledger = judge.checked(self.ledger, look, cost, self.passes + wait, eps)

    # ---- points

    def examine(self) -> Examined:
        """F and the measure at the point of the state, once."""
        here = self.ledger.here
        if here is None or here.t != self.t:
            here = self.examined(self.t, self.state.x, self.memory())
            self.ledger = replace(self.ledger, here=here)
        return here

    def examined(self, t: int, x: Array, seen: Look | None = None) -> Examined:
        began = clock()
        point = self.P.examine(np.asarray(x, np.float64), seen)
        value = MEASURES[self.goal.measure](self.P, point)
        bound = sample_bound(self.P, self.goal.measure, point, value)
        look = Examined(t, x, point.F, value, clock() - began, bound)
        # What F = G − H may have lost to rounding where G is large and they cancel:
        lost = 0.0 if self.P.f is not None else 64 * float(np.finfo(np.float64).eps) * abs(self.P.G.value(x))
        self.ledger = judge.examined(self.ledger, look, self.promise, lost)
        return look

    def record(self) -> None:
        """A line of the trace, for the point of the state."""
        look, spent, every = self.examine(), self.state.spent, self.goal.every(self.P)
        every = self.passes if every == "doubling" else every
        self.ledger = replace(self.ledger, next_trace=math.inf if every is None else self.passes + every)
        if not self.trace.records or self.trace.records[-1].t != self.t:
            counts, nnz = (spent.gradients, spent.paper, self.passes), int(np.count_nonzero(look.x))
            self.trace.records.append(Record(self.t, self.seconds, *counts, look.F, look.measure, nnz))

    # ---- the drive

    def go(
        self,
        states: Iterator[State],
        rule: Rule,
        observers: Sequence[Callable[[State], Any]] = (),
        save: Callable[[Driver], Any] | None = None,
    ) -> End:
        """Step until a rule, an observer, a signal or trouble ends the run; `save` is called between two steps.

        Before every step: the trace, `save`, and `_over`. After it: trouble in the step, an observer, Ctrl-C; the first
        of them ends the run.
        """
        began = clock()

        def over() -> bool:
            """Whether the rule ends the run for its time. `Interrupts` asks in the middle of a step on a stream."""
            self._seconds_of_step = clock() - began
            try:
                return rule(self) is Status.TIME
            finally:
                self._seconds_of_step = 0.0

        with Interrupts(self.P.sum, over if rule.uses(Seconds) else None) as interrupts:
            while True:
                if self.passes >= self.ledger.next_trace:
                    self.record()
                if save is not None:
                    save(self)
                if (end := self._over(rule)) is not None:
                    return end
                began, self.whole = clock(), False
                end = self._step(states, began)
                asked = self._observed(observers) if self.whole else None  # They see a stalled step too.
                end = end or asked
                if end is not None:
                    return end
                if interrupts.asked:
                    return End(Status.INTERRUPTED, "Ctrl-C")

    def _over(self, rule: Rule) -> End | None:
        """Why no further step is made: the ledger says it, or else the rule.

        To answer, a rule may have x examined (`meets`), and this may write an end into the ledger, which goes before
        the answer. Before the first step of a search no rule is asked: x is critical, and `Tol` would end the run.
        """
        asks = self.ledger.end is None and not self.ledger.leap
        status = rule(self) if asks else None
        return self.ledger.end or (None if status is None else End(status))

    def _step(self, states: Iterator[State], began: float) -> End | None:
        """One step, and what is wrong with it. A state that is refused does not become the newest one."""
        try:
            state = next(states)
        except OutOfData as end:
            return End(Status.OUT_OF_DATA, str(end))
        except Stopped as end:
            return End(end.status, end.message)
        except (Exception, KeyboardInterrupt) as error:
            if error is not self.P.sum.broken:
                raise
            if isinstance(error, KeyboardInterrupt):
                return End(Status.INTERRUPTED, "Ctrl-C while waiting for the stream")
            return End(Status.INTERRUPTED, f"the stream raised {error!r}", error)
        finally:
            self._seconds_before += clock() - began
        if not finite(state.x):
            said = f"step {state.t} gave a number that is not finite{self.promise.blame}"
            return End(Status.DIVERGED, said)
        if state.residual is not None and not state.residual <= state.asked:
            said = f"residual {state.residual:.3g} > {state.asked:.3g} at step {state.t}"
            return End(Status.SUBPROBLEM, said)
        # The same array at no cost: all further steps would be the same, unless they see another sample.
        stuck = state.x is self.state.x and state.spent == self.state.spent and state.t > self.promise.sampled
        self.state, self.whole = state, True
        self.ledger = replace(self.ledger, leap=False)
        output = self.goal.output
        if output.startswith("uniform") and Draw(self.seed, state.t).keep() * state.t < 1.0:
            kept = (state.t, state.x) if output == "uniform" else (state.t - 1, state.prev)
            self.ledger = replace(self.ledger, kept=kept)
        return End(Status.STALLED, f"no step lowers F from step {state.t} on") if stuck else None

    def _observed(self, observers: Sequence[Callable[[State], Any]]) -> End | None:
        for observer in observers:
            try:
                if observer(self.state.frozen()):
                    return End(Status.INTERRUPTED, "an observer asked for it")
            except Exception as error:
                return End(Status.INTERRUPTED, f"an observer raised {error!r}", error)
        return None
