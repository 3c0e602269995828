"""What the parts of a sum agree on, how they are asked, and what follows from the data of all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..losses import Loss
from ..xp import Array
from . import part_pieces as at_home
from . import pieces
from .homes import Homes, Recipe, everyone
from .rows_base import RowsBase


class Agreed(NamedTuple):
    """What every part must agree on: the loss, the shape of x and the type of the rows."""

    loss: Loss
    shape: tuple[int, ...]
    dtype: Any
    compiled: bool


@dataclass(frozen=True, eq=False)
class PartsBase(RowsBase):
    """Parts with homes, and how a part of the sum is made of what was loaded there."""

    homes: Homes
    recipe: Recipe
    sizes: tuple[int, ...]  # the rows of every part

    def __getstate__(self) -> dict[str, Any]:
        return {"homes": self.homes, "recipe": self.recipe, "sizes": self.sizes}  # A copy holds no caches.

    # ---- what the parts agree on

    @cached_property
    def agreed(self) -> Agreed:
        """The same in every part; refuses parts that differ, by their number."""
        found: Agreed | None = None
        for k, seen in enumerate(self.homes.each(self.recipe, at_home.agreed, own=everyone(self.sizes))):
            if seen is None:
                continue
            one = Agreed(*seen)
            if found is not None and (one.shape, one.dtype) != (found.shape, found.dtype):
                said = f"part {k} gives x of shape {one.shape} in {one.dtype}, the parts before it {found.shape} in"
                raise BadInput("parts", f"{said} {found.dtype}")
            found = one if found is None else found
        if found is None:
            raise BadInput("parts", "have no rows")
        return found

    @property
    def loss(self) -> Loss:
        return self.agreed.loss

    @property
    def shape(self) -> tuple[int, ...]:
        return self.agreed.shape

    @property
    def classes(self) -> tuple[int, ...]:
        return self.shape[1:]

    @property
    def dtype(self) -> Array:
        return self.agreed.dtype

    @property
    def compiled(self) -> bool:
        return self.agreed.compiled

    @cached_property
    def n(self) -> int:
        return sum(self.sizes)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The number of the first row of every part, and N"""
        return np.cumsum((0, *self.sizes), dtype=np.int64)

    # ---- pieces

    def each(self, piece: Callable[..., Any], *args: Any) -> list[Any]:
        """piece(part, *args) of the parts that have rows here; `Homes.each` has a place for every part.

        `sizes` of a sample or of chosen rows are not those of the homes: a part may have rows there and none here.
        """
        found = self.homes.each(self.recipe, piece, *args, own=everyone(self.sizes))
        return [one for one, size in zip(found, self.sizes, strict=True) if size]

    def total(self, piece: Callable[..., Any], *args: Any) -> Any:
        """The sum of these, over the tree of part numbers"""
        return self.homes.total(self.recipe, piece, *args, own=everyone(self.sizes))

    # ---- what follows from the data

    @cached_property
    def largest_row(self) -> float:
        return float(max(self.each(pieces.largest_row)))

    @cached_property
    def mean_row(self) -> float:
        return self._mean(pieces.mean_row)

    @cached_property
    def mean_weight(self) -> float:
        return self._mean(pieces.mean_weight)

    def _mean(self, piece: Callable[..., Any]) -> float:
        """The mean over all rows, from that of each part"""
        means, sizes = self.each(piece), [size for size in self.sizes if size]
        return math.fsum(mean * (size / self.n) for mean, size in zip(means, sizes, strict=True))

    @cached_property
    def storage(self) -> tuple[bool, bool, int]:
        """Whether Gram matrices are rough in some part, whether all parts show columns, and the stored entries"""
        rough, shown, stored = zip(*self.each(at_home.storage), strict=True)
        return any(rough), all(shown), sum(stored)
