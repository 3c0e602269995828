"""What looks at a run, and cannot change its numbers: the trace, and who presses Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .sums import Sum


class Record(NamedTuple):
    """One line of a trace."""

    t: int
    seconds: float  # of the method alone: without tracing and observers
    gradients: int  # honest count
    paper: int  # the paper's count
    passes: float  # gradients / N; a stream: samples
    F: float
    measure: float
    nnz: int


@dataclass
class Trace:
    """What was seen on the way: a list of Records, with columns by name (`trace["F"]`)."""

    measure: str = "gap"
    records: list[Record] = field(default_factory=list)

    def __getitem__(self, column: str) -> list[float]:
        return [getattr(r, column) for r in self.records]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def columns(self) -> dict[str, list[float]]:
        """The trace as a table: pandas.DataFrame(trace.columns())."""
        return {name: self[name] for name in Record._fields}


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


class Interrupts:
    """The first Ctrl-C is noted and served between two steps; the second, or one that a stream waits with, raises.

    A program may install handlers of its own that are served between two steps (`Held`).
    """

    def __init__(self, sum: Sum) -> None:
        self.sum, self._noted = sum, False
        self._mine = False
        self._held: list[Held] = []

    @property
    def asked(self) -> bool:
        """Whether the run is to end."""
        return self._noted or any(handler.asked for handler in self._held)

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
            self._held = [handler for handler in handlers if isinstance(handler, Held)]
            for handler in self._held:
                handler.runs += 1
            self._mine = handlers[0] is signal.default_int_handler
            if self._mine:
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, signum: int, frame: Any) -> None:
        if self._noted or getattr(self.sum, "waiting", False):
            raise KeyboardInterrupt
        self._noted = True

    def __exit__(self, *exc: object) -> None:
        for handler in self._held:
            handler.runs -= 1
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
