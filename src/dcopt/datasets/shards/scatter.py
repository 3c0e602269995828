"""The first pass of packing: rows go to buckets by a pseudo-random key. It is journalled, so that it can go on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...draw import Draw
from ...errors import BadFile
from .block import Block
from .labels import Labels
from .set_writer import put_aside

_CHUNK = 4096  # rows whose keys are drawn together
_EVERY = 15.0  # seconds between two journals
_ROWS, _ENTRIES = 2**16, 2**21  # of a bucket that are gathered at once
_WITHIN = 2**40  # Keys within buckets are draws of steps from here on, those of buckets are draws before it.


class Files(NamedTuple):
    """The types of the arrays of a bucket; None: not there."""

    data: str
    indices: str | None
    labels: str | None
    weights: str | None
    width: int  # of a dense row

    @classmethod
    def of(cls, block: Block) -> Files:
        dense = block.indices is None
        labels, weights = (None if values is None else "float64" for values in (block.labels, block.weights))
        width = block.data.shape[1] if dense else 0
        return cls(block.data.dtype.name, None if dense else "int64", labels, weights, width)


class Slice(NamedTuple):
    """Rows of a bucket in their order"""

    bucket: int
    start: int
    stop: int


class Scatter:
    """Buckets in a folder: what has been put into them, and how far the input has been read.

    `cursor` is where the source goes on, n the number of rows so far, `rows` and `entries` are those of every bucket.
    Of all CSR rows so far, `low` and `high` are the least and the largest column number as the input counts them.
    `ones`: the rows are CSR, and all stored values are 1.
    """

    def __init__(self, folder: Path, asked: dict[str, Any]) -> None:
        self.folder, self.asked, self.journal = folder, asked, folder / "journal.json"
        self.cursor, self.n, self.done = 0, 0, False
        self.files: Files | None = None
        self.rows, self.entries = list[int](), list[int]()
        self.low, self.high, self.ones = 2**62, -1, True
        self.labels = Labels()
        folder.mkdir(parents=True, exist_ok=True)
        self._said = time.monotonic()
        if self.journal.exists():
            self._go_on(json.loads(self.journal.read_text()))
        else:
            self.write_journal()

    # ---- the journal

    def _go_on(self, said: dict[str, Any]) -> None:
        if said["boot"] != _boot():
            raise BadFile(self.folder, f"the machine was restarted while this was packed: remove {self.folder}")
        if said["asked"] != self.asked:
            differs = [key for key in said["asked"] if said["asked"][key] != self.asked.get(key)]
            hint = f"remove {self.folder}, or give what was given then"
            raise BadFile(self.folder, f"packing was begun here with other {', '.join(differs)}: {hint}")
        self.cursor, self.n, self.done = said["cursor"], said["n"], said["done"]
        self.rows, self.entries = said["rows"], said["entries"]
        self.low, self.high, self.ones = said["low"], said["high"], said["ones"]
        self.files = None if said["files"] is None else Files(*said["files"])
        self.labels.restore(said["labels"])
        if self.done:
            return  # Buckets that became shards are gone.
        arrays = ((k, name, told) for k in range(len(self.rows)) for name, told in self._arrays(k).items())
        sizes = {self._path(k, name): count * np.dtype(dtype).itemsize for k, name, (dtype, count) in arrays}
        # What was written after the journal is written again, also to buckets that the journal does not know yet.
        for path in self.folder.glob("bucket-*"):
            os.truncate(path, min(sizes.get(path, 0), path.stat().st_size))
        for path, size in sizes.items():
            if size and not (path.exists() and path.stat().st_size == size):
                raise BadFile(path, f"is shorter than the journal says: remove {self.folder} and begin again")

    def write_journal(self) -> None:
        said = {
            "asked": self.asked, "boot": _boot(), "cursor": self.cursor, "n": self.n, "done": self.done,
            "rows": self.rows, "entries": self.entries, "low": self.low, "high": self.high, "ones": self.ones,
            "files": self.files, "labels": self.labels.plain(),
        }  # fmt: skip
        put_aside(self.journal, json.dumps(said).encode())
        self._said = time.monotonic()

    def _path(self, k: int, name: str) -> Path:
        return self.folder / f"bucket-{k:05d}.{name}"

    def _arrays(self, k: int) -> dict[str, tuple[str, int]]:
        """The files of a bucket: their types and numbers of entries"""
        if self.files is None:
            return {}
        rows, found = self.rows[k], {"data": (self.files.data, self.entries[k])}
        if self.files.indices is not None:
            found |= {"indices": (self.files.indices, self.entries[k]), "sizes": ("int64", rows)}
        for name in ("labels", "weights"):
            if getattr(self.files, name) is not None:
                found[name] = (getattr(self.files, name), rows)
        return found | {"places": ("int64", rows)}

    # ---- in

    def begin(self, block: Block, buckets: int) -> None:
        self.files, self.rows, self.entries = Files.of(block), [0] * buckets, [0] * buckets

    def add(self, block: Block, buckets: NDArray[np.int64], cursor: int) -> None:
        """Put every row into its bucket; `cursor` is where the input goes on."""
        if Files.of(block) != self.files:
            raise BadFile(self.folder, f"a block of rows is {Files.of(block)}, and the first one was {self.files}")
        order = np.argsort(buckets, kind="stable")
        block, ends = block.take(order), np.searchsorted(buckets[order], np.arange(len(self.rows) + 1))
        for k in np.flatnonzero(np.diff(ends)).tolist():
            self._append(k, block.cut(int(ends[k]), int(ends[k + 1])))
        if block.indices is not None and block.entries:
            self.low, self.high = min(self.low, int(block.indices.min())), max(self.high, int(block.indices.max()))
        self.ones = self.ones and block.indices is not None and bool(np.all(block.data == 1.0))
        self.n, self.cursor = self.n + block.rows, cursor
        if time.monotonic() - self._said > _EVERY:
            self.write_journal()

    def _append(self, k: int, part: Block) -> None:
        assert self.files is not None  # `begin` was called.
        arrays = part._asdict()
        self.rows[k], self.entries[k] = self.rows[k] + part.rows, self.entries[k] + part.entries
        for name, (dtype, _) in self._arrays(k).items():
            with open(self._path(k, name), "ab") as out:
                out.write(np.ascontiguousarray(arrays[name], dtype).reshape(-1).view(np.uint8).data)

    def end(self) -> None:
        self.done = True
        self.write_journal()

    def in_order(self, rows: int, size: float) -> NDArray[np.int64]:
        """All into the last bucket, or into a new one where the last is full."""
        if self._bytes(len(self.rows) - 1) >= size:
            self.rows.append(0)
            self.entries.append(0)
        return np.full(rows, len(self.rows) - 1, np.int64)

    def _bytes(self, k: int) -> int:
        """What the rows of a bucket take in a shard, about"""
        assert self.files is not None  # There are rows.
        each = np.dtype(self.files.data).itemsize + (0 if self.files.indices is None else 4)
        return self.entries[k] * each + self.rows[k] * 24

    # ---- out

    def plan(self, size: float) -> list[list[Slice]]:
        """The slices of buckets that make up each shard, of about `size` bytes.

        A bucket of one and a half shards or more is cut into equal parts, each of which is a shard of its own. Smaller
        buckets are put together in their order, as many as fit into a shard.
        """
        shards, room = list[list[Slice]](), 0.0  # bytes that are left in the last shard
        for k in range(len(self.rows)):
            rows, own = self.rows[k], self._bytes(k)
            parts = max(1, min(round(own / size), rows))
            if parts > 1 or not shards or own > room:
                room = size if parts == 1 else 0.0
                shards += [[] for _ in range(parts)]
            for part, shard in enumerate(shards[-parts:]):
                shard.append(Slice(k, rows * part // parts, rows * (part + 1) // parts))
            room -= own
        filled = ([one for one in slices if one.stop > one.start] for slices in shards)
        return [slices for slices in filled if slices]

    def rows_of(self, part: Slice, seed: int | None) -> Iterator[Block]:
        """The rows of a slice, some at a time, shuffled if there is a seed"""
        whole = self._mapped(part.bucket)
        order = np.arange(whole.rows) if seed is None else order_within(seed, part.bucket, whole.rows)
        step = max(1, min(_ROWS, _ENTRIES * whole.rows // max(whole.entries, 1)))
        for start in range(part.start, part.stop, step):
            yield whole.take(order[start : min(start + step, part.stop)])

    def _mapped(self, k: int) -> Block:
        assert self.files is not None  # There are rows.
        found: dict[str, Any] = dict.fromkeys(Block._fields)
        for name, (dtype, count) in self._arrays(k).items():
            found[name] = _map(self._path(k, name), dtype, count)
        if self.files.indices is None:
            found["data"] = found["data"].reshape(-1, self.files.width)
        return Block(**found)

    def remove(self, k: int) -> None:
        for name in self._arrays(k):
            self._path(k, name).unlink(missing_ok=True)


def _map(path: Path, dtype: str, count: int) -> NDArray[Any]:
    return np.memmap(path, dtype, "r", shape=(count,)) if count else np.zeros(0, dtype)


def _boot() -> str | None:
    """Which start of the machine this is. Buckets are not flushed to the disk, and may be torn after a power cut."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def bucket_of(seed: int, first: int, rows: int, buckets: int) -> NDArray[np.int64]:
    """The buckets of rows first, first + 1, …: a function of the seed and of the number of a row alone"""
    chunks = range(first // _CHUNK, (first + rows - 1) // _CHUNK + 1)
    keys = np.concatenate([Draw(seed, chunk).each(_CHUNK) for chunk in chunks])
    skip = first - chunks[0] * _CHUNK
    return np.asarray(keys[skip : skip + rows] * buckets, np.int64)


def order_within(seed: int, bucket: int, rows: int) -> NDArray[np.int64]:
    """A random order of the rows of a bucket"""
    return np.argsort(Draw(seed, _WITHIN + bucket).each(rows), kind="stable")
