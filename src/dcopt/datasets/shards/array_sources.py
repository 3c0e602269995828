"""Arrays in files as sources: SciPy's and NumPy's .npz, AnnData's .h5ad, and Zarr stores in AnnData's encoding."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...errors import BadFile, BadSettings
from .sources import ENTRIES, Piece, block_of, stamp


class _Stream:
    """An array in a .npz file, read from its beginning to its end: the file is a zip, which cannot be mapped."""

    def __init__(self, path: str, archive: zipfile.ZipFile, name: str, stack: ExitStack) -> None:
        self.path, self.name = path, name
        try:
            self._in = stack.enter_context(archive.open(f"{name}.npy"))
            version = np.lib.format.read_magic(self._in)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, fortran, self.dtype = read(self._in)
        except (KeyError, ValueError, zipfile.BadZipFile) as why:
            raise BadFile(path, f"its array {name!r} cannot be read ({str(why)[:80]})") from None
        if self.dtype.hasobject or (fortran and len(self.shape) > 1):
            raise BadFile(path, f"its array {name!r} holds objects, or is in column order")

    def next(self, count: int) -> Any:
        """The next entries, or rows"""
        width = int(np.prod(self.shape[1:], dtype=np.int64))
        size = count * width * self.dtype.itemsize
        try:
            raw = self._in.read(size)
        except (zipfile.BadZipFile, EOFError, OSError) as why:
            raise BadFile(self.path, f"its array {self.name!r} cannot be read ({str(why)[:80]})") from None
        if len(raw) != size:
            raise BadFile(self.path, f"its array {self.name!r} is cut short")
        return np.frombuffer(raw, self.dtype).reshape(count, *self.shape[1:])


class NpzSource:
    """A .npz file: `X` or what scipy.sparse.save_npz writes, with `y` and `sample_weight` if they are there."""

    d: int | None
    zero_based: bool | None = True

    def __init__(self, path: str) -> None:
        self.path, self._stamp = path, stamp(path)
        self.about: dict[str, Any] = {}
        try:
            with zipfile.ZipFile(path) as archive, ExitStack() as stack:
                self.names = {name.removesuffix(".npy") for name in archive.namelist()}
                self.sparse = "indptr" in self.names
                if self.sparse:
                    there = "format" in self.names
                    form = _Stream(path, archive, "format", stack).next(1).ravel()[0] if there else "csr"
                    if form not in (b"csr", "csr"):
                        raise BadFile(path, f"holds a sparse matrix in the format {form!r}: save it as CSR")
                    self.n, width = (int(v) for v in _Stream(path, archive, "shape", stack).next(2))
                    self.indptr = _Stream(path, archive, "indptr", stack).next(self.n + 1).astype(np.int64)
                elif "X" in self.names:
                    shape = _Stream(path, archive, "X", stack).shape
                    if len(shape) != 2:
                        raise BadFile(path, f"its array 'X' has shape {shape}: expected two dimensions")
                    self.n, width = shape
                else:
                    raise BadFile(path, "has no array 'X', and is no matrix of scipy.sparse.save_npz")
        except zipfile.BadZipFile:
            raise BadFile(path, "is no .npz file") from None
        self.d, self.shape = width, (self.n, width)
        if self.sparse and (self.indptr[0] != 0 or np.any(np.diff(self.indptr) < 0)):
            raise BadFile(path, "malformed CSR: indptr decreases, or does not begin at 0")

    def identity(self) -> Any:
        return ["npz", *self._stamp]

    def pieces(self, cursor: int, first: int) -> Iterator[Piece]:
        from scipy.sparse import csr_matrix

        with zipfile.ZipFile(self.path) as archive, ExitStack() as stack:
            arrays = {name: _Stream(self.path, archive, name, stack) for name in self._wanted()}
            for start, stop in _cuts(self.indptr if self.sparse else None, *self.shape):
                if self.sparse:
                    own = self.indptr[start : stop + 1] - self.indptr[start]
                    pair = (arrays[name].next(int(own[-1])) for name in ("data", "indices"))
                    X: Any = csr_matrix((*pair, own), shape=(stop - start, self.shape[1]))
                else:
                    X = arrays["X"].next(stop - start)
                y, weights = (
                    arrays[name].next(stop - start) if name in arrays else None for name in ("y", "sample_weight")
                )
                if start >= cursor:
                    yield Piece(block_of(X, y, weights, first), stop, stop / self.n)
                    first += stop - start

    def _wanted(self) -> list[str]:
        return [name for name in ("data", "indices", "X", "y", "sample_weight") if name in self.names]


class AnnDataSource:
    """X, or a layer, of a .h5ad file (h5py) or a Zarr store (zarr), compressed or not; labels are a column of obs."""

    d: int | None
    zero_based: bool | None = True

    def __init__(self, path: str, target: str | None, weights: str | None = None) -> None:
        self.path, self._stamp = path, stamp(path)
        self.about: dict[str, Any] = {}
        self._root = _opened(path)
        X = self._root["X"] if "X" in self._root else self._root
        kind = X.attrs.get("encoding-type", "array")
        if kind not in ("csr_matrix", "array"):
            raise BadFile(path, f"X is in the encoding {str(kind)[:40]!r}: expected csr_matrix or array")
        self._X, self.sparse = X, kind == "csr_matrix"
        self.n, width = (int(v) for v in (X.attrs["shape"] if self.sparse else X.shape))
        self.d, self.shape = width, (self.n, width)
        self.indptr = np.asarray(X["indptr"][:], np.int64) if self.sparse else None
        self._target, self._weights = self._column(target), self._column(weights)
        if target is not None:
            self.about["reading"] = {"target": target}

    def _column(self, name: str | None) -> Any:
        if name is None:
            return None
        obs = self._root["obs"] if "obs" in self._root else {}
        if name not in obs:
            there = ", ".join(str(key) for key in obs if not str(key).startswith("_"))
            raise BadSettings("target", name, f"a column of obs in {self.path}: {there[:200]}")
        column = obs[name]
        if "categories" not in column:
            return lambda start, stop: np.asarray(column[start:stop])
        words = np.asarray(column["categories"][:]).astype(str)
        return lambda start, stop: words[np.asarray(column["codes"][start:stop])]

    def identity(self) -> Any:
        return ["AnnData", *self._stamp, self.about]

    def pieces(self, cursor: int, first: int) -> Iterator[Piece]:
        from scipy.sparse import csr_matrix

        for start, stop in _cuts(self.indptr, *self.shape):
            if start < cursor:
                continue
            if self.indptr is not None:
                begin, end = int(self.indptr[start]), int(self.indptr[stop])
                pair = (np.asarray(self._X[name][begin:end]) for name in ("data", "indices"))
                X: Any = csr_matrix((*pair, self.indptr[start : stop + 1] - begin), shape=(stop - start, self.shape[1]))
            else:
                X = np.asarray(self._X[start:stop])
            y, weights = (None if part is None else part(start, stop) for part in (self._target, self._weights))
            yield Piece(block_of(X, y, weights, first), stop, stop / self.n)
            first += stop - start


def _opened(path: str) -> Any:
    """The root of the store, as h5py or zarr gives it"""
    import os

    module = "zarr" if os.path.isdir(path) else "h5py"
    if find_spec(module) is None:
        raise BadFile(path, f"needs {module}: pip install {module}")
    try:
        if module == "zarr":
            import zarr

            return zarr.open_group(path, mode="r")
        import h5py

        return h5py.File(path, "r")
    except Exception as why:  # Each library has its own errors.
        raise BadFile(path, f"cannot be opened by {module} ({str(why)[:80]})") from None


def _cuts(indptr: Any, n: int, d: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about ENTRIES entries each"""
    if indptr is None:
        step = max(ENTRIES // max(d, 1), 1)
        yield from ((start, min(start + step, n)) for start in range(0, n, step))
        return
    start = 0
    while start < n:
        stop = int(np.searchsorted(indptr, indptr[start] + ENTRIES, side="right")) - 1
        stop = min(max(stop, start + 1), n, start + ENTRIES)
        yield start, stop
        start = stop
