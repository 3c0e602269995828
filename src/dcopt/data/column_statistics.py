"""Sums over the entries of a row matrix, and matrices whose columns are scaled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, a_kind
from ..xp import Array
from .csr import CsrRows
from .dense import DenseRows
from .rows import RowMatrix

_ENTRIES = 2**22  # The number of stored entries that are transformed at once: 32 MB. Most matrices are one block.
_BLOCK = 2**16  # Entries of a dense matrix that are read at once: as float64 they stay in the cache.
_SOME = 4096  # The rows of a dense matrix from which the share of zeros in a column is estimated.
_CANCELS = 1e-6  # A variance below this share of the mean square has lost too many digits.


def in_blocks(a: RowMatrix, function: Callable[[Array], Array]) -> Iterator[tuple[Array, RowMatrix]] | None:
    """Blocks of rows, each with the matrix of function(a_ij) of these rows; None if A does not show its entries.

    The function must map 0 to 0 and 1 to 1.
    """
    can, (n, d) = a.can(), a.shape
    if can.entrywise is None:
        return None
    size = max(_ENTRIES * n // max(n * d if can.stored is None else can.stored, 1), 1)
    blocks = (np.arange(start, min(start + size, n)) for start in range(0, n, size))
    parts = ((rows, a if len(rows) == n else a.take(rows)) for rows in blocks)
    return ((rows, part.can().entrywise(function)) for rows, part in parts)  # type: ignore[misc]  # of one kind


def column_sizes(a: RowMatrix, weights: Array | None) -> Array | None:
    """Σ_i w_i a_ij² of every column j; None if A does not show its entries"""
    blocks, sizes = in_blocks(a, lambda part: np.square(part, dtype=np.float64)), np.zeros(a.shape[1])
    if blocks is None:
        return None
    for rows, part in blocks:
        sizes += part.tdot(np.ones(len(rows)) if weights is None else np.asarray(weights[rows], np.float64))
    return sizes


def moments(rows: RowMatrix, weights: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], ...]:
    """Means, variances and the shares of entries that are not 0, of every column"""
    if isinstance(rows, CsrRows):
        return _sparse(rows, weights)
    if isinstance(rows, DenseRows):
        return _dense(rows, weights)
    raise BadInput("X", f"{a_kind(rows)}: columns of arrays and sparse matrices can be standardised")


def scaled(rows: RowMatrix, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> RowMatrix:
    """(a_j − mean_j) / scale_j in the precision of the rows. Sparse rows stay sparse: there the mean is 0."""
    if isinstance(rows, CsrRows):
        data = rows.data.astype(np.float64) / scale[rows.indices]
        return CsrRows(rows.indptr, rows.indices, data.astype(rows.data.dtype), rows.d)
    assert isinstance(rows, DenseRows)  # `moments` has refused others.
    out = np.empty_like(rows.a)
    for part in _parts(out):
        out[part] = (rows.a[part] - mean) / scale
    return DenseRows(out)


def _dense(rows: Any, weights: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], ...]:
    """Means, variances and the shares of entries that are not 0: in one pass, about the mean of the first rows."""
    a = rows.a
    w = np.ones(len(a)) if weights is None else weights
    total, parts = float(w.sum()), list(_parts(a))
    shift = a[parts[0]].mean(axis=0, dtype=np.float64)
    first, second, space = np.zeros(a.shape[1]), np.zeros(a.shape[1]), np.empty((parts[0].stop, a.shape[1]))
    for part in parts:
        block = np.subtract(a[part], shift, out=space[: len(a[part])])
        first += w[part] @ block
        second += w[part] @ np.multiply(block, block, out=block)
    some = a[:: -(-len(a) // _SOME)]
    share = np.maximum(np.count_nonzero(some, axis=0), 1) / len(some)
    return shift + first / total, np.maximum(second / total - (first / total) ** 2, 0.0), share


def _sparse(rows: CsrRows, weights: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], ...]:
    """The same of a CSR matrix, whose entries that are not stored are 0."""
    at, data, d = rows.indices, rows.data.astype(np.float64, copy=False), rows.d
    total = float(rows.shape[0] if weights is None else weights.sum())
    each = None if weights is None else np.repeat(weights, np.diff(rows.indptr))
    there = np.bincount(at, each, d) / total
    mean = np.bincount(at, data if each is None else each * data, d) / total
    raw = np.bincount(at, data * data if each is None else each * data * data, d) / total
    square = raw - mean**2
    # For nearly constant columns, sum squares about the mean, which takes twice as long.
    if np.any(square < _CANCELS * raw):
        about = (data - mean[at]) ** 2
        square = np.bincount(at, about if each is None else each * about, d) / total
        square += np.maximum(1.0 - there, 0.0) * mean**2
    return mean, square, np.where(there > 0.0, there, 1.0)


def _parts(a: NDArray[Any]) -> Iterator[slice]:
    size = max(_BLOCK // a.shape[1], 1)
    return (slice(start, start + size) for start in range(0, len(a), size))
