"""A stream of samples: it reads blocks of any size and gives batches of the size asked for, in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, OutOfData, a_kind
from . import check
from .blocks import Block, Form, join, own, plain, seen
from .rows import RowMatrix


class Waiting:
    """Samples that wait in blocks from a source, which gets the number of samples that are needed and gives a block."""

    def __init__(self, source: Callable[[int], Any]) -> None:
        self._next = source
        self.drawn = self.blocks = 0
        self.waiting = False  # Whether the stream is inside the caller's code.
        self.broken: BaseException | None = None  # The last error that came from the source or from a block.
        self.between: Callable[[], None] = nothing  # Called before a block is asked for. A run may end by raising here.
        self._parts: deque[Any] = deque()
        self._have = self._at = 0  # The number of waiting samples, and where they begin in the first block.
        self._ended = False

    def _pull(self, b: int) -> Any:
        """The next block, not yet checked; raises OutOfData if there is none."""
        if self._ended:
            raise OutOfData(b, self._have, self.drawn)
        self.waiting = True
        try:
            block = self._next(b - self._have)
        except StopIteration:
            self._ended = True
            raise OutOfData(b, self._have, self.drawn) from None
        except BaseException as error:
            self.broken = error
            raise
        finally:
            self.waiting = False
        self.blocks += 1
        return block


class Stream(Waiting):
    """Samples in order from an iterable of (X, y) blocks, or from a function draw(b) -> (X, y).

    The first block fixes width, precision and storage (dense or CSR); later ones are brought to that. A block that
    cannot be used raises BadInput and is left out whole, with what came before it untouched; with on_bad="skip" its
    bad rows are left out and counted. A function is asked for exactly the samples that are needed; it may give fewer
    or more, and ends the stream with no rows, None or StopIteration. Empty blocks of an iterable are passed over.
    """

    def __init__(
        self, source: Any, kind: str, classes: Any = None, n_features: int | None = None, on_bad: str = "raise"
    ) -> None:
        super().__init__(_reader(source))
        self.kind, self.on_bad, self.n_features = kind, on_bad, n_features
        self.classes = check.declared(classes, kind)
        self.form: Form | None = None
        self.skipped = 0

    def take(self, b: int) -> tuple[RowMatrix, NDArray[Any]]:
        """The next b samples as a matrix of their own; raises OutOfData, with nothing taken, if there are fewer."""
        while self._have < b:
            self.between()
            self._add(self._pull(b), self.blocks - 1)
        assert self.form is not None
        pieces: list[tuple[Any, int, int]] = []
        labels = []
        need = b
        while need:
            block, start = self._parts[0], self._at
            stop = min(len(block.labels), start + need)
            pieces.append((block.rows, start, stop))
            labels.append(block.labels[start:stop])
            need -= stop - start
            self._at = stop
            if stop == len(block.labels):
                self._parts.popleft()
                self._at = 0
        self._have -= b
        self.drawn += b
        return join(pieces, self.form), np.concatenate(labels)

    def declare(self, classes: NDArray[Any]) -> None:
        """From now on labels come from these classes, those of waiting samples included."""
        self.classes = classes
        waiting, at = list(self._parts), self._at
        self._parts.clear()
        self._have = self._at = 0
        for block in waiting:
            self._add((plain(block, at, self.form), block.labels[at:]), block.number, at)
            at = 0

    # ---- one block

    def _add(self, block: Any, number: int, first: int = 0) -> None:
        """Add all of a block, or raise and add nothing; with "skip", add its good rows."""
        good: list[Block] = []
        try:
            X, y = _pair(block)
            if _count(X):
                self._sift(X, y, number, good)
        except BadInput as error:
            row = None if error.row is None else error.row + first
            self.broken = BadInput(f"block {number}: {error.argument}", error.reason, row=row, column=error.column)
            raise self.broken from None
        self._parts.extend(good)
        self._have += sum(len(part.labels) for part in good)

    def _sift(self, X: Any, y: Any, number: int, good: list[Block]) -> None:
        try:
            rows, form = seen(X)
            form = self.form or form._replace(d=self.n_features or form.d)
            mine = own(rows, form)
            good.append(Block(mine, check.codes(y, rows.shape[0], self.kind, self.classes, form.dtype), number))
            self.form = form
        except BadInput as error:
            if self.on_bad != "skip":
                raise
            n = _count(X)
            if n == 1 or error.row is None or error.reason.startswith("malformed"):
                self.skipped += n
                return
            X, y, half = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X), np.asarray(y), n // 2
            self._sift(X[:half], y[:half], number, good)  # Halve the block until every bad row is alone.
            self._sift(X[half:], y[half:], number, good)


def nothing() -> None:
    """The default for `between`: it does nothing."""


def _reader(source: Any) -> Callable[[int], Any]:
    """A function that gets the next block, given the number of samples that are needed."""
    if isinstance(source, tuple):
        raise BadInput("source", "is a tuple: give a list of blocks, [(X, y), …], or a function draw(b)")
    if isinstance(source, Iterable):
        blocks: Iterator[Any] = iter(source)
        return lambda need: next(blocks)
    if callable(source):
        return lambda need: _some(source(need))
    raise BadInput("source", f"is {a_kind(source)}: give an iterable of blocks (X, y), or a function draw(b)")


def _some(block: Any) -> Any:
    """The block that a function returned; StopIteration if it returned none."""
    if block is None or (isinstance(block, tuple | list) and len(block) == 2 and not _count(block[0])):
        raise StopIteration
    return block


def _pair(block: Any) -> tuple[Any, Any]:
    if not isinstance(block, tuple | list) or len(block) != 2:
        raise BadInput("X, y", f"expected a pair (X, y), got {a_kind(block)}")
    return block[0], block[1]


def _count(X: Any) -> int:
    """The number of rows before the block is checked; 1 where it cannot be read."""
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError):
        return 1
