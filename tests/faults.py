"""Things that go wrong on command: a row matrix that returns NaN, raises or sleeps, system calls that fail or die."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from dcopt.data.rows import Can
from dcopt.store.atomic import CALLS, Calls

WARM_UP = 0  # calls that `solve` makes before its clock starts: none for rows that compile nothing


class Fault(RuntimeError):
    """What a faulty row matrix raises."""


class Call(NamedTuple):
    """One product with rows of the matrix."""

    number: int
    verb: str  # "dot", "pair" or "tdot"
    rows: Any  # None: all of them


class FaultyRows:
    """`inner`, until `when(call)` is true (or, for a number, at that call): then `what` happens.

    "nan" spoils the first entry of the result, "raise" raises Fault, "sleep" calls `sleep(seconds)`. None only
    watches. `log` keeps every call, `hits` those that went wrong.
    """

    def __init__(
        self,
        inner: Any,
        what: Literal["nan", "raise", "sleep"] | None = None,
        when: int | Callable[[Call], bool] = lambda call: True,
        *,
        seconds: float = 0.0,
        sleep: Callable[[float], Any] = time.sleep,
    ) -> None:
        self.inner, self.what, self.seconds, self.sleep = inner, what, seconds, sleep
        self.when = (lambda call: call.number == when) if isinstance(when, int) else when
        self.log: list[Call] = []
        self.hits: list[Call] = []

    @property
    def shape(self) -> tuple[int, int]:
        return self.inner.shape

    @property
    def dtype(self) -> Any:
        return self.inner.dtype

    def dot(self, x: Any, rows: Any = None) -> Any:
        return self._call("dot", rows, lambda: self.inner.dot(x, rows))

    def pair(self, x: Any, prev: Any, rows: Any = None) -> Any:
        return self._call("pair", rows, lambda: self.inner.pair(x, prev, rows))

    def tdot(self, c: Any, rows: Any = None) -> Any:
        return self._call("tdot", rows, lambda: self.inner.tdot(c, rows))

    def take(self, rows: Any) -> Any:
        return self.inner.take(rows)

    def norms2(self) -> Any:
        return self.inner.norms2()

    def gram(self, weights: Any, columns: Any) -> Any:
        return self.inner.gram(weights, columns)

    def can(self) -> Can:
        return Can(pair=self.pair, gram=self.gram)

    def _call(self, verb: str, rows: Any, work: Callable[[], Any]) -> Any:
        call = Call(len(self.log), verb, rows)
        self.log.append(call)
        if self.what is None or not self.when(call):
            return work()
        self.hits.append(call)
        if self.what == "raise":
            raise Fault(f"call {call.number}: {verb}")
        if self.what == "sleep":
            self.sleep(self.seconds)
            return work()
        result = np.array(work())
        result.flat[0] = np.nan
        return result


class Crash(BaseException):
    """The process is gone: nothing is cleaned up after it."""


def faulty_calls(
    at: int | None, what: Literal["error", "short", "before", "after"] = "error"
) -> tuple[Calls, list[str]]:
    """The system calls of a save, of which number `at` goes wrong, and the log of their names.

    "error" raises OSError (a full disk), "short" writes half; "before" and "after" are the death of the process, before
    or after the call did its work: then every later call dies too.
    """
    log: list[str] = []
    dead: list[int] = []

    def wrap(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            if dead:
                raise Crash
            log.append(name)
            if len(log) - 1 != at:
                return real(*args, **more)
            if what == "short":
                return real(args[0], args[1][: max(1, len(args[1]) // 2)]) if name == "write" else real(*args, **more)
            if what == "error":
                raise OSError(errno.ENOSPC, "no space left", name)
            if what == "after":
                result = real(*args, **more)
                if name == "open":
                    os.close(result)  # the system closes what a dead process had open
            dead.append(1)
            raise Crash

        return call

    return Calls(**{name: wrap(name, real) for name, real in CALLS._asdict().items()}), log
