"""The tables of SAGA and SAG: one number (c numbers) per row, and the point of its last visit.

A linear model's component gradient is slope × row, so only the slope is stored. With the
quadratic inside, h_i(x) = κ/2 ‖x‖² − f_i(x), the point of the last visit of a row is stored, too. Only the
points that some row still refers to are kept, about (N/b) log b of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import BadInput
from ..sums import Batch, Sum
from ..xp import Array


class Stale(NamedTuple):
    """φ_i = points[slot[i]], the point of the last visit of row i, and the mean x̄ of all φ_i."""

    slot: Array
    counts: Array
    points: Array
    mean: Array


class Table(NamedTuple):
    """The stored slopes, the mean of the gradients they stand for, and the stale points (or None)."""

    slopes: Array
    mean: Array
    stale: Stale | None
    clock: Array | None = None  # The number of visits made with these arrays, which all states share.
    time: int = 0  # The number of visits of this state. The table of an older state is overwritten.

    def check(self) -> None:
        """Refuse a table in which a row refers to a missing point, or in which the counts are wrong."""
        if self.stale is None:
            return
        slot, counts, points, _ = self.stale
        if len(slot) != len(self.slopes) or len(counts) != len(points):
            raise BadInput("memory", f"{len(slot)} rows and {len(counts)} counts of {len(points)} points")
        row = int(np.argmax((slot < 0) | (slot >= len(points))))
        if not 0 <= slot[row] < len(points):
            raise BadInput("memory", f"refers to point {slot[row]} of {len(points)}", row=row)
        if not np.array_equal(np.bincount(slot, minlength=len(counts)), counts):
            raise BadInput("memory", "the counts of the points are not those of the rows")


def first_table(f: Sum, x: Array, inside: bool) -> Table:
    """Every component at x."""
    batch = f.all()
    slopes = batch.slopes(x)
    stale = None
    if inside:
        slot, counts = np.zeros(batch.size, np.int32), np.array([batch.size], np.int64)
        stale = Stale(slot, counts, x[None].copy(), x)
    return Table(slopes, batch.pull(slopes), stale, np.zeros(1, np.int64))


def first_visits(rows: Array) -> Array | None:
    """Marks the first occurrence of each row, so that one drawn twice is renewed once; None if all differ."""
    first = np.unique(rows, return_index=True)[1]
    if len(first) == len(rows):
        return None
    mark = np.zeros(len(rows), bool)
    mark[first] = True
    return mark


def renew(table: Table, batch: Batch, x: Array) -> tuple[Table, Array, Array | None]:
    """Visit the batch at x: the new table, ∇f_I(x) − (mean of its stored gradients), and x − (mean of its φ_i)."""
    if table.clock is not None:
        if table.clock[0] != table.time:
            raise BadInput("state", "its table was overwritten by later steps: keep a copy, state.thawed()")
        table.clock[0] += 1
    rows: Array = batch.rows
    slopes, time = table.slopes, table.time + 1
    n = slopes.shape[0]
    new = batch.slopes(x)
    delta = new - slopes[rows]
    correction = batch.pull(delta)
    mark = first_visits(rows)
    once = correction if mark is None else batch.pull(delta * mark.reshape((-1,) + (1,) * (delta.ndim - 1)))
    slopes[rows] = new
    mean = table.mean + once * (batch.size / n)
    if table.stale is None:
        return Table(slopes, mean, None, table.clock, time), correction, None
    drift = x - _mean_point(table.stale, rows)
    moved = _move(table.stale, rows if mark is None else rows[mark], x)
    return Table(slopes, mean, moved, table.clock, time), correction, drift


def _mean_point(stale: Stale, rows: Array) -> Array:
    share = np.bincount(stale.slot[rows], minlength=len(stale.counts)) / len(rows)
    return np.tensordot(share, stale.points, axes=1).astype(stale.points.dtype, copy=False)


def _move(stale: Stale, rows: Array, x: Array) -> Stale:
    """The given rows (each once) were last seen at x."""
    slot, counts, points, mean = stale
    mean = mean + (x - _mean_point(stale, rows)) * (len(rows) / len(slot))
    counts -= np.bincount(slot[rows], minlength=len(counts))
    free = np.flatnonzero(counts == 0)
    if not free.size:  # Double the capacity, which costs O(d) a step on average.
        free = np.array([len(counts)])
        counts = np.concatenate((counts, np.zeros_like(counts)))
        points = np.concatenate((points, np.zeros_like(points)))
    slot[rows], counts[free[0]], points[free[0]] = free[0], len(rows), x
    return Stale(slot, counts, points, mean)
