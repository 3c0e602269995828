"""Small batches of a sum over parts: their rows are brought together, and are a small sum of their own.

A gradient has d numbers from every part, and a small batch far fewer: what travels is the rows, and one loop runs over
them in the order in which they were drawn. So the bits of a small batch do not even depend on where the rows were cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.csr import CsrRows
from ..data.dense import DenseRows
from ..data.intercept import WithIntercept
from ..data.rows import RowMatrix
from ..xp import Array
from .linear import LinearSum
from .protocol import Batch

MOST = 2**22  # stored entries of a batch that is brought together: about 50 MB


class NearBatch(NamedTuple):
    """A batch of rows that were brought together, under the numbers that they have in the whole sum"""

    near: Batch
    rows: Array
    size: int

    def grad(self, x: Array) -> Array:
        return self.near.grad(x)

    def diff(self, x: Array, prev: Array) -> Array:
        return self.near.diff(x, prev)

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return self.near.value_grad(x)

    def slopes(self, x: Array) -> Array:
        return self.near.slopes(x)

    def pull(self, c: Array) -> Array:
        return self.near.pull(c)


def taken(f: LinearSum, rows: NDArray[np.int64]) -> LinearSum:
    """A piece: some rows of a part"""
    return f.take(rows)


def together(parts: Sequence[LinearSum]) -> LinearSum | None:
    """The mean over the rows of all of them; None where the storage of a user's cannot be joined."""
    first, a = parts[0], joined([part.a for part in parts])
    if a is None:
        return None
    weights = None if first.weights is None else np.concatenate([part.weights for part in parts])
    return LinearSum(a, first.loss, np.concatenate([part.labels for part in parts]), weights, first.classes)


def joined(parts: Sequence[RowMatrix]) -> RowMatrix | None:
    """The rows one above the other"""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(a, WithIntercept) for a in parts):
        inner = joined([a.a for a in parts])  # type: ignore[attr-defined]  # all of them are
        return None if inner is None else WithIntercept(inner)
    if all(isinstance(a, DenseRows) for a in parts):
        return DenseRows(np.concatenate([a.a for a in parts]))  # type: ignore[attr-defined]
    if all(isinstance(a, CsrRows) for a in parts):
        return _above(parts)
    return None


def _above(parts: Sequence[Any]) -> CsrRows:
    sizes = [np.diff(a.indptr) for a in parts]
    indptr = np.concatenate(([0], *sizes)).cumsum().astype(parts[0].indptr.dtype)
    indices, data = (np.concatenate(side) for side in zip(*((a.indices, a.data) for a in parts), strict=True))
    return CsrRows(indptr, indices, data, parts[0].d)
