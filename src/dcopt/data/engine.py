"""Whether loops are compiled. The time of compilation is not counted as time of a run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

trouble = ""  # why they are not, known from the first one on: Numba costs a third of a second to import
alone = ""  # why they were compiled once more, for this process alone


class _Spent(threading.local):
    seconds = 0.0


_spent = _Spent()


def notes() -> tuple[str, ...]:
    """The notes about compilation that a result should carry."""
    said = (f"loops are not compiled, which is slow: {trouble}",) if trouble else ()
    return (*said, f"loops were compiled for this process alone: {alone}") if alone else said


def clock() -> float:
    """The seconds of this thread, without those spent inside `off_the_clock`."""
    return perf_counter() - _spent.seconds


@contextmanager
def off_the_clock() -> Iterator[None]:
    """Code that compiles, or loads compiled code, runs inside this context."""
    began, before = perf_counter(), _spent.seconds
    try:
        yield
    finally:
        # The time of a nested context is part of the time of this one.
        _spent.seconds = before + perf_counter() - began
