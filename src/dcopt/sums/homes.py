"""Where the parts of a sum live, and the two questions that all homes answer.

f = Σ_k (n_k/N) f_k over parts k = 0, 1, … in one fixed order. What is asked of a part is a *piece*, a function of one
part that is defined at the top of a module, so that its name can be sent to another process:

    each(make, piece, *args, own=…)    [piece(part_0, *args, *own_0), piece(part_1, …), …]
    total(make, piece, *args, own=…)   their sum, added over the tree of part numbers of `added`

`make` is a `Recipe`, which makes the part of a sum (a `LinearSum`) of what was loaded; with None a piece sees the
`PartData` itself. A home keeps what it has made. `args` go to all parts, `own[k]` to part k alone; a part whose entry
of `own` is None is not asked, and its place in `each` is None. Without `own` all parts that have rows are asked.

A part is loaded by a function without arguments that gives the same `PartData` each time: an in-process home calls it
once, and a home in another process calls it where it runs, so that a lost part is made again. `Here` is the home in
this process. The order of additions depends on the number of parts alone: the bits of a sum do not depend on where its
parts live, or on how many processes there are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias
from uuid import uuid4

import numpy as np

from ..data.arrays import aligned
from ..data.rows import RowMatrix
from ..xp import Array

Piece: TypeAlias = Callable[..., Any]
Own: TypeAlias = Sequence[tuple[Any, ...] | None]
_MADE = 4  # What was made by the last recipes is kept: the sum, its sample, and the same with other weights.


class PartData(NamedTuple):
    """The rows of one part, with their labels and weights as they were given."""

    rows: RowMatrix
    labels: Array
    weights: Array | None = None


Load: TypeAlias = Callable[[], PartData]


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a part of a sum is made of what was loaded. Its name says which of the things that a home has made it is."""

    name: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False)

    def __call__(self, data: PartData, number: int) -> Any:
        raise NotImplementedError


class Homes(Protocol):
    """All parts, wherever they live."""

    @property
    def ahead(self) -> int:
        """The most small steps whose rows are fetched in one round trip; 1: no rows of coming steps are fetched."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of every part; a part may be empty."""

    def each(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> list[Any]:
        """piece(part, *args, *own_k) of every part k, in the order of their numbers"""

    def total(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> Any:
        """Their sum; None if no part was asked."""

    def later(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> Callable[[], list[Any]]:
        """`each`, which may begin now; what comes back waits for it."""


class Home:
    """One part where its rows are: what was loaded, and what was made of it.

    What is kept is a function of the data alone: it changes the time of a run and none of its numbers.
    """

    def __init__(self, load: Load, number: int) -> None:
        self._load, self.number = load, number
        self._made: OrderedDict[str, Any] = OrderedDict()
        self.most_made = _MADE

    def __getstate__(self) -> dict[str, Any]:
        kept = {"_load": self._load, "number": self.number, "most_made": self.most_made}
        return kept | {"_made": OrderedDict()}  # A copy holds no caches.

    @cached_property
    def data(self) -> PartData:
        data = self._load()
        return PartData(data.rows, *map(aligned, data[1:])) if isinstance(data, PartData) else data

    def ask(self, make: Recipe | None, piece: Piece, *args: Any) -> Any:
        """piece(part, *args)"""
        return piece(self.data if make is None else self._of(make), *args)

    def _of(self, make: Recipe) -> Any:
        if make.name not in self._made:
            self._made[make.name] = make(self.data, self.number)
            if len(self._made) > self.most_made:
                self._made.popitem(last=False)
        self._made.move_to_end(make.name)
        return self._made[make.name]


@dataclass(frozen=True, eq=False)
class Here:
    """Parts in this process, one after the other."""

    homes: tuple[Home, ...]
    sizes: tuple[int, ...]
    ahead: ClassVar[int] = 1

    @classmethod
    def of(cls, loads: Iterable[Load], sizes: Iterable[int] | None = None) -> Here:
        """`sizes` where they are known without loading."""
        homes = tuple(Home(load, k) for k, load in enumerate(loads))
        return cls(homes, tuple(home.data.rows.shape[0] for home in homes) if sizes is None else tuple(sizes))

    def _asked(self, make: Recipe | None, piece: Piece, args: tuple[Any, ...], own: Own | None) -> Iterable[Any]:
        args = in_rows(args)
        for home, more in zip(self.homes, everyone(self.sizes) if own is None else own, strict=True):
            yield None if more is None else home.ask(make, piece, *args, *in_rows(more))

    def each(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> list[Any]:
        return list(self._asked(make, piece, args, own))

    def total(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> Any:
        return added(self._asked(make, piece, args, own))

    def later(self, make: Recipe | None, piece: Piece, *args: Any, own: Own | None = None) -> Callable[[], list[Any]]:
        return lambda: self.each(make, piece, *args, own=own)


@dataclass(frozen=True)
class Given:
    """A part that is in memory already."""

    data: PartData

    def __call__(self) -> PartData:
        return self.data


def in_rows(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with arrays in row order, as they are after a journey: BLAS gives other bits to other orders."""
    return tuple(np.asarray(a, order="C") if isinstance(a, np.ndarray) else a for a in args)


def everyone(sizes: Sequence[int]) -> Own:
    """Every part that has rows"""
    return [() if size else None for size in sizes]


def added(values: Iterable[Any]) -> Any:
    """Σ_k value_k over the tree in which node (i, l) is the sum of parts i 2^l ≤ k < (i + 1) 2^l; None counts as 0.

    Values are numbers, arrays, or tuples of them. At most log₂ K + 1 of them are held at once. What is left at the end
    is added from the right.
    """
    stack: list[tuple[int, Any]] = []
    for value in values:
        level = 0
        while stack and stack[-1][0] == level:
            value, level = plus(stack.pop()[1], value), level + 1
        stack.append((level, value))
    total = None
    while stack:
        total = plus(stack.pop()[1], total)
    return total


def plus(left: Any, right: Any) -> Any:
    """left + right, entry by entry of tuples; None counts as 0."""
    if left is None or right is None:
        return right if left is None else left
    if isinstance(left, tuple):
        return tuple(map(plus, left, right))
    return left + right
