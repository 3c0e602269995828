"""The door for SciPy's sparse matrices: nothing compiled sees one that is malformed."""

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
    """A CSR matrix of sorted indices without duplicates, of any sparse matrix that is well-formed."""
    if len(X.shape) != 2:
        raise BadInput(name, f"expected 2 dimensions, got shape {X.shape}")
    not_empty(tuple(X.shape), name)
    if X.format == "coo":  # before SciPy touches it: a malformed matrix can crash compiled code
        for axis, (where, size) in enumerate(zip(X.coords, X.shape, strict=True)):
            _within(np.asarray(where), size, name, f"index of axis {axis}")
    elif X.format in ("csr", "csc", "bsr"):
        _well_formed(X, name)
    if X.dtype.kind in "biu":
        X = X.astype(np.float64)  # before duplicates are summed: small integers would wrap
    csr = X.tocsr()
    if csr is not X:
        _well_formed(csr, name)
    if not csr.has_canonical_format:  # looks at the indices
        csr = csr.copy()
        with np.errstate(over="ignore"):
            csr.sum_duplicates()
    return csr


def _well_formed(X: Any, name: str) -> None:
    """indptr runs from 0 to the number of stored entries (blocks) without a fall; indices are in range."""
    major, minor = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        major, minor = major // X.blocksize[0], minor // X.blocksize[1]
    indptr, indices = np.asarray(X.indptr), np.asarray(X.indices)
    if {indptr.dtype, indices.dtype} - {np.dtype(np.int32), np.dtype(np.int64)}:
        raise BadInput(name, f"malformed {X.format.upper()}: indptr and indices must be int32 or int64")
    if indptr.shape != (major + 1,) or indptr[0] != 0 or indptr[-1] != len(indices) or len(indices) != len(X.data):
        raise BadInput(name, f"malformed {X.format.upper()}: indptr must run from 0 to the number of stored entries")
    falls = np.flatnonzero(np.diff(indptr) < 0)
    if falls.size:
        row = int(falls[0]) if X.format == "csr" else None
        raise BadInput(name, f"malformed {X.format.upper()}: indptr decreases", row=row)
    _within(indices, minor, name, "index", indptr if X.format == "csr" else None)


def _within(indices: Any, size: int, name: str, what: str, indptr: Any = None) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        out = np.flatnonzero((indices < 0) | (indices >= size))
        row = None if indptr is None else int(np.searchsorted(indptr, out[0], side="right")) - 1
        raise BadInput(name, f"malformed: {what} {indices[out[0]]} is not in [0, {size})", row=row)
