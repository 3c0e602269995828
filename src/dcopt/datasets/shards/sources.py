"""What can be packed: every source yields blocks of rows, and can go on from a cursor that it gave before."""

from __future__ import annotations

import io
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data import check
from ...data.sparse import canonical_csr
from ...errors import BadFile, BadInput
from ..libsvm import parse
from ..text import BLOCK, Text
from .block import Block

SPAN = 2**24  # bytes of text that are parsed together
ENTRIES = 2**21  # entries of a block that comes from arrays
_LONG = 2**50  # more than any cursor within one source


class Piece(NamedTuple):
    """A block, where the source goes on after it, and the share of the source that has been read."""

    block: Block
    cursor: int
    share: float


class Source(Protocol):
    """Rows in blocks. After the last block `about` holds further fields of the manifest and `offset` is known."""

    d: int | None  # None: as many columns as appear
    about: dict[str, Any]
    zero_based: bool | None  # Whether column numbers start at 0; None: by whether one of them is 0.

    def identity(self) -> Any:
        """What has to be the same when packing goes on, as JSON keeps it; None: it cannot go on"""

    def pieces(self, cursor: int, first: int) -> Iterator[Piece]:
        """The blocks from the cursor on, whose first row has the number `first`"""


def stamp(path: str | Path) -> list[Any]:
    """A file as it is now"""
    try:
        said = os.stat(path)
    except OSError as why:
        raise BadFile(path, f"cannot be opened ({why.strerror})") from None
    return [str(Path(path).resolve()), said.st_size, said.st_mtime_ns]


class LibsvmSource:
    """LIBSVM text, some bytes at a time. A compressed file is unpacked into the working folder first."""

    about: dict[str, Any]

    def __init__(self, path: str, folder: Callable[[], Path], zero_based: bool, n_features: int | None) -> None:
        self.path, self._folder, self.d = path, folder, n_features
        self.zero_based = True if zero_based else None
        self.about = {}
        self._stamp = stamp(path)

    def identity(self) -> Any:
        return ["LIBSVM text", *self._stamp, self.zero_based, self.d]

    def pieces(self, cursor: int, first: int) -> Iterator[Piece]:
        path = self._plain()
        size = os.stat(path).st_size
        for start in range(cursor, size, SPAN):
            stop = min(start + SPAN, size)
            try:
                parsed = parse(path, zero_based=True, span=(start, stop))
            except BadFile as why:
                raise BadFile(self.path, why.reason, line=why.line, column=why.column) from None
            rows = len(parsed.labels)
            if rows:
                sizes, places = np.diff(parsed.indptr).astype(np.int64), np.arange(first, first + rows)
                yield Piece(Block(parsed.data, sizes, parsed.indices, parsed.labels, None, places), stop, stop / size)
            first += rows
        if stamp(self.path) != self._stamp:
            raise BadFile(self.path, "changed while it was read")

    def _plain(self) -> str:
        with Text(self.path) as text:
            if text.kind == "plain text":
                return self.path
            unpacked = self._folder() / f"text-{zlib.crc32(str(self._stamp).encode()):08x}"
            if not unpacked.exists():
                new = unpacked.with_suffix(".new")
                with open(new, "wb") as out:
                    shutil.copyfileobj(io.BufferedReader(text, BLOCK), out, BLOCK)
                os.replace(new, unpacked)
            return str(unpacked)


class ChainSource:
    """Sources one after the other, with the same columns; LIBSVM text has as many as appear in any of the files."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources, first = sources, sources[0]
        self.d, self.zero_based, self.about = first.d, first.zero_based, first.about
        for k, one in enumerate(sources):
            if one.d != self.d:
                raise BadInput("source", f"file {k + 1} has {one.d} columns, and the first one has {self.d}")

    def identity(self) -> Any:
        return [source.identity() for source in self.sources]

    def pieces(self, cursor: int, first: int) -> Iterator[Piece]:
        at, inner = divmod(cursor, _LONG)
        for k, source in list(enumerate(self.sources))[at:]:
            for piece in source.pieces(inner, first):
                first += piece.block.rows
                yield Piece(piece.block, k * _LONG + piece.cursor, (k + piece.share) / len(self.sources))
            inner = 0


class BlocksSource:
    """The caller's blocks, (X, y) or (X, y, weights) each: packing them cannot go on after a kill."""

    d: int | None
    zero_based: bool | None = True

    def __init__(self, blocks: Iterable[Any]) -> None:
        self.blocks, self.d = blocks, None
        self.about: dict[str, Any] = {}

    def identity(self) -> None:
        return None

    def pieces(self, cursor: int, first: int) -> Iterator[Piece]:
        for number, given in enumerate(self.blocks):
            parts = given if isinstance(given, tuple) else (given,)
            if not 1 <= len(parts) <= 3:
                raise BadInput("source", f"block {number}: expected (X,), (X, y) or (X, y, weights)")
            X, y, weights = (*parts, None, None)[:3]
            block = block_of(X, y, weights, first)
            self.d = X.shape[1] if self.d is None else self.d
            if X.shape[1] != self.d:
                raise BadInput("source", f"block {number} has {X.shape[1]} columns, and the first one has {self.d}")
            yield Piece(block, number + 1, 0.0)
            first += block.rows


def block_of(X: Any, y: Any, weights: Any, first: int) -> Block:
    """Arrays as a block, checked as those of a fit are"""
    if hasattr(X, "tocsr"):
        csr = canonical_csr(X, "X")
        data = check.real_array(csr.data, "X")
        check.finite(data, "X")
        sizes, indices = np.diff(csr.indptr).astype(np.int64), csr.indices
    else:
        data = check.real_array(X, "X")
        if data.ndim != 2:
            raise BadInput("X", f"expected 2 dimensions, got shape {data.shape}")
        check.finite(data, "X")
        sizes = indices = None
    n = int(X.shape[0])
    labels = None if y is None else check.label_array(y, n)
    if weights is not None:
        weights = check.vector(weights, "sample_weight", n)
        if np.any(weights < 0.0):
            raise BadInput("sample_weight", "is negative", row=int(np.flatnonzero(weights < 0.0)[0]))
    return Block(data, sizes, indices, labels, weights, np.arange(first, first + n))
