"""Zarr v3 on disk, as far as shards need it: groups, and arrays in one chunk of raw bytes. json and mmap are enough.

    folder/zarr.json     {"zarr_format": 3, "node_type": "group" or "array", "attributes": …, …}
    folder/c/0           the bytes of an array of one dimension, folder/c/0/0 of two dimensions

An array without its chunk is filled with its `fill_value`. That is how a matrix of ones leaves its values out.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile

META = "zarr.json"
_MOST_META = 2**26  # bytes of a zarr.json, so that a hostile file cannot exhaust memory
_DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")


class ArrayFile(NamedTuple):
    """An array on disk: what its zarr.json says, and the file with its bytes (None: every entry is `fill`)."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    file: Path | None
    fill: Any
    attributes: Mapping[str, Any]

    @property
    def size(self) -> int:
        """Its bytes"""
        return math.prod(self.shape) * self.dtype.itemsize


def group(attributes: Mapping[str, Any]) -> bytes:
    """The zarr.json of a group"""
    return _text({"zarr_format": 3, "node_type": "group", "attributes": dict(attributes)})


def array(shape: tuple[int, ...], dtype: Any, encoding: tuple[str, str] = ("array", "0.2.0"), fill: float = 0) -> bytes:
    """The zarr.json of an array in one chunk of raw little-endian bytes"""
    dtype = np.dtype(dtype)
    said = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [max(size, 1) for size in shape]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": float(fill) if dtype.kind == "f" else bool(fill) if dtype.kind == "b" else int(fill),
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {"encoding-type": encoding[0], "encoding-version": encoding[1]},
        "storage_transformers": [],
    }
    return _text(said)


def chunk(dimensions: int) -> str:
    """The name of the only chunk"""
    return "/".join(["c", *["0"] * dimensions])


def _text(said: Mapping[str, Any]) -> bytes:
    return (json.dumps(said, indent=1, ensure_ascii=False) + "\n").encode()


def read_meta(folder: Path) -> dict[str, Any]:
    """The zarr.json of a folder; BadFile where there is none, or none that can be read."""
    path = folder / META
    try:
        if path.stat().st_size > _MOST_META:
            raise BadFile(path, f"has more than {_MOST_META:,} bytes, which no shard needs")
        said = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BadFile(path, "does not exist") from None
    except OSError as why:
        raise BadFile(path, f"cannot be read ({why})") from None
    except (ValueError, RecursionError) as why:
        raise BadFile(path, f"is not JSON ({str(why)[:80]})") from None
    if not isinstance(said, dict) or said.get("zarr_format") != 3 or not isinstance(said.get("attributes", {}), dict):
        raise BadFile(path, 'is no group or array of Zarr version 3 ("zarr_format": 3)')
    return said


def read_group(folder: Path) -> dict[str, Any]:
    """The attributes of a group"""
    said = read_meta(folder)
    if said.get("node_type") != "group":
        raise BadFile(folder / META, "expected a group")
    attributes: dict[str, Any] = said.get("attributes", {})
    return attributes


def read_array(folder: Path) -> ArrayFile:
    """An array; BadFile for what cannot be mapped: compressed, in several chunks, of a foreign type."""
    said, path = read_meta(folder), folder / META
    try:
        if said["node_type"] != "array":
            raise BadFile(path, "expected an array")
        shape, kind = tuple(said["shape"]), said["data_type"]
        if not all(type(size) is int and 0 <= size < 2**62 for size in shape) or len(shape) not in (1, 2):
            raise BadFile(path, f"an array of shape {list(shape)}: expected one or two dimensions")
        if kind not in _DTYPES:
            raise BadFile(path, f"data_type {str(kind)[:40]!r}: expected one of {', '.join(_DTYPES)}")
        codecs = said["codecs"]
        raw = len(codecs) == 1 and codecs[0]["name"] == "bytes"
        if not raw or codecs[0].get("configuration", {}).get("endian", "little") != "little":
            names = ", ".join(str(codec["name"])[:20] for codec in codecs)
            raise BadFile(path, f"codecs {names}: only raw little-endian bytes can be mapped; dcopt pack converts it")
        if said["chunk_grid"]["name"] != "regular":
            raise BadFile(path, "expected a regular grid of one chunk; dcopt pack converts it")
        blocks = tuple(said["chunk_grid"]["configuration"]["chunk_shape"])
        if (
            len(blocks) != len(shape)
            or any(b < s for b, s in zip(blocks, shape, strict=True))
            or blocks[1:] != shape[1:]
        ):
            raise BadFile(path, f"chunks of shape {list(blocks)}: only one chunk can be mapped; dcopt pack converts it")
        if said["chunk_key_encoding"]["name"] != "default":
            raise BadFile(path, "expected the default names of chunks")
        separator = said["chunk_key_encoding"].get("configuration", {}).get("separator", "/")
        fill, attributes = said["fill_value"], said.get("attributes", {})
    except (KeyError, TypeError, AttributeError, IndexError) as why:
        raise BadFile(path, f"is no array of Zarr version 3 ({type(why).__name__}: {str(why)[:40]})") from None
    if separator not in ("/", "."):
        raise BadFile(path, f"the separator {str(separator)[:10]!r} of chunks is unknown")
    file = folder / chunk(len(shape)).replace("/", str(separator))
    there = file.exists()
    return ArrayFile(shape, np.dtype(kind), file if there else None, fill, attributes)


def check_size(array: ArrayFile, folder: Path) -> None:
    """Refuse a file that is shorter than its array, and an array that lost its file."""
    if array.file is None:
        if array.size and array.fill != 1:
            raise BadFile(folder / chunk(len(array.shape)), "does not exist")
        return
    size = array.file.stat().st_size
    if size < array.size:
        raise BadFile(array.file, f"has {size:,} bytes, and the array of shape {list(array.shape)} has {array.size:,}")


class MappedFile:
    """The array in a file, mapped read-only, and what the system is told of its pages."""

    def __init__(self, array: ArrayFile) -> None:
        self.file, self._map = array.file, None
        if array.file is None or not array.size:
            self.values: NDArray[Any] = np.broadcast_to(np.asarray(array.fill, array.dtype), array.shape)
            return
        try:
            with open(array.file, "rb") as file:
                self._map = mmap.mmap(file.fileno(), array.size, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as why:
            raise BadFile(array.file, f"cannot be mapped ({why})") from None
        self.values = np.frombuffer(self._map, array.dtype).reshape(array.shape)

    def copied(self) -> MappedFile:
        """The same array in memory"""
        copy = object.__new__(MappedFile)
        copy.file, copy._map, copy.values = None, None, np.array(self.values)
        copy.values.flags.writeable = False  # Loops are compiled for arrays as they are mapped.
        return copy

    @property
    def size(self) -> int:
        return 0 if self._map is None else len(self._map)

    def soon(self) -> None:
        """Ask the system to read the pages ahead."""
        if self._map is not None and hasattr(mmap, "MADV_WILLNEED"):
            self._map.madvise(mmap.MADV_WILLNEED)

    def forget(self) -> None:
        """Give the pages back, from this process and from the page cache."""
        if self._map is None or not hasattr(mmap, "MADV_DONTNEED") or not hasattr(os, "posix_fadvise"):
            return
        self._map.madvise(mmap.MADV_DONTNEED)  # The pages of a read-only map are read again when they are used.
        assert self.file is not None
        handle = os.open(self.file, os.O_RDONLY)
        try:
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)
