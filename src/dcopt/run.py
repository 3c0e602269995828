"""One run: the clock, the trace, the checks and the truth about how it ended."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .draw import Draw
from .measures import Measure
from .problem import Point, Problem
from .state import Certificate, Result, Spent, State
from .status import Status
from .stop import Rule
from .watch import Record, Trace
from .xp import Array

_CHECK_EVERY = 5.0  # passes between two checks of the measure: they cost at most a fifth of the method
_STALL_CHECKS = 10  # checks in a row without progress
_RISE = 0.1  # F may exceed F(x0) by this share before a stochastic run is called diverged


class End(NamedTuple):
    """Why the loop was left."""

    status: Status
    message: str = ""
    error: BaseException | None = None


class Look(NamedTuple):
    """A point examined with all components, in float64."""

    t: int
    x: Array
    F: float
    measure: float
    seconds: float


class Run:
    """Drives an iterator of states; is the `Progress` that stop rules see."""

    def __init__(
        self,
        P: Problem,
        tuned: Problem,
        state: State,
        measure: Measure,
        measure_name: str,
        trace_every: float | None,
        output: str,
        seed: int,
        exact: bool,
    ) -> None:
        self.P, self.tuned, self.state, self.measure = P, tuned, state, measure
        self.trace = Trace(measure_name)
        self.every, self.output, self.seed, self.exact = trace_every, output, seed, exact
        self.t, self.passes, self.seconds = 0, 0.0, 0.0
        self.checks = 0
        self.tol_met: float | None = None
        self._next_check, self._next_trace = 0.0, 0.0
        self._look: Look | None = None
        self._best: Look | None = None
        self._first: Look | None = None
        self._kept = (0, state.x)  # the uniformly random output so far
        self._level, self._idle = math.inf, 0  # best measure seen by a check, checks since it or F improved
        self._end: End | None = None

    # ---- what rules see

    def meets(self, tol: float) -> bool:
        """A check of the measure if one is due: counted, timed, and the place where stalling shows."""
        if self.passes < self._next_check:
            return False
        self._next_check = self.passes + _CHECK_EVERY
        best = self._best
        look = self.look()
        self.checks += self.P.n or 0
        self.seconds += look.seconds
        if look.measure <= tol:
            self.tol_met = tol
            return True
        progress = 4 * np.finfo(self.P.dtype).eps * abs(look.F)
        moved = best is None or look.F < best.F - progress or look.measure < 0.99 * self._level
        self._idle = 0 if moved else self._idle + 1
        self._level = min(self._level, look.measure)
        if self._idle >= _STALL_CHECKS:
            self._end = End(Status.STALLED, f"{_STALL_CHECKS} checks without progress; attained {self._level:.3g}")
        return False

    # ---- the drive

    def go(self, states: Iterator[State], rule: Rule, observers: Sequence[Callable[[State], Any]]) -> End:
        """Step until a rule, an observer, a signal or trouble ends the run."""
        with _Interrupts() as interrupts:
            self._record()
            while True:
                status = rule(self) if self._end is None else None
                if self._end is not None:
                    return self._end
                if status is not None:
                    return End(status)
                began = perf_counter()
                state = next(states)
                self.seconds += perf_counter() - began
                if not _finite(state.x):
                    return End(Status.DIVERGED, f"step {state.t} gave a number that is not finite{self._blame()}")
                if not state.residual <= self.tuned.inner_tol:
                    said = f"residual {state.residual:.3g} > {self.tuned.inner_tol:.3g} at step {state.t}"
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
                if self.passes >= self._next_trace:
                    self._record()

    def _accept(self, state: State) -> None:
        self.state, self.t = state, state.t
        self.passes = state.spent.gradients / (self.P.n or 1)
        if self.output == "uniform" and Draw(self.seed, state.t).keep() * state.t < 1.0:
            self._kept = (state.t, state.x)

    def look(self, t: int | None = None, x: Array | None = None) -> Look:
        """F and the measure at the current (or a given) point, once."""
        t, x = (self.state.t, self.state.x) if t is None else (t, x)
        if self._look is not None and self._look.t == t:
            return self._look
        began = perf_counter()
        at: Point = self.P.examine(np.asarray(x, np.float64))
        self._look = Look(t, x, at.F, self.measure(self.P, at), perf_counter() - began)
        self._judge(self._look)
        return self._look

    def _judge(self, look: Look) -> None:
        """Descent is the promise of the method: exact steps may not raise F, stochastic ones not for long."""
        self._first = self._first or look
        before = self._best if self.exact else self._first
        if not math.isfinite(look.F):
            self._end = End(Status.DIVERGED, f"F is {look.F} at step {look.t}{self._blame()}")
        elif before is not None:
            room = 1e-9 if self.exact else _RISE
            if look.F > before.F + room * max(abs(before.F), 1e-3):
                rise = f"F rose from {before.F:.6g} to {look.F:.6g} at step {look.t}"
                self._end = End(Status.DIVERGED, rise + self._blame())
        if self._best is None or look.F < self._best.F:
            self._best = look

    def _blame(self) -> str:
        kappa = getattr(self.tuned.G, "kappa", None)
        return "" if kappa is None else f": kappa = {kappa:.3g} may be below the curvature of f"

    def _record(self) -> None:
        look, spent = self.look(), self.state.spent
        self._next_trace = math.inf if self.every is None else self.passes + self.every
        line = Record(
            self.t, self.seconds, spent.gradients, spent.paper, self.passes, look.F, look.measure, _nnz(look.x)
        )
        if not self.trace.records or self.trace.records[-1].t != self.t:
            self.trace.records.append(line)

    # ---- the end

    def result(self, end: End, method: str, tol: float | None, loose_tol: float | None) -> Result:
        """The certificate of the returned x, and a status that is true of it."""
        status = end.status
        self._record()
        status = self._end.status if self._end is not None and not status.success else status
        message = end.message or (self._end.message if self._end is not None else "") or status.value
        look = self.look()
        if status is not Status.CONVERGED:
            if self.output == "best" and self._best is not None:
                look = self._best
            elif self.output == "uniform":
                look = self.look(*self._kept)
        self.checks += self.P.n or 0
        tol = self.tol_met if status is Status.CONVERGED else tol
        good = tol is not None and look.measure <= tol
        if status in (Status.BUDGET, Status.TIME, Status.STALLED, Status.CONVERGED):
            if good:
                status = Status.CONVERGED
                message = status.value
            elif loose_tol is not None and look.measure <= loose_tol:
                status, message = Status.ACCEPTABLE, f"{message}; the measure is at most {loose_tol:.3g}"
        certificate = Certificate(self.trace.measure, look.measure, tol, "full", look.t, look.F, _nnz(look.x))
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
        )


def _finite(x: Array) -> bool:
    """One product tells in almost all cases; only an overflow needs a closer look."""
    flat = x.ravel()
    return math.isfinite(float(flat.dot(flat))) or bool(np.isfinite(x).all())


def _nnz(x: Array) -> int:
    return int(np.count_nonzero(x))


class _Interrupts:
    """The first Ctrl-C is noted and served between two steps; the second raises at once."""

    def __init__(self) -> None:
        self.asked = False
        self._mine = False

    def __enter__(self) -> _Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._mine = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if self._mine:
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, signum: int, frame: Any) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *exc: object) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
