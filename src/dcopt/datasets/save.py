"""LIBSVM text from a matrix: the shortest decimals that read back to the same bits."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.check import not_empty, real_array, vector
from ..data.sparse import canonical_csr
from ..errors import BadFile, BadInput


def save_libsvm(path: str | Path, X: Any, y: Any, *, force: bool = False) -> None:
    """Write rows and labels to a new file, whole or not at all; `force` replaces an old one.

    Stored zeros are kept, and so is the sign of −0. The text does not tell the number of columns: give `n_features`
    when reading it.
    """
    indptr, indices, values = _rows(X)
    labels = vector(y, "y", len(indptr) - 1)
    target = Path(path)
    new = target.with_name(f".new-{secrets.token_hex(8)}")
    try:
        with open(new, "x", encoding="ascii", newline="\n") as file:
            for i, label in enumerate(labels.tolist()):
                span = slice(indptr[i], indptr[i + 1])
                pairs = zip(indices[span].tolist(), values[span].tolist(), strict=True)
                file.write(" ".join([_text(label), *(f"{j + 1}:{_text(v)}" for j, v in pairs)]) + "\n")
            file.flush()
            os.fsync(file.fileno())
        _put(new, target, force)
    finally:
        new.unlink(missing_ok=True)


def _rows(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """indptr, indices and values. The door's checks, but for its limit: every finite number can be written."""
    if hasattr(X, "tocsr"):
        csr = canonical_csr(X, "X")
    else:
        from scipy.sparse import csr_array

        dense = real_array(X, "X")
        if dense.ndim != 2:
            raise BadInput("X", f"expected 2 dimensions, got shape {dense.shape}")
        not_empty(dense.shape, "X")
        csr = csr_array(dense)
    values = real_array(csr.data, "X").astype(np.float64, copy=False)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row = int(np.searchsorted(csr.indptr, bad[0], side="right")) - 1
        raise BadInput("X", f"is {values[bad[0]]}", row=row, column=int(csr.indices[bad[0]]))
    return csr.indptr, csr.indices, values


def _put(new: Path, target: Path, force: bool) -> None:
    """Give the file its name; an old one stays unless `force`."""
    if not force:
        with suppress(OSError):  # there is one, or the file system has no links
            return os.link(new, target)  # in one step: nobody comes between the look and the name
        if os.path.lexists(target):
            raise BadFile(target, "exists already: force=True replaces it")
    os.replace(new, target)


def _text(number: float) -> str:
    return repr(number).removesuffix(".0")
