"""What looks at a run, and cannot change its numbers: the trace, and who presses Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
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


class Interrupts:
    """The first Ctrl-C is noted and served between two steps; the second, or one that a stream waits with, raises."""

    def __init__(self, sum: Sum) -> None:
        self.sum, self.asked = sum, False
        self._mine = False

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._mine = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if self._mine:
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, signum: int, frame: Any) -> None:
        if self.asked or getattr(self.sum, "waiting", False):
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *exc: object) -> None:
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
