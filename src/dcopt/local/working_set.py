"""Which rows of x may move in a step."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..sums.curvature import Curvature
from ..xp import Array
from . import costs
from .policy import WorkingSet


def working_set(C: Curvature, how: WorkingSet, there: NDArray[np.bool_], off: NDArray[np.float64]) -> NDArray[np.int64]:
    """The support of x, `there`, and the rows that violate dist(u_j, ∂r1(0)) = 0, the worst ones first.

    Where there are many, their Gram matrix must not cost much more than some passes: m² ≤ 16 d where every entry is
    stored.
    """
    d, there = len(off), there.copy()
    new = np.flatnonzero((off > 0.0) & ~there)
    most = how.most
    if most is None and C.dense:
        most = max(costs.SMALL_GRAM, math.ceil(how.dense * math.sqrt(d)))
    elif most is None:
        most = how.sparse
    room = max(most, int(there.sum()))
    if len(new) > room:
        size = off[new]
        least = np.partition(size, -room)[-room]  # Ties go to the first rows, not to a machine's own choice.
        worse = size > least
        new = np.concatenate((new[worse], new[size == least][: room - int(worse.sum())]))
    there[new] = True
    return np.flatnonzero(there)


def searched_set(
    C: Curvature, columns: NDArray[np.int64], u: NDArray[np.float64], width: int
) -> NDArray[np.int64] | None:
    """The rows among which a search looks: all where they are few, else those with the largest slopes besides.

    None where they would have more than `width` entries.
    """
    d, k = u.shape
    every = np.arange(d)
    if d * k <= width and costs.all_columns_are_cheap(C, every).yes:
        return every
    size = np.linalg.norm(u, axis=1)
    size[columns] = 0.0
    wide: Array = np.union1d(columns, np.argsort(-size, kind="stable")[: costs.SMALL_GRAM])
    return wide if 0 < len(wide) * k <= width else None
