"""Threads that run compiled loops, and the partial sums that these make: no result depends on the number of threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import require


def threads() -> int:
    """How many threads may work: DCOPT_THREADS, or else one for each core of this process."""
    asked = os.environ.get("DCOPT_THREADS")
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = 0
    with suppress(ValueError):
        count = int(asked)
    require(count >= 1, "DCOPT_THREADS", asked, "a positive integer")
    return count


_ALONE: ContextVar[bool] = ContextVar("alone", default=False)


@contextmanager
def by_itself() -> Iterator[None]:
    """Inside, `each` starts no threads: for one of many jobs, which share the processors."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


@cache
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """The pool of this process, kept for the next pass. A fork would inherit a pool without threads."""
    return ThreadPoolExecutor(size, thread_name_prefix="dcopt")


def each(task: Callable[[int], None], count: int) -> None:
    """task(0), …, task(count − 1), in any order and side by side; the first exception ends it and is raised.

    The caller works too and waits only for what others have begun: it may be a helper itself, or one of many callers.
    """
    if count == 1:
        return task(0)
    left = deque(range(count))

    def work() -> None:
        try:
            while left:
                try:
                    k = left.popleft()
                except IndexError:  # Another thread has taken the task.
                    return
                task(k)
        except BaseException:
            left.clear()
            raise

    helpers: list[Future[None]] = []
    size = 0 if _ALONE.get() else threads() - 1
    try:
        with suppress(RuntimeError):  # If no thread can start, or the interpreter is ending, the caller does all tasks.
            for _ in range(min(size, count - 1)):
                helpers.append(_pool(os.getpid(), size).submit(_in_context(work)))
        work()
    finally:
        left.clear()
        helpers = [helper for helper in helpers if not helper.cancel()]
        wait(helpers)
    for helper in helpers:
        helper.result()


def _in_context(work: Callable[[], None]) -> Callable[[], Any]:
    """Run with the caller's context, which holds NumPy's settings for floating-point errors."""
    context = copy_context()
    return lambda: context.run(work)


_PARTS = 16  # The largest number of parts.
_SPARE = 2**23  # The largest number of float64 numbers in all partial sums together.


def parts_for(work: int, size: int) -> int:
    """The number of parts (a power of two) for this many additions, where each partial sum has `size` numbers.

    No part is small, and adding the partial sums costs little.
    """
    most = min(_PARTS, work // 2**16, work // (8 * max(size, 1)), _SPARE // max(size, 1))
    return 1 << max(most.bit_length() - 1, 0)


def cuts(indptr: NDArray[Any], parts: int) -> list[int]:
    """0 = r_0 ≤ … ≤ r_parts = N: rows r_k ≤ i < r_{k+1} with about as many stored entries for every k"""
    entries = np.arange(1, parts) * int(indptr[-1]) // parts
    rows = np.searchsorted(indptr, entries.astype(indptr.dtype))
    return [0, *rows.tolist(), indptr.size - 1]


def plain(a: NDArray[Any]) -> NDArray[Any]:
    """The array in row order and writable, the form for which the kernels of parts are compiled."""
    return a if a.flags.c_contiguous and a.flags.writeable else np.array(a, order="C")


def added(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_k parts_k, one after the other"""
    total: NDArray[np.float64] = parts[0].copy()  # A view would keep all parts in memory.
    for part in parts[1:]:
        total += part
    return total
