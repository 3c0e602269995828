"""Shards are read in turn: the next one ahead, and the pages of those that do not fit into memory are given back.

The arrays are mapped, so that they take no memory of the process; the system keeps as many of their pages as there is
room for. A set that is larger than the memory would drive out each page before it comes to use again. Therefore the
first shards stay, as many as fit, and the pages of the others are given back after use.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..datasets.shards.shard import Shard
from ..sums import Here, Recipe, pieces
from ..sums import part_pieces as at_home
from ..sums.homes import Own, Piece, everyone, in_rows

_KEPT = 0.6  # The share of the memory that the shards may take which stay, where all together are larger.
# These pieces read all rows of a part, unless they are told which.
_PASSES = (
    at_home.value_grad, at_home.grad, at_home.diff, at_home.slopes, at_home.pull, at_home.bend_gram, at_home.negative,
    at_home.crosses, pieces.product, pieces.weighted_product, pieces.weighted_gram, pieces.squares_of_columns,
    pieces.sums_of_columns,
)  # fmt: skip


class Reader:
    """Reads ahead, and gives pages back, where parts are visited in turn. It changes no number of a run."""

    def __init__(self, shards: tuple[Shard, ...], memory: int | None = None) -> None:
        self.shards = shards
        room = (physical_memory() if memory is None else memory) * _KEPT
        ends = np.cumsum([shard.bytes for shard in shards])
        self.stays = [True] * len(shards) if ends[-1] <= room else (ends <= room).tolist()
        self._coming: dict[int, Future[None]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Reader, (self.shards,)

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="dcopt-shards")

    def before(self, k: int, following: int | None) -> None:
        """Part k is due: have the one after it read. An error of reading is raised where the part is due."""
        if (now := self._coming.pop(k, None)) is not None:
            now.result()
        if following is not None and following not in self._coming:
            self._coming[following] = self._thread.submit(self.shards[following].soon)

    def after(self, k: int) -> None:
        """Part k is done."""
        if not self.stays[k]:
            self.shards[k].forget()


@dataclass(frozen=True, eq=False)
class InTurn(Here):
    """Parts in this process, which are read from the disk one after the other."""

    reader: Reader | None = None

    def _asked(self, make: Recipe | None, piece: Piece, args: tuple[Any, ...], own: Own | None) -> Iterable[Any]:
        assert self.reader is not None  # `Shards.of` has given it.
        told, args = everyone(self.sizes) if own is None else own, in_rows(args)
        whole = [k for k, more in enumerate(told) if more is not None and _reads_all(piece, args, more)]
        for k, (home, more) in enumerate(zip(self.homes, told, strict=True)):
            if more is None:
                yield None
                continue
            if k in whole:
                place = whole.index(k)
                self.reader.before(k, whole[place + 1] if place + 1 < len(whole) else None)
            yield home.ask(make, piece, *args, *in_rows(more))
            if k in whole:
                self.reader.after(k)


def _reads_all(piece: Piece, args: tuple[Any, ...], own: tuple[Any, ...]) -> bool:
    """Whether the piece visits all rows of its part; a part of a batch comes with its rows."""
    return piece in _PASSES and not any(isinstance(one, np.ndarray) and one.dtype == np.int64 for one in own[:1])


def physical_memory() -> int:
    """Bytes of the machine"""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**33
