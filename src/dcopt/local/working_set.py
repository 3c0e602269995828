"""Which rows of x may move in a step."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..sums.curvature import Curvature
from ..xp import Array
from . import costs
from .policy import WorkingSet


def working_set(
    C: Curvature, how: WorkingSet, support: NDArray[np.bool_], distance: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The rows of x that are not 0, and the violators: rows at 0 with dist(u_j, ∂r1(0)) > 0, as many as may enter.

    Of more violators the worst enter, because the Gram matrix of m columns must not cost much more than some passes:
    m² ≤ 16 d where every entry is stored. As many as the support has may always enter.
    """
    violators = np.flatnonzero((distance > 0.0) & ~support)
    most = how.most
    if most is None:
        most = max(costs.SMALL_GRAM, math.ceil(how.dense * math.sqrt(len(distance)))) if C.dense else how.sparse
    most = max(most, int(support.sum()))
    if len(violators) > most:
        size = distance[violators]
        least = np.partition(size, -most)[-most]  # Ties go to the first rows, not to a machine's own choice.
        worse = size > least
        violators = np.concatenate((violators[worse], violators[size == least][: most - int(worse.sum())]))
    moving = support.copy()
    moving[violators] = True
    return np.flatnonzero(moving)


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
