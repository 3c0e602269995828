"""One BLAS thread where more of them lose: on a busy machine they wait for each other longer than they work."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

_SYSTEM = 32  # rows of a matrix up to which the BLAS's solvers wake no other thread by themselves

# Multiplications of one product up to which OpenBLAS wakes no other thread by itself: 2¹⁸ for matrices, more for
# vectors (0.3.31). Setting the limit takes 20 µs, such a product less than that.
_ALONE = 2**18
# Multiplications of one product from which BLAS may take all of its threads: up to here one thread takes about 30 ms
# (float32; extrapolated) for a vector, 6 ms (float64) for a Gram matrix. Means in ms with one thread and with
# two, on two cores that others used as well, in float32 and float64:
#     2097 × 500, a vector         2²⁰     .14   21        .25   28
#     2097 × 500, ten vectors      2²³     .95   19        2.9   15
#     Gram matrix of 2048 × 100    2²⁴     .66  101        1.4  130
#     Gram matrix of 2048 × 300    2²⁷    5.2    49        9.4  125
#     Gram matrix of 2048 × 1000   2³¹     43   106         81  130
# By the least times of each, when others happened to be idle, two threads were at best 1.8 times faster.
_LONG = 2**28


def one_thread(size: int) -> AbstractContextManager[Any]:
    """For a system of so many rows: two threads on a busy machine took fifty times longer."""
    return _ONE if size > _SYSTEM else nullcontext()


def always_one_thread() -> AbstractContextManager[Any]:
    """For one of many jobs: they share the processors, and the bits of a job are the same however many there are."""
    return _ONE


def for_product(rows: int, columns: int, others: int = 1) -> AbstractContextManager[Any]:
    """For products of (rows × columns) with (columns × others), or of the transpose with (rows × others)."""
    return _ONE if _ALONE < rows * columns * others <= _LONG else nullcontext()


class _Own(threading.local):
    inside = 0  # blocks that this thread is in


class _OneThread:
    """The limit, which is the process's: whoever comes first sets it, and whoever leaves last takes it back.

    If everyone restored what they found, one of two that overlap would restore the other's limit.
    """

    def __init__(self) -> None:
        self._lock, self._own, self._inside = threading.Lock(), _Own(), 0
        self._before: Any = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._lock.acquire, after_in_parent=self._lock.release, after_in_child=self._in_child
            )

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                with _control():
                    self._before = _blas().limit(limits=1)
            self._inside += 1
            self._own.inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._own.inside -= 1
            self._leave(1)

    def _leave(self, times: int) -> None:
        self._inside -= times
        if times and self._inside == 0:
            with _control():
                self._before.restore_original_limits()

    def _in_child(self) -> None:
        """The other threads are not there, and will not leave."""
        self._leave(self._inside - self._own.inside)
        self._lock.release()


_ONE = _OneThread()


@contextmanager
def _control() -> Iterator[None]:
    """Here this thread may change the limit, and after it any other one may.

    From 3.8 on threadpoolctl lets only the thread that came first change it, and others do so without effect. That is
    to keep threads from undoing each other's limits, which the count of `_OneThread` does too.
    """
    import threadpoolctl

    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", lambda force: None)
    clear(force=True)
    yield
    clear(force=True)


@cache
def _blas() -> Any:
    import scipy.linalg.lapack  # noqa: F401  # its BLAS is a library of its own, which must be there to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
