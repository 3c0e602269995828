"""LIBSVM text from a matrix: the shortest decimals that read back to the same bits."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadFile, BadInput
from .check import vector


def save_libsvm(path: str | Path, X: Any, y: Any, *, force: bool = False) -> None:
    """Write rows and labels to a new file, whole or not at all; `force` replaces an old one.

    Stored zeros are kept, and so is the sign of −0. The text does not tell the number of columns: give `n_features`
    when reading it.
    """
    from scipy.sparse import csr_array

    rows = csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    labels = vector(y, "y", rows.shape[0])
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if bad.size:
        row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        raise BadInput("X", f"is {rows.data[bad[0]]}", row=row, column=int(rows.indices[bad[0]]))
    if not labels.size:
        raise BadInput("X", "has no rows: a file needs one")
    target = Path(path)
    new = target.with_name(f".new-{secrets.token_hex(8)}")
    try:
        with open(new, "x", encoding="ascii", newline="\n") as file:
            for i, label in enumerate(labels.tolist()):
                span = slice(rows.indptr[i], rows.indptr[i + 1])
                pairs = zip(rows.indices[span].tolist(), rows.data[span].tolist(), strict=True)
                file.write(" ".join([_text(label), *(f"{j + 1}:{_text(v)}" for j, v in pairs)]) + "\n")
            file.flush()
            os.fsync(file.fileno())
        _put(new, target, force)
    finally:
        new.unlink(missing_ok=True)


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
