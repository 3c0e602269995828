"""Matrices of functions of the entries of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..xp import Array
from .csr import CsrRows
from .dense import DenseRows
from .intercept import WithIntercept
from .rows import RowMatrix

_BLOCK = 4096  # rows at once


def entrywise(a: RowMatrix, function: Callable[[Array], Array]) -> RowMatrix | None:
    """The matrix of function(a_ij), for functions that leave 0 and 1 as they are; None if A hides its entries"""
    if isinstance(a, WithIntercept):
        inner = entrywise(a.a, function)
        return None if inner is None else WithIntercept(inner)
    if isinstance(a, CsrRows):
        return CsrRows(a.indptr, a.indices, function(a.data), a.d)
    return DenseRows(function(a.a)) if isinstance(a, DenseRows) else None


def in_blocks(a: RowMatrix, function: Callable[[Array], Array]) -> Iterator[tuple[Array, RowMatrix]] | None:
    """Some rows after the other, and that matrix of them"""
    if entrywise(a.take(np.arange(1)), function) is None:
        return None
    starts = range(0, a.shape[0], _BLOCK)
    blocks = (np.arange(start, min(start + _BLOCK, a.shape[0])) for start in starts)
    return ((rows, entrywise(a.take(rows), function)) for rows in blocks)  # type: ignore[misc]  # of one kind


def shows_columns(a: RowMatrix) -> bool:
    """Whether it hands out columns, and counts their entries; with an intercept if the others do"""
    return hasattr(a.a if isinstance(a, WithIntercept) else a, "columns")


def column_sizes(a: RowMatrix, weights: Array | None) -> Array | None:
    """Σ_i w_i a_ij² of every column j"""
    blocks, sizes = in_blocks(a, lambda part: np.square(part, dtype=np.float64)), np.zeros(a.shape[1])
    if blocks is None:
        return None
    for rows, part in blocks:
        sizes += part.tdot(np.ones(len(rows)) if weights is None else np.asarray(weights[rows], np.float64))
    return sizes
