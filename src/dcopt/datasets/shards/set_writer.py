"""A set of shards while it is written: shard by shard, aside, and renamed when it is whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BadFile
from . import zarr_files as zarr
from .block import Block
from .columns import ColumnSums
from .manifest import Manifest, ShardFacts, Written
from .write import ArrayWriter, ShardWriter, put, shard_name, write_arrays, write_root

_INDEX_LIMIT = 2**31  # Column numbers below it fit in four bytes.
_ONES = 2**20  # ones that are written at once


@dataclass
class SetWriter:
    """Shards in a working folder, which `finish` renames to the target. A second writer goes on after the last shard.

    `aside` is the working folder: it is removed at the end. All blocks have to have the same kind and the same dtype.
    """

    out: Path
    aside: Path
    d: int
    ones: bool = False
    classes: tuple[Any, ...] | None = None
    about: dict[str, Any] = field(default_factory=dict)  # further fields of the manifest

    def __post_init__(self) -> None:
        self.set = self.aside / "set"
        self.set.mkdir(parents=True, exist_ok=True)
        self.shards: list[ShardFacts] = []
        self.columns = ColumnSums()
        self.kept: dict[str, Any] = {"dtype": None, "csr": None, "labels": None, "weights": None}
        while (said := self._facts(len(self.shards))).exists():
            self._restore(json.loads(said.read_text()))

    def _facts(self, k: int) -> Path:
        return self.aside / f"facts-{k:05d}.json"

    def _sums(self, k: int) -> Path:
        return self.aside / f"columns-{k:05d}.npy"

    def _restore(self, said: dict[str, Any]) -> None:
        k = len(self.shards)
        files = {name: Written(*one) for name, one in said["facts"].pop("files").items()}
        self.shards.append(ShardFacts(**said["facts"], files=files))
        self.kept = said["kept"]
        if not self._facts(k + 1).exists():
            self.columns = ColumnSums(np.load(self._sums(k)))

    def shard(self, blocks: Iterable[Block]) -> None:
        """Write the next shard. Killed before its end, it is written again."""
        k, writer = len(self.shards), None
        for block in blocks:
            kept = {
                "dtype": block.data.dtype.name, "csr": block.indices is not None,
                "labels": block.labels is not None, "weights": block.weights is not None,
            }  # fmt: skip
            self.kept = kept if self.kept["dtype"] is None else self.kept
            if kept != self.kept:
                raise BadFile(self.out, f"a block of rows has {kept}, and the first one has {self.kept}")
            if writer is None:
                index = np.int32 if self.d < _INDEX_LIMIT else np.int64
                real = self.classes is None or len(self.classes) == 2
                labels = block.data.dtype if real else np.int64
                writer = ShardWriter(
                    self.set / shard_name(k), block, self.d, ones=self.ones, index=index, labels=labels
                )
            writer.add(block)
            self.columns.add(block)
        if writer is None:
            return
        facts = writer.close()
        new = self._sums(k).with_suffix(".new.npy")
        np.save(new, self.columns.sums)
        os.replace(new, self._sums(k))
        put_aside(self._facts(k), json.dumps({"facts": asdict(facts), "kept": self.kept}).encode())
        self._sums(k - 1).unlink(missing_ok=True)
        self.shards.append(facts)

    def finish(self) -> Manifest:
        """The columns' statistics and the root, then the rename."""
        if not self.shards:
            raise BadFile(self.out, "there is no row to write")
        n = sum(s.rows for s in self.shards)
        files = write_arrays(_emptied(self.set / "columns"), "", self.columns.table(n, self.d))
        files = {f"columns/{name}": one for name, one in files.items()}
        if self.ones:
            files |= {f"ones/{name}": one for name, one in self._write_ones().items()}
        manifest = Manifest(
            n, self.d, self.kept["dtype"], "csr" if self.kept["csr"] else "dense", sum(s.entries for s in self.shards),
            shards=tuple(self.shards), ones=self.ones, labels=self.kept["labels"], weights=self.kept["weights"],
            classes=self.classes, files=files, **{"seed": None} | self.about,
        )  # fmt: skip
        write_root(self.set, manifest)
        if hasattr(os, "sync"):
            os.sync()  # All files are on the disk before the set has its name.
        os.replace(self.set, self.out)
        shutil.rmtree(self.aside)
        return manifest

    def _write_ones(self) -> dict[str, Written]:
        """The values of the largest shard, which are those of every other shard too."""
        base, files = _emptied(self.set / "ones"), dict[str, Written]()
        writer, left = ArrayWriter(base / "values", self.kept["dtype"]), max(s.entries for s in self.shards)
        while left:
            writer.add(np.ones(min(left, _ONES), self.kept["dtype"]))
            left -= min(left, _ONES)
        writer.close(files, base)
        put(base, zarr.group({}), files, base)
        return files


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def put_aside(path: Path, text: bytes) -> None:
    """A small file, whole or not at all"""
    new = path.with_name(path.name + ".new")
    new.write_bytes(text)
    os.replace(new, path)
