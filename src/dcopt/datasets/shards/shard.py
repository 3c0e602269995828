"""One shard that is open: its arrays are mapped when they are first used, and checked before they are."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import LIMIT
from ...data.csr import CsrRows
from ...data.dense import DenseRows
from ...data.rows import RowMatrix
from ...errors import BadFile
from . import zarr_files as zarr
from .manifest import ShardFacts, Written

_BLOCK = 2**24  # bytes that are digested at once
_SMALL = zarr.META  # Files that are digested when the set is opened.


class Shard:
    """Rows, labels and weights of one shard. `check`: digest every array when it is used first."""

    def __init__(
        self,
        folder: Path,
        facts: ShardFacts | None,
        d: int,
        check: bool,
        ones: zarr.ArrayFile | None,
        label: str | None,
    ) -> None:
        self.folder, self.facts, self.d, self.check = folder, facts, d, check
        self._given = folder, facts, d, check, ones, label
        self._lock = threading.Lock()
        self._mapped: dict[str, zarr.MappedFile] = {}
        self._rows: RowMatrix | None = None
        if facts is not None:
            check_files(folder, facts.files, folder)
        said = zarr.read_group(folder / "X") if (folder / "X" / "indptr").exists() else None
        self.sparse = said is not None
        names = ("data", "indices", "indptr") if self.sparse else ("",)
        self._arrays = {name or "X": zarr.read_array(folder / "X" / name) for name in names}
        if ones is not None and self._arrays["data"].file is None:
            self._arrays["data"] = ones._replace(shape=self._arrays["data"].shape)
        for name, array in self._arrays.items():
            zarr.check_size(array, folder / "X" / name if self.sparse else folder / "X")
        for key, column in (("y", label), ("weight", "weight")):
            if column is not None and (folder / "obs" / column / zarr.META).exists():
                self._arrays[key] = zarr.read_array(folder / "obs" / column)
                zarr.check_size(self._arrays[key], folder / "obs" / column)
        self.n = self._sized(said)

    def __reduce__(self) -> tuple[Any, ...]:
        return Shard, self._given  # In another process the files are mapped again.

    def _sized(self, said: dict[str, Any] | None) -> int:
        """The number of rows; all arrays have to agree on it."""
        arrays = {name: array.shape for name, array in self._arrays.items()}
        shape = tuple(said.get("shape", ())) if said is not None else arrays["X"]
        dtype = self._arrays["data" if self.sparse else "X"].dtype
        fits = len(shape) == 2 and all(arrays[key] == (shape[0],) for key in ("y", "weight") if key in arrays)
        if self.sparse:
            fits = fits and arrays["indptr"] == (shape[0] + 1,) and arrays["indices"] == arrays["data"]
        if self.facts is not None:
            fits = fits and shape[0] == self.facts.rows
        if not fits:
            raise BadFile(self.folder, f"its arrays do not fit together: {arrays} for X of shape {list(shape)}")
        if shape[1] != self.d:
            raise BadFile(self.folder, f"has {shape[1]} columns, and the set has {self.d}")
        if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise BadFile(self.folder, f"X is of type {dtype}: expected float32 or float64; dcopt pack converts it")
        if self.sparse:
            kinds = {self._arrays[name].dtype for name in ("indices", "indptr")}
            if kinds - {np.dtype(np.int32), np.dtype(np.int64)}:
                raise BadFile(self.folder, "indices and indptr have to be int32 or int64")
        self.dtype = dtype
        return int(shape[0])

    # ---- what is in it

    @property
    def rows(self) -> RowMatrix:
        """X, checked when it is read for the first time"""
        if self._rows is None:
            with self._lock:
                if self._rows is None:
                    self._rows = self._open()
        return self._rows

    def vector(self, key: str) -> NDArray[Any] | None:
        """`y` or `weight`; None if it is not there"""
        if key not in self._arrays:
            return None
        with self._lock:
            values = self._map(key).values
        if values.dtype.kind not in "biuf":
            raise BadFile(self.folder / "obs", f"{key} is of type {values.dtype}: expected numbers")
        return values

    def matrix(self) -> Any:
        """X as NumPy or SciPy knows it, on the mapped arrays"""
        self.rows  # noqa: B018  # It is checked.
        if not self.sparse:
            return self._map("X").values
        from scipy.sparse import csr_matrix

        parts = tuple(self._map(name).values for name in ("data", "indices", "indptr"))
        return csr_matrix(parts, shape=(self.n, self.d), copy=False)

    def places(self) -> NDArray[np.int64]:
        """The numbers of the rows in the input"""
        return np.asarray(zarr.MappedFile(zarr.read_array(self.folder / "obs" / "place")).values)

    def _map(self, key: str) -> zarr.MappedFile:
        if key not in self._mapped:
            self._mapped[key] = zarr.MappedFile(self._arrays[key])
            file = self._arrays[key].file
            if self.check and self.facts is not None and file is not None and self.folder in file.parents:
                name = file.relative_to(self.folder).as_posix()
                check_digest(file, self.facts.files[name])
        return self._mapped[key]

    def _open(self) -> RowMatrix:
        if not self.sparse:
            X = self._map("X").values
            _finite(self.folder / "X", X)
            return DenseRows(X)
        indptr, indices, data = (self._map(name).values for name in ("indptr", "indices", "data"))
        if not data.flags.c_contiguous:  # Every entry is the fill value, of a set that another program wrote.
            data = np.array(data)
        well_formed(self.folder / "X", indptr, indices, self.d)
        _finite(self.folder / "X" / "data", data)
        return CsrRows(indptr, indices, data, self.d, lean=True)

    def in_memory(self) -> Shard:
        """The same, copied into memory"""
        copy = Shard(*self._given)
        copy._mapped = {key: self._map(key).copied() for key in self._arrays}
        return copy

    # ---- reading ahead

    def soon(self) -> None:
        """Ask the system to read the pages, and check them if that is due."""
        for mapped in list(self._mapped.values()):
            mapped.soon()
        self.rows  # noqa: B018  # the first time, its pages are read here

    def forget(self) -> None:
        """Give the pages back: other shards need the room."""
        for mapped in list(self._mapped.values()):
            mapped.forget()

    @property
    def bytes(self) -> int:
        """Of the arrays that a pass reads"""
        return sum(array.size for array in self._arrays.values())


def well_formed(folder: Path, indptr: NDArray[Any], indices: NDArray[Any], d: int) -> None:
    """Refuse arrays for which compiled loops would read outside of theirs."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise BadFile(folder / "indptr", f"decreases, or does not run from 0 to {len(indices)}")
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= d):
        raise BadFile(folder / "indices", f"has a column that is not in [0, {d})")


def _finite(path: Path, values: NDArray[Any]) -> None:
    flat = values.reshape(-1)
    if flat.size and not max(float(flat.max()), -float(flat.min())) <= LIMIT[values.dtype]:
        raise BadFile(path, "has a value that is not finite, or too large")


def check_files(base: Path, files: Any, folder: Path) -> None:
    """What is cheap to check of all files: that they are there, their sizes, and the digests of the small ones."""
    for name, written in files.items():
        path = base / name
        try:
            size = path.stat().st_size
        except OSError:
            raise BadFile(path, "does not exist: the shard is not complete") from None
        if size != written.bytes:
            raise BadFile(path, f"has {size:,} bytes, and {written.bytes:,} were written")
        if path.name == _SMALL:
            check_digest(path, written)


def check_digest(path: Path, written: Written) -> None:
    """Read the file, and compare its digest with the one that was written."""
    crc = 0
    try:
        with open(path, "rb", buffering=0) as file:
            buffer = bytearray(_BLOCK if written.bytes > _BLOCK else max(written.bytes, 1))
            view = memoryview(buffer)
            while size := file.readinto(buffer):
                crc = zlib.crc32(view[:size], crc)
    except OSError as why:
        raise BadFile(path, f"cannot be read ({why})") from None
    if crc != written.crc32:
        raise BadFile(path, "is damaged: it does not have the digest that was written with it")
