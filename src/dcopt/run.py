"""One run: the clock, the trace, the checks and the truth about how it ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from .data import engine
from .data.engine import clock
from .draw import Draw
from .errors import OutOfData
from .measures import Measure
from .measures.confidence import CONFIDENCE, Doubt, doubt
from .problem import Point, Problem
from .state import Certificate, Result, Spent, State
from .status import Status
from .stop import Progress, Rule, Seconds
from .streams import StreamSum
from .subproblems.local import LEAST
from .watch import Interrupts, Record, Stopped, Trace
from .xp import Array

_FAST = 10.0  # a measure that falls by this factor from one step to the next is still falling
_FINE = 1e-4  # of the tolerance: nothing is gained beyond
_SMALL = 2**22  # entries of A: there such steps cost nothing
_CHECK_EVERY = 5.0  # passes between two checks of the measure: they cost at most a fifth of the method
_STALL_CHECKS = 10  # checks in a row without progress
_RISE = 0.1  # F may exceed F(x0) by this share before a stochastic run is called diverged
_NOISE = 10.0  # the same on a stream, whose floor of noise may lie above F(x0)


class End(NamedTuple):
    """Why the loop was left."""

    status: Status
    message: str = ""
    error: BaseException | None = None


class Search(NamedTuple):
    """How a run goes on that has converged: until a step finds no lower point."""

    states: Callable[[State], Iterator[State]]  # the first of them looks for one
    room: Callable[[Progress], bool]  # whether the budgets allow for another end


class Look(NamedTuple):
    """A point examined with all components, in float64."""

    t: int
    x: Array
    F: float
    measure: float
    seconds: float
    doubt: Doubt  # how large the measure may be: itself, or more on a sample


@dataclass(frozen=True)
class Saved:
    """What a run knows beside its State, between two steps: with both, another one goes on as it would have."""

    seconds: float
    checks: int
    next_check: float
    next_trace: float
    looks: tuple[Look | None, Look | None, Look | None]  # the first, the best, and the one at the state
    kept: tuple[int, Array]
    level: float
    mark: tuple[float, float]
    idle: int
    checked: int
    end: End | None
    records: tuple[Record, ...]
    last_two: tuple[float, float] = (math.inf, math.inf)
    known: bool = False  # the method has looked at the point of the state with all components
    sought: tuple[float, float, int] = (math.inf, math.inf, 0)
    certified: Look | None = None  # the critical point where the last search began


class Run:
    """Drives an iterator of states; is the `Progress` that stop rules see."""

    def __init__(
        self,
        P: Problem,
        tuned: Problem,
        state: State,
        measure: Measure,
        measure_name: str,
        trace_every: float | Literal["doubling"] | None,
        output: str,
        seed: int,
        exact: bool,
        looks: bool = False,
    ) -> None:
        self.P, self.tuned, self.state, self.measure = P, tuned, state, measure
        self.trace = Trace(measure_name)
        self.every, self.output, self.seed, self.exact = trace_every, output, seed, exact
        self.looks = looks  # the method remembers F and the gradient at its points
        self.sampled = 0  # steps that descend on a sample: F on all rows may rise meanwhile
        self.seconds = 0.0
        self.checks = 0
        self.tol_met: float | None = None
        self._next_check, self._next_trace = 0.0, 0.0
        self._look: Look | None = None
        self._best: Look | None = None
        self._first: Look | None = None
        self._kept = (0, state.x)  # the uniformly random output so far
        self._level = math.inf  # best measure seen by a check
        self._mark, self._idle = (math.inf, math.inf), 0  # F and measure at the last progress, checks since
        self._checked = -1  # the step of the last check
        self._last_two = (math.inf, math.inf)  # the measure at the last checks
        self._sought = math.inf, math.inf, 0  # F where the first and the last search for a lower point began, searches
        self._search: Search | None = None
        self._due = False  # a search begins here
        self._end: End | None = None
        self._certified: Look | None = None  # the critical point where the last search began
        self._small = (P.n or math.inf) * state.x.size <= _SMALL
        self.whole = True  # the state is the newest one: a step that failed may have written into its memory
        self._count(state)

    def saved(self) -> Saved:
        """For a checkpoint; the arrays are not copied."""
        here = self._look if self._look is not None and self._look.t == self.t else None
        return Saved(
            self.seconds, self.checks, self._next_check, self._next_trace, (self._first, self._best, here), self._kept,
            self._level, self._mark, self._idle, self._checked, self._end, tuple(self.trace.records),
            self._last_two, self._known(), self._sought, self._certified,
        )  # fmt: skip

    def restore(self, saved: Saved) -> None:
        """Go on from where another run was saved; `state` is that run's."""
        self._count(self.state)
        self.seconds, self.checks = saved.seconds, saved.checks
        self._next_check, self._next_trace = saved.next_check, saved.next_trace
        self._first, self._best, self._look = saved.looks
        self._kept, self._level, self._mark, self._idle = saved.kept, saved.level, saved.mark, saved.idle
        self._checked, self._end, self._last_two = saved.checked, saved.end, saved.last_two
        self._sought, self._certified = saved.sought, saved.certified
        if saved.known:
            self.P.f.recent.at(self.state.x)  # type: ignore[union-attr]  # as it was
        self.trace.records[:] = saved.records

    # ---- what rules see

    def meets(self, tol: float, settle: bool = False) -> bool:
        """A check of the measure if one is due: counted, timed, and the place where stalling shows."""
        if self._checked != self.t and ((known := self._known()) or self.passes >= self._next_check):
            self._check(0 if known else self.P.known.n or 0)
        if self._checked == self.t and self.look().doubt.bound <= tol:
            before, now = self._last_two
            if settle and self._small and self._known() and before > _FAST * now and now > _FINE * tol:
                return False  # Newton's method is near its end: one step more squares what is left
            if self._is_lower():
                self._due, self._certified = True, self.look()
                return False
            self.tol_met = tol
            return True
        return False

    def _known(self) -> bool:
        """Whether the method has looked at x with all components, in float64: then a check costs nothing."""
        x = self.state.x
        return self.looks and x.dtype == np.float64 and self.P.f.recent.knows(x) is not None  # type: ignore[union-attr]

    def _check(self, size: int) -> None:
        self._next_check = self.passes + _CHECK_EVERY * (1 if self.P.n is not None else size)
        self._checked = self.t
        look = self.look()
        self.checks += size
        self.seconds += look.seconds
        self._level = min(self._level, look.measure)
        self._last_two = self._last_two[1], look.measure
        F, measure = self._mark
        rounding = 4 * np.finfo(self.P.dtype).eps * abs(look.F)
        if look.F < F - rounding or look.measure < 0.99 * measure:
            self._mark, self._idle = (min(F, look.F), min(measure, look.measure)), 0
        else:
            self._idle += 1
        if self._idle >= _STALL_CHECKS and self._end is None:
            self._end = End(Status.STALLED, f"{_STALL_CHECKS} checks without progress; attained {self._level:.3g}")

    # ---- the drive

    def go(
        self,
        states: Iterator[State],
        rule: Rule,
        observers: Sequence[Callable[[State], Any]],
        save: Callable[[Run], Any] | None = None,
        search: Search | None = None,
    ) -> End:
        """Step until a rule, an observer, a signal or trouble ends the run; `save` is called between two steps."""
        self._search = search
        began = clock()

        def over() -> bool:
            """Whether the rule ends the run for the time that this step has taken so far."""
            before, self.seconds = self.seconds, self.seconds + clock() - began
            try:
                return rule(self) is Status.TIME
            finally:
                self.seconds = before

        with Interrupts(self.P.sum, over if rule.uses(Seconds) else None) as interrupts:
            while True:
                if self.passes >= self._next_trace:
                    self._record()
                if save is not None:
                    save(self)
                status = rule(self) if self._end is None else None
                if self._end is not None:
                    return self._end
                if status is not None:
                    return End(status)
                if search is not None and self._due:
                    (first, _, times), F = self._sought, self.look().F
                    self._sought = F if times == 0 else first, F, times + 1
                    states, self._due = search.states(self.state), False
                began, self.whole = clock(), False
                try:
                    state = next(states)
                except OutOfData as end:
                    return End(Status.OUT_OF_DATA, str(end))
                except Stopped as end:
                    return End(end.status, end.message)
                except (Exception, KeyboardInterrupt) as error:
                    if error is not getattr(self.P.sum, "broken", None):
                        raise
                    if isinstance(error, KeyboardInterrupt):
                        return End(Status.INTERRUPTED, "Ctrl-C while waiting for the stream")
                    return End(Status.INTERRUPTED, f"the stream raised {error!r}", error)
                finally:
                    self.seconds += clock() - began
                if not _finite(state.x):
                    return End(Status.DIVERGED, f"step {state.t} gave a number that is not finite{self._blame()}")
                if not state.residual <= state.asked:
                    said = f"residual {state.residual:.3g} > {state.asked:.3g} at step {state.t}"
                    return End(Status.SUBPROBLEM, said)
                self._accept(state)
                for observer in observers:
                    try:
                        if observer(state.frozen()):
                            return End(Status.INTERRUPTED, "an observer asked for it")
                    except Exception as error:
                        return End(Status.INTERRUPTED, f"an observer raised {error!r}", error)
                if interrupts.asked:
                    return End(Status.INTERRUPTED, "Ctrl-C")

    def _is_lower(self) -> bool:
        """Whether to search from this critical point: F is lower than where the last search began."""
        if self._search is None or self.t < self.sampled:
            return False
        F = self.look().F
        return F < self._sought[1] - LEAST * abs(F) and self._search.room(self)

    def sought(self) -> str:
        """A note on the searches."""
        (first, last, times), F = self._sought, self.look().F
        left = times - 1 + int(F < last - LEAST * abs(F))
        if left < 1 or times == 0:
            return "it may leave critical points for lower ones (search=False does not)"
        those = "a critical point" if left == 1 else f"{left} critical points"
        return f"it left {those} for lower ones: F fell from {first:.6g} to {F:.6g} (search=False does not)"

    def _count(self, state: State) -> None:
        self.state, self.t, self.whole = state, state.t, True
        self.samples = state.spent.paper
        self.passes = float(self.samples) if self.P.n is None else state.spent.gradients / self.P.n

    def _accept(self, state: State) -> None:
        self._count(state)
        if self.output.startswith("uniform") and Draw(self.seed, state.t).keep() * state.t < 1.0:
            self._kept = (state.t, state.x) if self.output == "uniform" else (state.t - 1, state.prev)

    def look(self, t: int | None = None, x: Array | None = None) -> Look:
        """F and the measure at the current (or a given) point, once."""
        t, x = (self.state.t, self.state.x) if t is None else (t, x)
        if self._look is not None and self._look.t == t:
            return self._look
        began = clock()
        at: Point = self.P.examine(np.asarray(x, np.float64), self.looks)
        measure = self.measure(self.P, at)
        may_be = doubt(self.P, self.trace.measure, at, measure)
        self._look = Look(t, x, at.F, measure, clock() - began, may_be)
        self._judge(self._look)
        return self._look

    def _judge(self, look: Look) -> None:
        """Descent is the promise of the method: exact steps may not raise F, stochastic ones not for long."""
        if look.t >= self.sampled:
            self._first = self._first or look
        before = self._best if self.exact else self._first
        if not math.isfinite(look.F) or math.isnan(look.measure):
            said = f"F is {look.F}, the {self.trace.measure} {look.measure} at step {look.t}"
            self._end = End(Status.DIVERGED, said + self._blame())
        elif before is not None and look.t >= before.t:  # an older point, kept as the output, may well be higher
            certified = self.P.n is not None and self.state.asked < math.inf
            room = _RISE if certified else _NOISE
            if self.exact:
                room = max(1e-9, 32 * float(np.finfo(self.P.dtype).eps))
            most = before.F + room * max(abs(before.F), 1e-3)
            if look.F > most and look.F > most + self._lost(look.x):
                rise = f"F rose from {before.F:.6g} to {look.F:.6g} at step {look.t}"
                self._end = End(Status.DIVERGED, rise + self._blame())
        if self._best is None or look.F < self._best.F:
            self._best = look

    def _lost(self, x: Array) -> float:
        """What F = G − H may have lost to rounding where G is large and they cancel."""
        return 0.0 if self.P.f is not None else 64 * float(np.finfo(np.float64).eps) * abs(self.P.G.value(x))

    def _blame(self) -> str:
        kappa = getattr(self.tuned.G, "kappa", None)
        return "" if kappa is None else f": kappa = {kappa:.3g} may be below the curvature of f"

    def _record(self) -> None:
        look, spent = self.look(), self.state.spent
        every = self.passes if self.every == "doubling" else self.every
        self._next_trace = math.inf if every is None else self.passes + every
        line = Record(
            self.t, self.seconds, spent.gradients, spent.paper, self.passes, look.F, look.measure, _nnz(look.x)
        )
        if not self.trace.records or self.trace.records[-1].t != self.t:
            self.trace.records.append(line)

    # ---- the end

    def result(
        self, end: End, method: str, tol: float | None, loose_tol: float | None, scale: float | None = None
    ) -> Result:
        """The certificate of the returned x, and a status that is true of it."""
        self._record()
        if self.looks:
            self._look, self.looks = None, False  # what is certified is computed afresh
        look = self.look()
        if end.status is not Status.CONVERGED:
            diverged = end.status is Status.DIVERGED or (self._end is not None and self._end.status is Status.DIVERGED)
            certified = self._certified  # A search goes on from critical points, and may end between two of them.
            if certified is not None and not (tol is not None and look.doubt.bound <= tol):
                look = self.look(certified.t, certified.x)
            elif (self.output == "best" or diverged) and self._best is not None:
                look = self._best
            elif self.output.startswith("uniform"):
                look = self.look(*self._kept)
        if self._end is not None and end.status not in (Status.CONVERGED, Status.DIVERGED) and end.error is None:
            end = self._end  # found when the last points were looked at
        status, message = end.status, end.message or end.status.value
        self.checks += self.P.known.n or 0
        tol = self.tol_met if status is Status.CONVERGED or tol is None else tol  # of a rule that asked for more too
        bound, stream = look.doubt.bound, self.P.n is None
        if status in (Status.BUDGET, Status.TIME, Status.STALLED, Status.OUT_OF_DATA) or status.success:
            if tol is not None and bound <= tol:
                status = Status.ACCEPTABLE if stream else Status.CONVERGED  # a sample is no full gradient
                message = status.value
            elif loose_tol is not None and bound <= loose_tol:
                status, message = Status.ACCEPTABLE, f"{message}; the measure is at most {loose_tol:.3g}"
            elif status.success:  # a rule of the caller's own: only a certificate makes it true
                said = f"a rule said {status.name}; no tolerance is met"
                status, message = Status.INTERRUPTED, said
        sample: tuple[float | None, float | None, float | None] = None, None, None
        if stream:
            sample = bound, CONFIDENCE, look.doubt.spread
        at = str(self.P.known.n) if stream else "full"
        certificate = Certificate(
            self.trace.measure, look.measure, tol, at, look.t, look.F, _nnz(look.x), *sample, scale, self.P.r.certifies
        )
        spent = Spent(self.state.spent.gradients, self.state.spent.paper, self.checks)
        return Result(
            np.array(look.x),
            status,
            certificate,
            self.trace,
            spent,
            self.seed,
            method,
            self.t,
            self.seconds,
            message,
            self.state,
            end.error,
            (*(self.P.sum.notes() if isinstance(self.P.sum, StreamSum) else ()), *engine.notes()),
        )


def _finite(x: Array) -> bool:
    """One product tells in almost all cases; only an overflow needs a closer look."""
    flat = x.ravel()
    return math.isfinite(float(flat.dot(flat))) or bool(np.isfinite(x).all())


def _nnz(x: Array) -> int:
    return int(np.count_nonzero(x))
