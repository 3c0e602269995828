"""Row matrices one above the other, each where it is. Rows have the numbers of the stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..xp import Array
from .rows import Can, RowMatrix


class StackedRows:
    """A = (A_0; A_1; …). Products with all rows visit the parts in turn."""

    def __init__(self, parts: Sequence[RowMatrix], sizes: Sequence[int], d: int, dtype: Any) -> None:
        self.parts = tuple(parts)
        self.starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.asarray(sizes, np.int64))))
        self.shape, self.dtype = (int(self.starts[-1]), d), np.dtype(dtype)

    def visit(self) -> Iterator[tuple[int, RowMatrix]]:
        """The parts in turn, with their numbers"""
        return enumerate(self.parts)

    def _by_part(self, rows: NDArray[np.int64]) -> Iterator[tuple[RowMatrix, NDArray[np.int64], NDArray[np.int64]]]:
        """The parts that have some of the rows, the places of these in `rows`, and their numbers in the part"""
        rows = np.asarray(rows, np.int64)
        part = np.searchsorted(self.starts, rows, side="right") - 1
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(len(self.parts) + 1))
        for k in np.flatnonzero(np.diff(ends)).tolist():
            places = order[ends[k] : ends[k + 1]]
            yield self.parts[k], places, rows[places] - self.starts[k]

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        n = self.shape[0] if rows is None else len(rows)
        z = np.empty((n, *x.shape[1:]), np.result_type(x, self.dtype))
        if rows is None:
            for k, part in self.visit():
                z[self.starts[k] : self.starts[k + 1]] = part.dot(x)
        else:
            for part, places, own in self._by_part(rows):
                z[places] = part.dot(x, own)
        return z

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        out: Any = np.zeros((self.shape[1], *c.shape[1:]))
        if rows is None:
            for k, part in self.visit():
                out += part.tdot(np.ascontiguousarray(c[self.starts[k] : self.starts[k + 1]]))
        else:
            for part, places, own in self._by_part(rows):
                out += part.tdot(np.ascontiguousarray(c[places]), own)
        return out.astype(np.result_type(c, self.dtype), copy=False)

    def take(self, rows: Array) -> RowMatrix:
        """A[rows], copied into parts by where they are, and put into the order asked for by another stack"""
        rows = np.asarray(rows, np.int64)
        found = [(part.take(own), places) for part, places, own in self._by_part(rows)]
        if not found:
            return self.parts[0].take(rows)
        if len(found) == 1:
            return found[0][0].take(np.argsort(found[0][1], kind="stable"))
        stack = StackedRows([part for part, _ in found], [len(p) for _, p in found], self.shape[1], self.dtype)
        return Reordered(stack, np.argsort(np.concatenate([places for _, places in found]), kind="stable"))

    def norms2(self) -> Array:
        return np.concatenate([part.norms2() for _, part in self.visit()])

    def can(self) -> Can:
        return Can(compiled=any(part.can().compiled for part in self.parts[:1]))


class Reordered:
    """A[order] of a stack, whose rows stay where they are."""

    def __init__(self, a: RowMatrix, order: NDArray[np.int64]) -> None:
        self.a, self.order = a, order

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.order), self.a.shape[1]

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    def _rows(self, rows: Array | None) -> NDArray[np.int64]:
        return self.order if rows is None else self.order[rows]

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        return self.a.dot(x, self._rows(rows))

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        return self.a.tdot(c, self._rows(rows))

    def take(self, rows: Array) -> Reordered:
        return Reordered(self.a, self.order[rows])

    def norms2(self) -> Array:
        norms: Array = self.a.norms2()[self.order]
        return norms

    def can(self) -> Can:
        return Can(compiled=self.a.can().compiled)
