"""The rows of coming steps, fetched in one round trip: draws are a function of (seed, t), so that they are known.

A block holds the rows of some steps in a row, part by part, as a sum over parts in this process; the next block travels
while a block is used. What is computed of a batch is what the homes would compute: the same rows of the same part in
the same order, by the same pieces. So the bits do not depend on whether rows were fetched ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..draw import Draw
from ..xp import Array
from .homes import Given, Here, Recipe
from .linear import LinearSum
from .protocol import Batch

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
    """The rows of some steps: each once, in increasing order, and the sum over them, part by part"""

    asked: _Asked
    numbers: NDArray[np.int64]
    sum: PartsSum


class AheadBatch(NamedTuple):
    """A batch of rows that were fetched, under the numbers that they have in the whole sum"""

    near: Batch
    rows: Array
    size: int

    def grad(self, x: Array) -> Array:
        return self.near.grad(x)

    def diff(self, x: Array, prev: Array) -> Array:
        return self.near.diff(x, prev)

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return self.near.value_grad(x)

    def slopes(self, x: Array) -> Array:
        return self.near.slopes(x)

    def pull(self, c: Array) -> Array:
        return self.near.pull(c)


class Ahead:
    """The blocks of a sum: the one in use, and the one that travels.

    It is a cache: which rows it holds changes the time of a run and none of its numbers.
    """

    def __init__(self, f: PartsSum, steps: int, made: Callable[[Any, tuple[int, ...]], PartsSum]) -> None:
        self._f, self._steps, self._made = f, steps, made
        self._here: _Block | None = None
        self._coming: tuple[_Asked, NDArray[np.int64], Callable[[], list[Any]]] | None = None

    def batch(self, b: int, draw: Draw, sampling: str, drawn: Drawn) -> AheadBatch | None:
        """The batch of a step; None where it is so large that it is not fetched."""
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
        near = self._here.sum.of_rows(np.searchsorted(self._here.numbers, rows))
        return AheadBatch(near, rows, b)

    def _arrived(self, asked: _Asked, wanted: tuple[int, int, str, int], drawn: Drawn) -> _Block:
        """The block that travels, if it is the one that is wanted; else one that is sent for now"""
        coming, self._coming = self._coming, None
        if coming is None or not coming[0].has(*wanted):
            coming = (asked, *self._sent(asked, drawn))
        asked, numbers, answer = coming
        found = answer()
        sizes = tuple(0 if part is None else part.n for part in found)
        homes = Here.of((Given(part) for part in found), sizes)
        return _Block(asked, numbers, self._made(homes, sizes))

    def _sent(self, asked: _Asked, drawn: Drawn) -> tuple[NDArray[np.int64], Callable[[], list[Any]]]:
        """The rows of a block, and what waits for them"""
        steps = range(asked.first, asked.first + asked.steps)
        numbers = np.unique(np.concatenate([drawn(asked.b, Draw(asked.seed, t)) for t in steps]))
        f = self._f
        own = [(rows,) if len(rows) else None for _, rows in f.by_part(numbers)]
        return numbers, f.homes.later(f.recipe, _taken, own=own)


class Fetched(Recipe):
    """What was fetched is a part of the sum already."""

    def __call__(self, data: Any, number: int) -> LinearSum:
        found: LinearSum = data
        return found


def _taken(f: LinearSum, rows: NDArray[np.int64]) -> LinearSum:
    return f.take(rows)
