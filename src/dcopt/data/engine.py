"""Whether loops are compiled, and the time that takes, which is no run's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from . import forks as forks  # before anything is compiled

trouble = ""  # why they are not, known from the first one on: Numba costs a third of a second to import
alone = ""  # why they were compiled once more, for this process alone


class _Spent(threading.local):
    seconds = 0.0


_spent = _Spent()


def notes() -> tuple[str, ...]:
    """What a result should say of it."""
    said = (f"loops are not compiled, which is slow: {trouble}",) if trouble else ()
    return (*said, f"loops were compiled for this process alone: {alone}") if alone else said


def clock() -> float:
    """Seconds, as this thread counts them: without those off the clock."""
    return perf_counter() - _spent.seconds


@contextmanager
def off_the_clock() -> Iterator[None]:
    """Compile, or load what is compiled, in here."""
    began, before = perf_counter(), _spent.seconds
    try:
        yield
    finally:
        _spent.seconds = before + perf_counter() - began  # what was nested is part of it
