"""A batch of a sum over parts: each part has some of its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..xp import Array
from . import part_pieces as at_home
from .homes import Own

if TYPE_CHECKING:
    from .parts import PartsSum


class PartsBatch(NamedTuple):
    """f_B(x) = Σ_k (b_k/|B|) f_{B_k}(x): the rows of each part in the order in which they were drawn"""

    sum: PartsSum
    rows: Array | None
    size: int

    def _own(self, *extra: Callable[[NDArray[np.int64] | slice], Any]) -> Own:
        """What each part is told: its rows (None: all) and their share of the batch, and what is cut from arrays."""
        f = self.sum
        if self.rows is None:
            cuts = zip(f.sizes, f.starts[:-1], f.starts[1:], strict=True)
            return [
                (None, size / self.size, *(cut(slice(low, high)) for cut in extra)) if size else None
                for size, low, high in cuts
            ]
        return [
            (local, len(local) / self.size, *(cut(places) for cut in extra)) if len(local) else None
            for places, local in f.by_part(self.rows)
        ]

    def _total(self, piece: Callable[..., Any], *args: Any) -> Any:
        return self.sum.homes.total(self.sum.recipe, piece, *args, own=self._own())

    def value_grad(self, x: Array) -> tuple[float, Array]:
        value, g = self._total(at_home.value_grad, x)
        return float(value), g

    def grad(self, x: Array) -> Array:
        return self._total(at_home.grad, x)

    def diff(self, x: Array, prev: Array) -> Array:
        return self._total(at_home.diff, x, prev)

    def slopes(self, x: Array) -> Array:
        found = self.sum.homes.each(self.sum.recipe, at_home.slopes, x, own=self._own())
        if self.rows is None:
            return np.concatenate([some for some in found if some is not None])
        seen = [(places, some) for (places, _), some in zip(self.sum.by_part(self.rows), found, strict=True)]
        first = next(some for _, some in seen if some is not None)
        out = np.empty((self.size, *first.shape[1:]), first.dtype)
        for places, some in seen:
            if some is not None:
                out[places] = some
        return out

    def pull(self, c: Array) -> Array:
        own = self._own(lambda places: c[places])
        return self.sum.homes.total(self.sum.recipe, at_home.pull, own=own)
