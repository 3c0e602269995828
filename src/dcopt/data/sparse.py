"""Checks of SciPy's sparse matrices, so that no compiled code receives a malformed one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import BadInput
from .check import finite, not_empty, real_array
from .csr import CsrRows


def sparse_rows(X: Any, name: str) -> CsrRows:
    """CSR rows from any sparse format; duplicates are summed in a copy."""
    csr = canonical_csr(X, name)
    data = real_array(csr.data, name)
    indptr, indices = (np.ascontiguousarray(part) for part in (csr.indptr, csr.indices))
    finite(data, name, lambda k: (int(np.searchsorted(indptr, k, side="right")) - 1, int(indices[k])))
    return CsrRows(indptr, indices, np.ascontiguousarray(data), int(csr.shape[1]))


def canonical_csr(X: Any, name: str) -> Any:
    """A CSR matrix with sorted indices and without duplicates, from any well-formed sparse matrix."""
    well_formed(X, name)
    not_empty(tuple(X.shape), name)
    if X.dtype.kind in "biu":
        X = X.astype(np.float64)  # Convert before duplicates are summed, because small integers would overflow.
    csr = X.tocsr()
    if csr is not X:
        well_formed(csr, name)
    if not csr.has_canonical_format:  # This reads the indices.
        csr = csr.copy()
        with np.errstate(over="ignore"):
            csr.sum_duplicates()
    return csr


def well_formed(X: Any, name: str) -> None:
    """Refuse a SciPy matrix whose arrays are inconsistent: converting or multiplying it could crash the process."""
    if len(X.shape) != 2:
        raise BadInput(name, f"expected 2 dimensions, got shape {X.shape}")
    if X.format in _FORMATS:
        _FORMATS[X.format](X, name)


def _compressed(X: Any, name: str) -> None:
    """indptr runs from 0 to the number of stored entries (blocks) and never decreases; indices are in range."""
    said, indptr, indices, data = f"malformed {X.format.upper()}", *map(np.asarray, (X.indptr, X.indices, X.data))
    major, minor = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        block = data.shape[1:]
        if len(block) != 2 or 0 in block or major % block[0] or minor % block[1]:
            raise BadInput(name, f"{said}: blocks of shape {block} do not divide a matrix of shape {X.shape}")
        major, minor = major // block[0], minor // block[1]
    elif data.ndim != 1:
        raise BadInput(name, f"{said}: expected data of 1 dimension, got shape {data.shape}")
    if {indptr.dtype, indices.dtype} - {np.dtype(np.int32), np.dtype(np.int64)}:
        raise BadInput(name, f"{said}: indptr and indices must be int32 or int64")
    ends = indptr.shape == (major + 1,) and indices.ndim == 1 and indptr[0] == 0
    if not ends or indptr[-1] != len(indices) or len(indices) != len(data):
        raise BadInput(name, f"{said}: indptr must run from 0 to the number of stored entries")
    falls = np.flatnonzero(np.diff(indptr) < 0)
    if falls.size:
        raise BadInput(name, f"{said}: indptr decreases", row=int(falls[0]) if X.format == "csr" else None)
    _within(indices, minor, name, "index", indptr if X.format == "csr" else None)


def _coo(X: Any, name: str) -> None:
    """One row and one column number for every stored entry, in range."""
    for axis, (where, size) in enumerate(zip(map(np.asarray, X.coords), X.shape, strict=True)):
        if where.dtype.kind not in "iu" or where.shape != np.shape(X.data):
            expected = f"{np.size(X.data)} whole numbers on axis {axis}, one for each stored entry"
            raise BadInput(name, f"malformed COO: expected {expected}, got {where.dtype} of shape {where.shape}")
        _within(where, size, name, f"index of axis {axis}")


def _dia(X: Any, name: str) -> None:
    """One offset for every stored diagonal."""
    offsets, data = np.asarray(X.offsets), np.asarray(X.data)
    if data.ndim != 2 or offsets.shape != data.shape[:1] or offsets.dtype.kind not in "iu":
        raise BadInput(name, "malformed DIA: expected one whole number in offsets for each row of data")


def _lil(X: Any, name: str) -> None:
    """Two lists of one length for every row; column numbers in range."""
    rows, data = np.asarray(X.rows), np.asarray(X.data)
    if rows.shape != X.shape[:1] or data.shape != X.shape[:1]:
        raise BadInput(name, "malformed LIL: expected one list of columns and one of numbers for each row")
    for i, (columns, values) in enumerate(zip(rows, data, strict=True)):
        if not isinstance(columns, list) or not isinstance(values, list) or len(columns) != len(values):
            raise BadInput(name, "malformed LIL: expected as many numbers as columns", row=i)
        if columns and not (0 <= min(columns) <= max(columns) < X.shape[1]):
            raise BadInput(name, f"malformed LIL: a column number is not in [0, {X.shape[1]})", row=i)


def _dok(X: Any, name: str) -> None:
    """A row and a column number in range for every stored entry."""
    for key in X.keys():
        if not (len(key) == 2 and all(0 <= k < size for k, size in zip(key, X.shape, strict=True))):
            raise BadInput(name, f"malformed DOK: {key} is not a place in a matrix of shape {X.shape}")


_FORMATS = {
    "coo": _coo, "csr": _compressed, "csc": _compressed, "bsr": _compressed, "dia": _dia, "lil": _lil, "dok": _dok,
}  # fmt: skip


def _within(indices: Any, size: int, name: str, what: str, indptr: Any = None) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        out = np.flatnonzero((indices < 0) | (indices >= size))
        row = None if indptr is None else int(np.searchsorted(indptr, out[0], side="right")) - 1
        raise BadInput(name, f"malformed: {what} {indices[out[0]]} is not in [0, {size})", row=row)
