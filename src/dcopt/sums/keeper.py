"""What keeps parts in another process: it answers pieces, and adds up what it can of the tree of part numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import aligned
from ..data.workers import by_itself
from ..linalg.blas_threads import always_one_thread
from .homes import Home, Load, Piece, Recipe, plus

Node = tuple[int, int]  # (level, i): the parts from i 2^level to (i + 1) 2^level

_LEAST = 4096  # Arrays with fewer numbers are sent as they are.
_RECIPES = 16  # Recipes that came last are known by their names.
FORGOTTEN = "forgotten"  # the answer where a recipe is not known
_SHORT = 2  # An array is sent as columns and values where at most 1/_SHORT of its numbers are not 0.


class Failed(NamedTuple):
    """A piece raised. It comes back as a value, so that it is not taken for a lost worker."""

    part: int
    error: BaseException


class Few(NamedTuple):
    """An array of which few numbers are not 0; a minus zero is one of them, so that all bits come back."""

    places: NDArray[Any]
    values: NDArray[Any]
    shape: tuple[int, ...]


def packed(value: Any) -> Any:
    """The same with arrays as `Few` where that is shorter"""
    if isinstance(value, tuple):
        parts = [packed(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if not isinstance(value, np.ndarray) or value.size < _LEAST or value.dtype.kind != "f":
        return value
    bits = np.ascontiguousarray(value).reshape(-1).view(f"u{value.dtype.itemsize}")
    if _SHORT * np.count_nonzero(bits) > value.size:
        return value
    places = np.flatnonzero(bits)
    flat = value.reshape(-1)[places]
    return Few(places.astype(np.int32) if value.size < 2**31 else places, flat, value.shape)


def unpacked(value: Any) -> Any:
    """The reverse"""
    if isinstance(value, Few):
        out = np.zeros(math.prod(value.shape), value.values.dtype)
        out[value.places] = value.values
        return out.reshape(value.shape)
    if isinstance(value, tuple):
        parts = [unpacked(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return aligned(value)


class Keeper:
    """Some of the parts. It lives as long as its process: whatever it holds can be made again from the loaders."""

    def __init__(self, alone: bool) -> None:
        self._homes: dict[int, Home] = {}
        self._recipes: dict[str, Recipe] = {}
        self._alone = alone  # Its process has one thread to work with.

    def hold(self, loads: Mapping[int, Load]) -> None:
        """These parts too, each loaded when it is asked for the first time"""
        self._homes |= {k: Home(load, k) for k, load in loads.items()}

    def each(self, make: Any, piece: Piece, args: tuple[Any, ...], own: Mapping[int, tuple[Any, ...]]) -> Any:
        """(part, piece(part, …)) of the parts in `own`, or the first failure"""
        if not self._knows(make):
            return FORGOTTEN
        found = []
        for k, value in self._asked(make, piece, args, own):
            if isinstance(value, Failed):
                return value
            found.append((k, packed(value)))
        return found

    def total(
        self, make: Any, piece: Piece, args: tuple[Any, ...], own: Mapping[int, tuple[Any, ...]], mine: Sequence[int]
    ) -> Any:
        """((level, i), sum) of the largest nodes of the tree whose parts are all `mine`, or the first failure

        A part of `mine` that is not in `own` counts as 0.
        """
        if not self._knows(make):
            return FORGOTTEN
        values = self._asked(make, piece, args, own)
        nodes: dict[Node, Any] = {}
        for k in mine:
            value = None
            if k in own:
                _, value = next(values)
                if isinstance(value, Failed):
                    return value
            level, i = 0, k
            while (level, i ^ 1) in nodes:
                other = nodes.pop((level, i ^ 1))
                value = plus(other, value) if i & 1 else plus(value, other)
                level, i = level + 1, i >> 1
            nodes[level, i] = value
        return [(node, packed(value)) for node, value in nodes.items() if value is not None]

    def _knows(self, make: Recipe | str | None) -> bool:
        """Whether the recipe is at hand: it may come by its name, if it came before."""
        if isinstance(make, Recipe):
            self._recipes[make.name] = make
            while len(self._recipes) > _RECIPES:
                self._recipes.pop(next(iter(self._recipes)))
        return not isinstance(make, str) or make in self._recipes

    def _asked(self, make: Any, piece: Piece, args: tuple[Any, ...], own: Mapping[int, tuple[Any, ...]]) -> Any:
        recipe = self._recipes[make] if isinstance(make, str) else make
        args = unpacked(args)
        for k, more in own.items():
            try:
                with self._limits():
                    value = self._homes[k].ask(recipe, piece, *args, *unpacked(more))
            except Exception as error:
                value = Failed(k, error)
            yield k, value

    def _limits(self) -> AbstractContextManager[Any]:
        return _Alone() if self._alone else nullcontext()


class _Alone:
    """One thread for loops and for BLAS"""

    def __enter__(self) -> None:
        self._both = by_itself(), always_one_thread()
        for one in self._both:
            one.__enter__()

    def __exit__(self, *why: Any) -> None:
        for one in reversed(self._both):
            one.__exit__(*why)


def top(nodes: Mapping[Node, Any], parts: int) -> Any:
    """The sum of all parts from the nodes that were found: over the tree of `homes.added`, whoever found them"""

    def value(level: int, i: int) -> Any:
        if (level, i) in nodes:
            return nodes[level, i]
        if level == 0 or i << level >= parts:
            return None
        return plus(value(level - 1, 2 * i), value(level - 1, 2 * i + 1))

    return value(max(parts - 1, 0).bit_length(), 0)
