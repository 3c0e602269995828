"""Blocks of a stream: they are checked, copied, brought to one form, and cut into batches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, a_kind
from . import check
from .csr import CsrRows
from .dense import DenseRows
from .rows import RowMatrix


class Form(NamedTuple):
    """The width, type and storage of the first block, to which all later blocks are brought."""

    d: int
    dtype: Any
    sparse: bool


class Block(NamedTuple):
    """A copy of the rows and labels of one block, and the number of the block in the source."""

    rows: Any  # (n, d) array, or (indptr, indices, data)
    labels: NDArray[Any]
    number: int


def seen(X: Any) -> tuple[RowMatrix, Form]:
    """The checked rows of a block, and their form."""
    rows = check.as_rows(X)
    if not isinstance(rows, DenseRows | CsrRows):
        raise BadInput("X", f"{a_kind(rows)}: blocks are arrays or sparse matrices")
    return rows, Form(rows.shape[1], rows.dtype, isinstance(rows, CsrRows))


def own(rows: Any, form: Form) -> Any:
    """A copy in the given form, so that the source may reuse its buffers."""
    if rows.shape[1] != form.d:
        raise BadInput("X", f"has {rows.shape[1]} columns, the stream has {form.d}")
    with np.errstate(over="ignore"):  # A number too large for float32 becomes inf, which is refused.
        if not form.sparse:
            dense = np.array(rows.a if isinstance(rows, DenseRows) else _dense(rows), form.dtype, order="C")
            if dense.dtype != rows.dtype:
                check.finite(dense, "X")
            return dense
        indptr, indices, data = (rows.indptr, rows.indices, rows.data) if isinstance(rows, CsrRows) else _sparse(rows.a)
        narrow = np.array(data, form.dtype)
    if narrow.dtype != rows.dtype:
        check.finite(narrow, "X", lambda k: (int(np.searchsorted(indptr, k, side="right")) - 1, int(indices[k])))
    return np.array(indptr, np.int64), np.array(indices, np.int64), narrow


def _dense(rows: CsrRows) -> NDArray[Any]:
    a = np.zeros(rows.shape, rows.dtype)
    a[np.repeat(np.arange(len(a)), np.diff(rows.indptr)), rows.indices] = rows.data
    return a


def _sparse(a: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    i, j = np.nonzero(a)
    return np.concatenate(([0], np.cumsum(np.bincount(i, minlength=len(a))))), j, a[i, j]


def plain(block: Block, start: int, form: Form | None) -> Any:
    """The rows from `start` on in the form in which a source gives them, so that they can be checked again."""
    if form is None or not form.sparse:
        return block.rows[start:]
    from scipy.sparse import csr_array

    indptr, indices, data = block.rows
    return csr_array((data, indices, indptr), shape=(len(block.labels), form.d))[start:]


def join(parts: list[tuple[Any, int, int]], form: Form) -> RowMatrix:
    """Rows start … stop of each block as one new matrix. Its bits do not depend on where the blocks were cut."""
    if not form.sparse:
        return DenseRows(np.concatenate([a[start:stop] for a, start, stop in parts]))
    spans = [(p, int(p[0][start]), int(p[0][stop])) for p, start, stop in parts]
    sizes = [np.diff(p[0][start : stop + 1]) for p, start, stop in parts]
    indptr = np.concatenate([[0], *sizes]).cumsum()
    indices, data = (np.concatenate([p[k][low:high] for p, low, high in spans]) for k in (1, 2))
    return CsrRows(indptr, indices, data, form.d)
