"""Random parts of the rows, each a pure function of (seed, number)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput


def groups_of(codes: NDArray[Any] | None, n: int, least: int, purpose: str) -> list[NDArray[np.int64]]:
    """The rows of every class, all rows where there are none (codes None); refuses a class with less than `least`."""
    if codes is None:
        if n < least:
            raise BadInput("X", f"{n} rows: {purpose} need {least}")
        return [np.arange(n)]
    groups = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        if len(rows) < least:
            raise BadInput("y", f"a class with {len(rows)} row: {purpose} need {least} of each", row=int(rows[0]))
        groups.append(rows)
    return groups


def halves(groups: Sequence[NDArray[np.int64]], seed: int, pair: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two disjoint sets of rows, each with half of every group; of an odd group one row, at random, is in neither."""
    draw = np.random.default_rng((seed, pair))
    mixed = [draw.permutation(rows) for rows in groups]
    one, two = ([rows[k * (len(rows) // 2) : (k + 1) * (len(rows) // 2)] for rows in mixed] for k in (0, 1))
    return np.sort(np.concatenate(one)), np.sort(np.concatenate(two))


def repetitions(groups: Sequence[NDArray[np.int64]], seed: int, number: int) -> NDArray[np.float64]:
    """How often each row is in a bootstrap sample, which draws as many rows of each group as it has."""
    draw = np.random.default_rng((seed, number))
    counts = np.zeros(sum(map(len, groups)))
    for rows in groups:
        counts[rows] = np.bincount(draw.integers(len(rows), size=len(rows)), minlength=len(rows))
    return counts
