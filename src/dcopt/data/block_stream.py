"""A stream of batches of any structure: blocks of any sizes are cut into batches of the size asked for, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..errors import BadInput, a_kind
from . import batches
from .stream import Waiting


class BlockStream(Waiting):
    """Samples in order from an iterable of blocks, or from a function draw(b) -> block.

    A block is what fn of `dcopt.components` gets as batch: an array, a CSR matrix, a tensor, or a tuple or a dict of
    these. The first block fixes the structure, the shapes of samples and their types. A function is asked for exactly
    the samples that are needed; it may give fewer or more, and ends the stream with None, no rows or StopIteration.
    """

    def __init__(self, source: Any) -> None:
        super().__init__(_reader(source))
        self._form: Any = None

    def take(self, b: int) -> Any:
        """The next b samples as one batch; raises OutOfData, with nothing taken, if there are fewer."""
        while self._have < b:
            self.between()
            self._add(self._pull(b))
        pieces, need = [], b
        while need:
            block, start = self._parts[0], self._at
            size = batches.count(block)
            stop = min(size, start + need)
            pieces.append(batches.cut(block, start, stop))
            need -= stop - start
            self._at = stop
            if stop == size:
                self._parts.popleft()
                self._at = 0
        self._have -= b
        self.drawn += b
        return batches.join(pieces)

    def _add(self, block: Any) -> None:
        try:
            if _rows(block) == 0:  # Empty blocks are passed over.
                return
            block = batches.mapped(_copied, batches.checked(block, "block"))
            form = batches.form(block)
            if self._form is None:
                self._form = form
            if form != self._form:
                raise BadInput("block", f"has samples of the form {form}, those of the first block have {self._form}")
        except BadInput as error:
            self.broken = BadInput(f"block {self.blocks - 1}", error.reason)
            raise self.broken from None
        self._parts.append(block)
        self._have += batches.count(block)


def _copied(leaf: Any) -> Any:
    """A copy, so that the source may reuse its buffers."""
    kind = batches.kind_of(leaf)
    if kind == "object":
        raise BadInput("block", f"{a_kind(leaf)}: give arrays, CSR matrices, tensors, or tuples and dicts of them")
    return leaf.clone() if kind == "torch" else leaf if kind == "jax" else leaf.copy()


def _reader(source: Any) -> Callable[[int], Any]:
    """A function that gets the next block, given the number of samples that are needed."""
    if isinstance(source, Iterable):
        blocks: Iterator[Any] = iter(source)
        return lambda need: next(blocks)

    def drawn(need: int) -> Any:
        block = source(need)
        if block is None or _rows(block) == 0:
            raise StopIteration
        return block

    return drawn


def _rows(block: Any) -> int | None:
    """The number of rows of the first part, before the block is checked; None where it cannot be told."""
    for leaf in batches.leaves(block):
        shape = getattr(leaf, "shape", None)
        return int(shape[0]) if isinstance(shape, tuple) and len(shape) else None
    return None


def is_stream(data: Any) -> bool:
    """Whether data comes in blocks: a function, a list of blocks, or an iterable that cannot give rows by number."""
    if isinstance(data, (tuple, dict, np.ndarray)) or callable(getattr(data, "take", None)) or hasattr(data, "shape"):
        return False
    return isinstance(data, Iterable) or callable(data)
