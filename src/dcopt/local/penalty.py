"""r as a function of the rows of x that may move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..regularizers import Regularizer
from ..subproblems.parts import Parts, entries, lengths, radial

_NEAR = 1e-5  # of an entry: how far from it r2' is seen to change


@dataclass(frozen=True, eq=False)
class PenaltyOnWorkingSet:
    """r(v), v = x[columns], x (d, k) as it is elsewhere; r takes it in this shape."""

    r: Regularizer
    x: NDArray[np.float64]
    columns: NDArray[np.int64]
    parts: Parts  # of r's own r1, whatever r1 a step has
    shape: tuple[int, ...]

    def _whole(self, v: NDArray[Any]) -> NDArray[Any]:
        if len(v) == len(self.x):
            return v.reshape(self.shape)
        x = self.x.copy()
        x[self.columns] = v
        return x.reshape(self.shape)

    def mine(self, a: Any) -> NDArray[np.float64]:
        """Of something in the shape of x what belongs to v"""
        all_of_it: NDArray[np.float64] = np.asarray(a, np.float64).reshape(self.x.shape)
        return all_of_it if len(self.columns) == len(self.x) else all_of_it[self.columns]

    def value(self, v: NDArray[Any]) -> float:
        """r(v), with all that does not move"""
        return self.r.value(self._whole(v))

    def each(self, v: NDArray[Any]) -> NDArray[np.float64] | None:
        """r(v), entry by entry, where it is their sum"""
        found = entries(self.r, self._whole(v))
        return None if found is None else self.mine(found)

    def slope(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """Some w ∈ ∂r2(v)"""
        return self.mine(self.r.subgrad(self._whole(v)))

    def steepest(self, v: NDArray[Any], down: Callable[[], NDArray[Any]]) -> NDArray[np.float64]:
        """The w ∈ ∂r2(v) along which F falls most; `down` gives −∇f on v, where a kink of r2 leaves a choice"""

        def whole() -> NDArray[np.float64]:
            u = np.zeros_like(self.x)
            u[self.columns] = down()
            return u.reshape(self.shape)

        return self.mine(self.r.steepest(self._whole(v), whole))

    def bend(self, v: NDArray[Any]) -> NDArray[np.float64] | None:
        """The curvature of r2 at v, by differences of its slope; 0 where v is 0, None where it is 0 everywhere.

        For r2 over entries: one number for every entry, in the shape of v. For r2 over the norms of rows: (d,), how
        fast its slope grows with each norm.
        """
        if self.r.L2 == 0.0 or (self.parts.rows and not radial(self.r)):
            return None
        if self.parts.rows:
            h, (more, less) = _NEAR * lengths(v), (lengths(self.slope(t * v)) for t in (1.0 + _NEAR, 1.0 - _NEAR))
            change = more - less
        else:
            h = _NEAR * np.abs(v)
            change = self.slope(v + h) - self.slope(v - h)
        bend = np.maximum(np.divide(change, 2 * h, out=np.zeros_like(h), where=h > 0.0), 0.0)
        return bend if bend.any() else None
