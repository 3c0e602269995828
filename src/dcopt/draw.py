"""Draws are a pure function of (seed, t): raw Philox words under our own mapping to coins and rows.

NumPy freezes the words of its bit generators but not the methods of `Generator`, so only words are taken from it.
Words come in blocks of 64 steps, because setting a counter costs more than filling a batch.
"""

from __future__ import annotations

import secrets
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import BadSettings

Sampling: TypeAlias = Literal["iid", "distinct", "cyclic", "importance"]
Rows: TypeAlias = Any  # int64 row numbers
SAMPLINGS = ("iid", "distinct", "cyclic")
_COIN, _ROWS, _KEEP, _STEP, _EACH, _UNIT_INTERVAL, _INNER = range(7)  # what a word is for, in Philox' key
_BLOCK, _LARGE = 64, 4096  # steps to a block; batches above _LARGE come one step at a time
_UNIT = 2.0**-53


def as_seed(seed: Any) -> int:
    """A seed in [0, 2⁶⁴); None draws one, which the Result reports."""
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= int(seed) < 2**64:
        raise BadSettings("seed", seed, "None or an integer in [0, 2**64)")
    return int(seed)


def _words(seed: int, purpose: int, place: int, count: int, b: int = 0, start: int = 0) -> NDArray[np.uint64]:
    """`count` raw words at a place of their own: no two purposes, places or sizes of a batch share a word."""
    key, counter = (np.array(part, np.uint64) for part in ([seed, purpose], [start, place, b, 0]))  # lists turn float
    philox = np.random.Philox(key=key, counter=counter)
    return np.asarray(philox.random_raw(count), dtype=np.uint64)


def _below(words: NDArray[np.uint64], n: int) -> Rows:
    """⌊u n⌋ with 53-bit u in [0, 1): the same on every machine; uneven by at most n 2⁻⁵³."""
    return np.minimum((words >> np.uint64(11)) * (n * _UNIT), n - 1).astype(np.int64)


@lru_cache(maxsize=64)
def _coins(seed: int, purpose: int, block: int) -> list[float]:
    coins: list[float] = ((_words(seed, purpose, block, _BLOCK) >> np.uint64(11)) * _UNIT).tolist()
    return coins


@lru_cache(maxsize=32)
def _iid(seed: int, block: int, n: int, b: int) -> Rows:
    return _below(_words(seed, _ROWS, block, _BLOCK * b, b), n).reshape(_BLOCK, b)


class Draw:
    """The randomness of step t: `coin()` in [0, 1) and `rows(n, b)`, both functions of (seed, t) alone."""

    __slots__ = ("seed", "t")

    def __init__(self, seed: int, t: int) -> None:
        self.seed, self.t = seed, t

    def coin(self) -> float:
        """A number uniform in [0, 1): PAGE refreshes when it is below p."""
        return _coins(self.seed, _COIN, self.t // _BLOCK)[self.t % _BLOCK]

    def keep(self) -> float:
        """A number uniform in [0, 1), for the uniformly random output; never the coin."""
        return _coins(self.seed, _KEEP, self.t // _BLOCK)[self.t % _BLOCK]

    def each(self, n: int, first: int = 0) -> NDArray[np.float64]:
        """A number uniform in [0, 1) for the rows from `first` to n: those below s are a sample, smaller s nested ones.

        Philox gives four words for each value of its counter, so that no earlier row is drawn.
        """
        skip = first % 4
        words = _words(self.seed, _EACH, self.t, n - first + skip, start=first // 4)[skip:]
        return np.asarray((words >> np.uint64(11)) * _UNIT, np.float64)

    def inner(self, k: int) -> int:
        """The seed of the k-th loop inside this step"""
        return int(_words(self.seed, _INNER, self.t, k + 1)[k])

    def numbers(self, b: int) -> NDArray[np.float64]:
        """b numbers uniform in [0, 1), for rows that are not equally likely."""
        return np.asarray((_words(self.seed, _UNIT_INTERVAL, self.t, b, b) >> np.uint64(11)) * _UNIT, np.float64)

    def rows(self, n: int, b: int, sampling: Sampling = "iid") -> Rows:
        """b of n rows: independent, distinct (without replacement), or the next ones in order."""
        if sampling == "importance":
            raise BadSettings("sampling", sampling, 'one of iid, distinct, cyclic: "importance" needs a linear model')
        if sampling == "iid":
            if b <= _LARGE:
                return _iid(self.seed, self.t // _BLOCK, n, b)[self.t % _BLOCK].copy()  # the block stays ours
            return _below(_words(self.seed, _STEP, self.t, b, b), n)
        if sampling == "cyclic":
            return (np.arange(b, dtype=np.int64) + self.t * b) % n
        if 2 * b > n:  # order all rows by a random word each
            return np.argsort(_words(self.seed, _STEP, self.t, n, b), kind="stable")[:b]
        count = b + 8
        while True:  # the first b distinct values of the sequence of independent rows
            rows = _below(_words(self.seed, _STEP, self.t, count, b), n)
            first = np.sort(np.unique(rows, return_index=True)[1])
            if len(first) >= b:
                return rows[first[:b]]
            count *= 2


def uniform_index(seed: int, steps: int) -> int:
    """The index in {1, …, steps} of the uniformly random output of a run with this seed, known beforehand.

    It is the last t ≤ steps with keep(t) < 1/t (reservoir sampling): uniform for every number of steps, so that
    the run holds one candidate only and may also stop early.
    """
    return next(t for t in range(steps, 0, -1) if Draw(seed, t).keep() * t < 1.0)
