"""LIBSVM text: read by scikit-learn's compiled loop where the file is plain, otherwise with care; kept in the cache."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import BadFile, BadSettings, require, require_count
from . import cache as kept
from . import libsvm_strict
from .parsed import D_LIMIT, Parsed, scaled_rows, too_many
from .text import BLOCK, Odd, Progress, Text


class Loaded(tuple[Any, Any]):
    """The pair (X, y), and what else was found.

    `sha256` of the text (None for a part of it, and for sets without one), `dropped`: the number of values with an
    index beyond n_features that were left out, `qid`: the query numbers, if asked for, `zero_based`: whether the file
    counts from 0.
    """

    sha256: str | None
    dropped: int
    qid: Any
    zero_based: bool

    def __new__(
        cls, X: Any, y: Any, sha256: str | None = None, dropped: int = 0, qid: Any = None, zero_based: bool = False
    ) -> Loaded:
        self = super().__new__(cls, (X, y))
        self.sha256, self.dropped, self.qid, self.zero_based = sha256, dropped, qid, zero_based
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:  # copies and pickles keep the fields
        return (*self, self.sha256, self.dropped, self.qid, self.zero_based)


def load_libsvm(
    path: str | Path,
    *,
    n_features: int | None = None,
    normalize: bool = False,
    extra: Literal["refuse", "drop"] = "refuse",
    query_id: bool = False,
    zero_based: bool | Literal["auto"] = False,
    byte_range: tuple[int, int] | None = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> Loaded:
    """(X, y) from a LIBSVM text file, plain or compressed with bzip2 or gzip: float64 CSR and the labels of the file.

    Indices start at 1; with `zero_based=True` at 0, as scikit-learn writes them; with `zero_based="auto"` at 0 if the
    file has an index 0 (`.zero_based` of the result), which a sparse file need not have. A malformed file is refused by
    `BadFile` with line, column and reason. Files often stop before the last feature: give `n_features` when it is
    known, and the same for training and test. Features beyond it are counted and refused; `extra="drop"` leaves them
    out and says how many there were (`.dropped` of the result). Without `n_features`, at most 10^8 features are
    believed. `normalize` scales every row to ‖a_i‖ = 1 (empty rows stay empty). `query_id` reads `qid:` numbers (`.qid`
    of the result). `byte_range` = (start, stop) reads the lines of a plain file that begin in these bytes, and needs
    `n_features`: ranges that touch add up to the whole.

    After the first reading the arrays are kept in the cache (the folder DCOPT_CACHE; empty: none) and are mapped into
    memory, as long as the file's path, size and times stay what they were. `cache=False` reads the text. `progress` is
    called while it is read, with the share of the file that is done. Text of more bytes than the environment variable
    DCOPT_MAX_BYTES says (by default a quarter of the memory; compressed text also 200 times the size of the file) is
    refused.
    """
    if n_features is not None:
        require_count("n_features", n_features)
    require(extra in ("refuse", "drop"), "extra", extra, '"refuse" or "drop"')
    if (extra == "drop" or byte_range is not None) and n_features is None:
        raise BadSettings("n_features", None, "a number of features, with extra='drop' and with byte_range")
    if byte_range is not None:
        require(len(byte_range) == 2, "byte_range", byte_range, "a pair (start, stop)")
        for name, at in zip(("start", "stop"), byte_range, strict=True):
            require_count(f"byte_range {name}", at, 0)
    require(zero_based in (True, False, "auto"), "zero_based", zero_based, 'True, False or "auto"')
    whole = not query_id and byte_range is None
    home = kept.home() if cache and whole and zero_based is not True else None  # an entry counts from 1
    parsed = kept.of_file(home, path)
    if parsed is None:
        parsed = parse(
            path, n_features=n_features, query_id=query_id, zero_based=zero_based, span=byte_range, progress=progress
        )
        kept.keep_file(None if parsed.zero_based else home, path, parsed)
    return finish(path, parsed, n_features, drop=extra == "drop", normalize=normalize, part=byte_range)


def parse(
    path: str | Path,
    *,
    n_features: int | None = None,
    query_id: bool = False,
    zero_based: bool | Literal["auto"] = False,
    span: tuple[int, int] | None = None,
    progress: Progress | None = None,
) -> Parsed:
    """All rows of the file, from whichever reader can take it."""
    parsed = None if query_id else _fast(path, zero_based, span, progress)
    if parsed is None:
        from_zero = bool(zero_based)  # "auto": read as if from 0, and moved by one if no index is 0
        options: Any = {"query_id": query_id, "span": span, "zero_based": from_zero, "progress": progress}
        parsed = libsvm_strict.read(path, n_features=n_features, **options)[0]
        if zero_based == "auto" and (not parsed.indices.size or parsed.indices.min() > 0):
            parsed = parsed._replace(indices=parsed.indices - 1, zero_based=False)
    if not parsed.labels.size and span is None:
        raise BadFile(path, "is empty: there is no row in it")
    return parsed.narrow()


def _fast(
    path: str | Path, zero_based: bool | Literal["auto"], span: tuple[int, int] | None, progress: Progress | None
) -> Parsed | None:
    """scikit-learn's loop on a file of nothing but numbers; None if it cannot, or is not to be believed."""
    from sklearn.datasets import load_svmlight_file

    with Text(path, plain=True, span=span, progress=progress) as text:
        try:
            X, y = load_svmlight_file(io.BufferedReader(text, BLOCK), zero_based=True)
        except BadFile:
            raise
        except (Odd, ValueError, OverflowError):
            return None
        zero = bool(X.indices.size and X.indices.min() == 0)
        if (zero and not zero_based) or not (np.isfinite(X.data).all() and np.isfinite(y).all()):
            return None
        zero = zero or zero_based is True
        indices = X.indices if zero else X.indices - 1
        return Parsed(X.data, indices, X.indptr, y, text.sha256, text.settled, zero_based=zero)


def finish(
    path: str | Path,
    parsed: Parsed,
    n_features: int | None,
    *,
    drop: bool = False,
    normalize: bool = False,
    part: tuple[int, int] | None = None,
) -> Loaded:
    """The matrix with n_features columns: none fewer than the file has, unless they may be dropped."""
    from scipy.sparse import csr_matrix

    dropped = 0
    if n_features is None and parsed.largest > D_LIMIT:
        libsvm_strict.read(path, zero_based=parsed.zero_based)  # says where
        raise BadFile(path, too_many(parsed.largest))
    if n_features is not None and parsed.largest > n_features:
        dropped = int(np.count_nonzero(parsed.indices >= n_features))
        if not drop:
            again: Any = {"query_id": parsed.qid is not None, "span": part, "zero_based": parsed.zero_based}
            place = libsvm_strict.read(path, n_features=n_features, **again)[1]
            line, column = place or (None, None)
            reason = (
                f"{dropped:,} values have an index beyond n_features = {n_features:,} (the largest is "
                f"{parsed.largest - parsed.zero_based:,}): pass the n_features of all files, or extra='drop' to leave "
                "them out"
            )
            raise BadFile(path, reason, line=line, column=column)
        parsed = parsed.within(n_features)
    d = n_features or parsed.largest
    if not d:
        raise BadFile(path, "no row has a feature: pass n_features")
    shape = (len(parsed.labels), int(d))
    X = csr_matrix((parsed.data, parsed.indices, parsed.indptr), shape=shape, copy=False)
    X.has_sorted_indices = X.has_canonical_format = True  # the readers refuse anything else
    digest = parsed.sha256 if part is None else None
    return Loaded(scaled_rows(X) if normalize else X, parsed.labels, digest, dropped, parsed.qid, parsed.zero_based)
