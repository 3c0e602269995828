"""Writing of shards: one folder of arrays for each, whose files are streamed and digested as rows come."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import zarr_files as zarr
from .block import Block
from .manifest import Manifest, ShardFacts, Written

_ANNDATA, _CSR, _FRAME = ("anndata", "0.1.0"), ("csr_matrix", "0.1.0"), ("dataframe", "0.2.0")


def shard_name(k: int) -> str:
    return f"shard-{k:05d}"


class ArrayWriter:
    """An array that grows along its first dimension, with its digest."""

    def __init__(self, folder: Path, dtype: Any, width: int | None = None) -> None:
        self.folder, self.dtype, self.width = folder, np.dtype(dtype), width
        self.length, self.crc, self.bytes = 0, 0, 0
        self.file = folder / zarr.chunk(1 if width is None else 2)
        self.file.parent.mkdir(parents=True)
        self._out = open(self.file, "wb")

    def add(self, values: NDArray[Any]) -> None:
        raw = np.ascontiguousarray(values, self.dtype).reshape(-1).view(np.uint8).data
        self._out.write(raw)
        self.length, self.bytes, self.crc = self.length + len(values), self.bytes + len(raw), zlib.crc32(raw, self.crc)

    def close(self, files: dict[str, Written], base: Path) -> None:
        """End the file, and write what it holds."""
        self._out.close()
        files[self.file.relative_to(base).as_posix()] = Written(self.bytes, self.crc)
        shape = (self.length,) if self.width is None else (self.length, self.width)
        put(self.folder, zarr.array(shape, self.dtype), files, base)


class ShardWriter:
    """One shard as a group that anndata opens: X, and in obs the place of every row in the input, `y` and `weight`."""

    def __init__(self, folder: Path, first: Block, d: int, *, ones: bool, index: Any, labels: Any) -> None:
        if folder.exists():
            shutil.rmtree(folder)
        self.folder, self.d, self.ones, self.norm2, self.bytes = folder, d, ones, 0.0, 0
        self.csr = first.indices is not None
        X = folder / "X"
        self._data = (
            None if ones else ArrayWriter(X / "data" if self.csr else X, first.data.dtype, None if self.csr else d)
        )
        self._indices = ArrayWriter(X / "indices", index) if self.csr else None
        self._indptr = ArrayWriter(X / "indptr", np.int64) if self.csr else None
        if self._indptr is not None:
            self._indptr.add(np.zeros(1, np.int64))
        self._dtype, self.entries, self.rows = first.data.dtype, 0, 0
        self._obs = {"place": ArrayWriter(folder / "obs" / "place", np.int64)}
        if first.labels is not None:
            self._obs["y"] = ArrayWriter(folder / "obs" / "y", labels)
        if first.weights is not None:
            self._obs["weight"] = ArrayWriter(folder / "obs" / "weight", first.data.dtype)

    def add(self, block: Block) -> None:
        if not block.rows:
            return
        self.norm2 = max(self.norm2, float(block.norms2().max()))
        if self._indices is not None and self._indptr is not None:
            assert block.indices is not None  # All blocks of a shard are of one kind.
            self._indices.add(block.indices)
            self._indptr.add(self.entries + block.indptr[1:])
        if self._data is not None:
            self._data.add(block.data)
        self.entries, self.rows = self.entries + block.entries, self.rows + block.rows
        self._obs["place"].add(block.places)
        for name, values in (("y", block.labels), ("weight", block.weights)):
            if values is not None:
                self._obs[name].add(values)

    @property
    def size(self) -> int:
        """Bytes of the arrays so far"""
        return sum(w.bytes for w in (self._data, self._indices, self._indptr, *self._obs.values()) if w is not None)

    def close(self) -> ShardFacts:
        files: dict[str, Written] = {}
        base, shape = self.folder, [self.rows, self.d]
        if self._data is None:  # Without its chunk the array is filled with ones.
            put(base / "X" / "data", zarr.array((self.entries,), self._dtype, fill=1), files, base)
        for writer in (self._data, self._indices, self._indptr, *self._obs.values()):
            if writer is not None:
                writer.close(files, base)
        if self.csr:
            put(base / "X", zarr.group(_said(_CSR) | {"shape": shape}), files, base)
        columns = [name for name in self._obs if name != "place"]
        put(base / "obs", zarr.group(_said(_FRAME) | {"_index": "place", "column-order": columns}), files, base)
        put(base, zarr.group(_said(_ANNDATA)), files, base)
        return ShardFacts(base.name, self.rows, self.entries, self.norm2, files)


def _said(encoding: tuple[str, str]) -> dict[str, Any]:
    return {"encoding-type": encoding[0], "encoding-version": encoding[1]}


def put(folder: Path, text: bytes, files: dict[str, Written], base: Path) -> None:
    """Write the zarr.json of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / zarr.META
    path.write_bytes(text)
    files[path.relative_to(base).as_posix()] = Written(len(text), zlib.crc32(text))


def write_root(folder: Path, manifest: Manifest) -> None:
    """The root, last of all: with it the set is complete."""
    put(folder, manifest.root(), {}, folder)


def write_arrays(folder: Path, name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Written]:
    """A group of arrays in the root, with the digests of its files"""
    files: dict[str, Written] = {}
    for key, values in arrays.items():
        writer = ArrayWriter(folder / name / key, values.dtype)
        writer.add(values)
        writer.close(files, folder)
    put(folder / name, zarr.group({}), files, folder)
    return files
