"""The rows of coming steps, fetched in one round trip: draws are a function of (seed, t), so that they are known.

A block holds the rows of some steps in a row as a small sum; the next block travels while a block is used. What is
computed of a batch is what is computed where its rows are brought together for one step: the bits do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..draw import Draw
from .batch import LinearBatch
from .gathered import NearBatch, taken, together
from .linear import LinearSum

if TYPE_CHECKING:
    from .parts import PartsSum

FIRST = 8  # The steps of a first block; later blocks are twice as long each, up to what the homes say.
MOST_ROWS = 2**16  # of a block

Drawn = Callable[[int, Draw], NDArray[np.int64]]


class _Asked(NamedTuple):
    """What the rows of a block follow from, and its steps"""

    seed: int
    b: int
    sampling: str
    first: int
    steps: int

    def has(self, seed: int, b: int, sampling: str, t: int) -> bool:
        return (seed, b, sampling) == self[:3] and self.first <= t < self.first + self.steps


class _Block(NamedTuple):
    """The rows of some steps: each once, in increasing order, and the sum over them"""

    asked: _Asked
    numbers: NDArray[np.int64]
    sum: LinearSum | None  # None: it cannot be made of the storage of the parts


class Ahead:
    """The blocks of a sum: the one in use, and the one that travels.

    It is a cache: which rows it holds changes the time of a run and none of its numbers.
    """

    def __init__(self, f: PartsSum, steps: int) -> None:
        self._f, self._steps = f, steps
        self._here: _Block | None = None
        self._coming: tuple[_Asked, NDArray[np.int64], Callable[[], list[Any]]] | None = None

    def batch(self, b: int, draw: Draw, sampling: str, drawn: Drawn) -> NearBatch | None:
        """The batch of a step; None where it is so large that it is fetched alone."""
        most = min(self._steps, MOST_ROWS // max(b, 1))
        if most < 2:
            return None
        wanted = draw.seed, b, sampling, draw.t
        if self._here is None or not self._here.asked.has(*wanted):
            self._here = self._arrived(_Asked(draw.seed, b, sampling, draw.t, min(FIRST, most)), wanted, drawn)
            asked = self._here.asked
            follows = asked._replace(first=asked.first + asked.steps, steps=min(2 * asked.steps, most))
            self._coming = (follows, *self._sent(follows, drawn))
        rows = drawn(b, draw)
        if self._here.sum is None:
            return None
        return NearBatch(LinearBatch(self._here.sum, np.searchsorted(self._here.numbers, rows), b), rows, b)

    def _arrived(self, asked: _Asked, wanted: tuple[int, int, str, int], drawn: Drawn) -> _Block:
        """The block that travels, if it is the one that is wanted; else one that is sent for now"""
        coming, self._coming = self._coming, None
        if coming is None or not coming[0].has(*wanted):
            coming = (asked, *self._sent(asked, drawn))
        asked, numbers, answer = coming
        return _Block(asked, numbers, together([part for part in answer() if part is not None]))

    def _sent(self, asked: _Asked, drawn: Drawn) -> tuple[NDArray[np.int64], Callable[[], list[Any]]]:
        """The rows of a block, and what waits for them"""
        steps = range(asked.first, asked.first + asked.steps)
        numbers = np.unique(np.concatenate([drawn(asked.b, Draw(asked.seed, t)) for t in steps]))
        f = self._f
        own = [(rows,) if len(rows) else None for _, rows in f.by_part(numbers)]
        return numbers, f.homes.later(f.recipe, taken, own=own)
