"""Ctrl-C, SIGTERM and the time limit: noted during a step, and served between two of them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

from ..data.stream import nothing
from ..status import Status
from ..sums import Sum

_TICK = 0.05  # seconds between two looks at the time limit while a source keeps a run waiting


class Held:
    """The handler of a signal with which a program is to end in order, as SIGTERM on the command line.

    During a run the signal is noted, and the run ends after the step at hand. Otherwise, and at the second signal, the
    handler raises. Where compiled code calls Python, what it raises is lost: then the next run ends after one step.
    """

    def __init__(self, error: Callable[[], BaseException]) -> None:
        self.error, self.asked, self.runs = error, False, 0

    def __call__(self, signum: int, frame: Any) -> None:
        again, self.asked = self.asked, True
        if again or not self.runs:
            raise self.error()


class Stopped(BaseException):
    """Raised where a stream waits for its source, and between two of its blocks: the run ends with this status."""

    def __init__(self, status: Status, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


class Interrupts:
    """The first Ctrl-C is noted and served between two steps; the second, or one that a stream waits with, raises.

    A run inside of another (a callback that solves) ends both. A step on a stream may wait for ever: there Ctrl-C and
    the time limit (`over` says whether it is reached) are served between two blocks, and in the main thread inside the
    source too. A program may install handlers of its own that are served between two steps (`Held`).
    """

    def __init__(self, sum: Sum, over: Callable[[], bool] | None = None) -> None:
        self.sum, self.over, self._noted = sum, over, False
        self._held: list[Held] = []
        self._before: Any = None  # the handler of SIGINT, where it is replaced
        self._ticks = False

    @property
    def asked(self) -> bool:
        """Whether the run is to end."""
        return self._noted or any(handler.asked for handler in self._held)

    def __enter__(self) -> Interrupts:
        stream = self.sum.source
        if threading.current_thread() is threading.main_thread():
            handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
            self._held = [handler for handler in handlers if isinstance(handler, Held)]
            for held in self._held:
                held.runs += 1
            handler = handlers[0]
            if handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Interrupts):
                self._before = handler
                signal.signal(signal.SIGINT, self._note)
            self._ticks = stream is not None and self.over is not None and _alarm_is_free()
            if self._ticks:
                signal.signal(signal.SIGALRM, self._tick)
                signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        if stream is not None:
            stream.between = self._between
        return self

    def _note(self, signum: int, frame: Any) -> None:
        if self._noted or self._waiting:
            raise KeyboardInterrupt
        self._noted = True
        if isinstance(outer := getattr(self._before, "__self__", None), Interrupts):
            outer._noted = True

    def _tick(self, signum: int, frame: Any) -> None:
        if self._waiting:
            self._in_time()

    def _between(self) -> None:
        if self.asked:
            raise Stopped(Status.INTERRUPTED, "Ctrl-C")
        self._in_time()

    def _in_time(self) -> None:
        if self.over is not None and self.over():
            raise Stopped(Status.TIME, "the time was up while waiting for the stream")

    @property
    def _waiting(self) -> bool:
        """Whether the caller's source is at work: a run interrupted now need not wait for it."""
        return self.sum.source is not None and self.sum.source.waiting

    def __exit__(self, *exc: object) -> None:
        for held in self._held:
            held.runs -= 1
        if self._ticks:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        if self.sum.source is not None:
            self.sum.source.between = nothing
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _alarm_is_free() -> bool:
    """Whether this system has timers, and the caller uses none."""
    if not hasattr(signal, "setitimer"):  # Windows
        return False
    return signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
