"""Reading with checks: lengths are compared with the file before use, and the digest is checked before parsing."""

from __future__ import annotations

import hashlib
import math
import os
import stat
from io import BufferedReader
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadModel
from . import plain

FORMAT = 1
KINDS = ("model", "checkpoint")
MOST_HEADER = 1 << 20
MOST_ARRAYS, MOST_DIMENSIONS = 1000, 4
START = b'{"__metadata__":{"digest":"'
TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "I64": np.dtype("<i8"), "F32": np.dtype("<f4"), "I32": np.dtype("<i4"),
    "BOOL": np.dtype("?"), "U8": np.dtype("u1"),  # U8 is a list of strings as JSON.
}  # fmt: skip
_META = {"digest", "format", "kind", "dcopt", "header"}
_BLOCK = 1 << 20


class Entry(NamedTuple):
    """The place of an array, in bytes from the end of the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class opened:
    """The open file, its size and the length of its header; BadModel if it is not a regular file of this format."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        try:
            mode = os.stat(path).st_mode  # Check before opening, because opening a FIFO waits for a writer.
            if not stat.S_ISREG(mode):
                raise BadModel(path, "is a folder, not a file" if stat.S_ISDIR(mode) else "is not a regular file")
            self.file: BufferedReader = open(path, "rb")
        except FileNotFoundError:
            raise BadModel(path, "does not exist") from None
        except (OSError, ValueError) as why:  # BadModel is a ValueError, and a NUL in the name raises ValueError, too.
            raise why if isinstance(why, BadModel) else BadModel(path, f"cannot be opened ({why})") from None

    def __enter__(self) -> opened:
        self.size = os.fstat(self.file.fileno()).st_size
        return self

    def __exit__(self, *exc: object) -> None:
        self.file.close()

    def take(self, count: int) -> bytes:
        """Read exactly this many bytes, at most a block or a header."""
        got = self.file.read(count)
        if len(got) != count:
            raise BadModel(self.path, "ends too early")
        return got

    def fill(self, a: NDArray[Any], begin: int) -> None:
        """Read the bytes of an array. `checked` has compared its size with that of the file."""
        self.file.seek(8 + self.length + begin)
        if a.size and self.file.readinto(a.reshape(-1).view(np.uint8).data) != a.nbytes:
            raise BadModel(self.path, "ends too early")

    def head(self) -> bytes:
        """The header, after the digest of the whole file was verified."""
        least = len(START) + 64
        if self.size < 8 + least:
            raise BadModel(self.path, f"{self.size} bytes are too few for a file of dcopt")
        first = self.take(8)
        self.length = int.from_bytes(first, "little")
        if not least <= self.length <= min(MOST_HEADER, self.size - 8):
            raise BadModel(self.path, f"has a header of {self.length} bytes: not a file of dcopt, or truncated")
        head = self.take(self.length)
        if not head.startswith(START):
            raise BadModel(self.path, "is not a file of dcopt")
        said, rest = head[len(START) : least], head[least:]
        digest = hashlib.sha256(first + START + b"0" * 64 + rest)
        left = self.size - 8 - self.length
        while left:
            block = self.take(min(_BLOCK, left))
            digest.update(block)
            left -= len(block)
        if digest.hexdigest().encode() != said:
            raise BadModel(self.path, "is damaged: its bytes do not have the digest that it states")
        return head


def checked(file: opened) -> tuple[dict[str, str], dict[str, Entry]]:
    """The metadata and the places of the arrays, which must fill the file without gaps."""
    path, head = file.path, file.head()
    try:
        found = plain.strict(head.decode("utf-8"))
        meta = found.pop("__metadata__")
        _of_our_kind(path, meta)
        entries = {name: _entry(**said) for name, said in found.items()}
    except BadModel:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as why:
        raise BadModel(path, f"its header cannot be used ({str(why)[:80]})") from None
    if len(entries) > MOST_ARRAYS:
        raise BadModel(path, f"{len(entries)} arrays, more than {MOST_ARRAYS}")
    at = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != at:
            raise BadModel(path, f"{name[:40]} begins at byte {entry.begin}, not at {at}: a gap or an overlap")
        at = entry.end
    if at != file.size - 8 - file.length:
        raise BadModel(path, f"declares {at} bytes of arrays and holds {file.size - 8 - file.length}")
    return meta, entries


def _of_our_kind(path: Any, meta: dict[str, Any]) -> None:
    written = meta["format"]
    if isinstance(written, str) and written.isascii() and written.isdigit() and len(written) < 9:
        if int(written) > FORMAT:
            raise BadModel(path, f"was written by a newer version of dcopt ({str(meta.get('dcopt'))[:40]})")
        whole = meta.keys() == _META and all(isinstance(v, str) for v in meta.values())
        if int(written) == FORMAT and whole and meta["kind"] in KINDS:
            return
    raise ValueError("unknown metadata")


def _entry(dtype: str, shape: list[int], data_offsets: list[int]) -> Entry:
    if dtype not in TYPES:
        raise ValueError(f"{str(dtype)[:20]} is not a type of dcopt's files")
    if not (isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS and len(data_offsets) == 2):
        raise ValueError("the shape or the offsets are invalid")
    if not all(type(n) is int and 0 <= n < 2**62 for n in (*shape, *data_offsets)):
        raise ValueError("a size that is not a count")
    begin, end = data_offsets
    if end - begin != math.prod(shape) * TYPES[dtype].itemsize:  # Python's integers do not overflow.
        raise ValueError("the size of an array does not match its shape")
    return Entry(dtype, tuple(shape), begin, end)
