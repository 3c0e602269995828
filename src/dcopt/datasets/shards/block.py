"""Rows on their way into shards: a block of them, with labels, weights and the place of every row in the input."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Block(NamedTuple):
    """Some rows: in CSR with the length of each row, or dense, where `sizes` and `indices` are None."""

    data: NDArray[Any]  # (entries,), or (rows, d)
    sizes: NDArray[np.int64] | None
    indices: NDArray[Any] | None
    labels: NDArray[Any] | None
    weights: NDArray[Any] | None
    places: NDArray[np.int64]  # The numbers of the rows in the input, from 0 on.

    @property
    def rows(self) -> int:
        return len(self.places)

    @property
    def entries(self) -> int:
        return int(self.data.size)

    @property
    def indptr(self) -> NDArray[np.int64]:
        assert self.sizes is not None  # It is CSR.
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.sizes, dtype=np.int64)))

    def cut(self, start: int, stop: int) -> Block:
        """The rows from start to stop, without a copy"""
        labels, weights = (None if v is None else v[start:stop] for v in (self.labels, self.weights))
        if self.sizes is None or self.indices is None:
            return Block(self.data[start:stop], None, None, labels, weights, self.places[start:stop])
        begin, end = (int(e) for e in self.indptr[[start, stop]])
        sizes, indices = self.sizes[start:stop], self.indices[begin:end]
        return Block(self.data[begin:end], sizes, indices, labels, weights, self.places[start:stop])

    def take(self, rows: NDArray[np.int64]) -> Block:
        """These rows, in this order, copied"""
        labels, weights = (None if v is None else v[rows] for v in (self.labels, self.weights))
        if self.sizes is None or self.indices is None:
            return Block(self.data[rows], None, None, labels, weights, self.places[rows])
        sizes, start = self.sizes[rows], self.indptr[:-1][rows]
        ends = np.cumsum(sizes)
        # Row i of the new block is at start_i in this one, and at ends_i − sizes_i in the new one.
        where = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - (ends - sizes), sizes)
        return Block(self.data[where], sizes, self.indices[where], labels, weights, self.places[rows])

    def norms2(self) -> NDArray[np.float64]:
        """‖a_i‖²"""
        if self.sizes is None:
            return np.asarray(np.einsum("ij,ij->i", self.data, self.data, dtype=np.float64))
        squares = np.square(self.data, dtype=np.float64)
        total = np.concatenate((np.zeros(1), np.cumsum(squares)))
        return np.asarray(np.diff(total[self.indptr]))
