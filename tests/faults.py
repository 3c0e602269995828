"""A row matrix that goes wrong on command: returns NaN, raises or sleeps at a chosen call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

WARM_UP = 4  # calls that `solve` makes before its clock starts, and whose results it drops


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
