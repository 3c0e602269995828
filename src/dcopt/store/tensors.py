"""Arrays and a header in one file: valid safetensors, with a digest of the whole file and without code.

    8 bytes, little-endian: length of the header | header (JSON) | the arrays

The header begins with {"__metadata__":{"digest":"…", so that the digest is checked before anything is parsed. It is
the SHA-256 of the whole file with its own 64 characters written as zeros.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput, BadModel, BadSettings, pick
from ..version import __version__
from . import plain
from .atomic import CALLS, Calls, write
from .checked import FORMAT, KINDS, MOST_HEADER, START, TYPES, Entry, checked, opened


class Peek(NamedTuple):
    """The description of a file in its header: `arrays` are the types and shapes."""

    kind: str
    format: int
    version: str  # The version of dcopt.
    header: dict[str, Any]
    arrays: dict[str, tuple[str, tuple[int, ...]]]


def peek(path: str | os.PathLike[str]) -> Peek:
    """The header of a model or checkpoint without its arrays; BadModel if the file is damaged."""
    with opened(path) as file:
        meta, entries = checked(file)
    shapes = {name: (e.dtype, e.shape) for name, e in entries.items()}
    return Peek(meta["kind"], int(meta["format"]), meta["dcopt"], _header(path, meta), shapes)


def read(
    path: str | os.PathLike[str], kind: str, *, allow_nonfinite: bool = False
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays, each as a new array."""
    with opened(path) as file:
        meta, entries = checked(file)
        if meta["kind"] != kind:
            raise BadModel(path, f"is a {meta['kind']}, not a {kind}")
        header, arrays = _header(path, meta), {}
        for name, entry in entries.items():
            a = np.empty(entry.shape, TYPES[entry.dtype])
            file.fill(a, entry.begin)
            if a.dtype.kind == "f" and not allow_nonfinite and not np.isfinite(a).all():
                raise BadModel(path, f"{name} holds a number that is not finite; allow_nonfinite=True reads it")
            if a.dtype.kind == "b" and a.size and a.view(np.uint8).max() > 1:
                raise BadModel(path, f"{name} holds a byte that is neither true nor false")
            arrays[name] = _texts(path, name, a) if entry.dtype == "U8" else a
    return header, arrays


def save(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    allow_nonfinite: bool = False,
    keep: bool = False,
    calls: Calls = CALLS,
) -> None:
    """Write the file, completely or not at all."""
    pick("kind", kind, KINDS)
    ready = {name: _ready(name, a, allow_nonfinite) for name, a in arrays.items()}
    # Larger items come first, so that all stay aligned.
    order = sorted(ready, key=lambda name: (-ready[name].itemsize, name))
    head = _head(kind, header, {name: ready[name] for name in order})
    start = len(head).to_bytes(8, "little")
    digest = hashlib.sha256(start + head)
    for name in order:
        digest.update(_bytes(ready[name]))
    hole = len(START)
    head = head[:hole] + digest.hexdigest().encode() + head[hole + 64 :]
    write(path, (start, head, *(_bytes(ready[name]) for name in order)), keep=keep, calls=calls)


def _head(kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    meta = {"format": str(FORMAT), "kind": kind, "dcopt": __version__, "header": plain.dumps(dict(header))}
    entries = ((name, {"dtype": e.dtype, "shape": e.shape, "data_offsets": (e.begin, e.end)})
               for name, e in _entries(arrays))  # fmt: skip
    rest = json.dumps({"__metadata__": meta} | dict(entries), separators=(",", ":")).encode()
    head = START + b"0" * 64 + b'",' + rest[len(b'{"__metadata__":{') :]
    head += b" " * (-len(head) % 8)
    if len(head) > MOST_HEADER:
        raise BadSettings("header", f"{len(head)} bytes", f"at most {MOST_HEADER}: store long lists as arrays")
    return head


def _entries(arrays: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, Entry]]:
    at = 0
    for name, a in arrays.items():
        code = next(code for code, dtype in TYPES.items() if a.dtype == dtype)
        yield name, Entry(code, a.shape, at, at + a.nbytes)
        at += a.nbytes


def _ready(name: Any, values: Any, allow_nonfinite: bool) -> NDArray[Any]:
    """The array as it is stored; a list of strings as the bytes of a JSON list."""
    if not isinstance(name, str) or not name or name == "__metadata__":
        raise BadSettings("name of an array", name, "a string")
    texts = isinstance(values, (list, tuple)) and any(isinstance(v, str) for v in values)
    a = np.asarray(values, object if texts else None)  # An array of strings would lose a NUL at the end of a string.
    if a.dtype.kind in "UTO" and a.ndim == 1 and all(isinstance(v, str) and not v.endswith("\0") for v in a.tolist()):
        return np.frombuffer(json.dumps(a.tolist(), separators=(",", ":")).encode(), np.uint8)
    if a.dtype.kind in "iu" and a.dtype.itemsize != 4 or a.dtype == np.uint32:
        if a.dtype == np.uint64 and a.size and a.max() >= 2**63:
            raise BadInput(name, "holds an integer of 2**63 or more")
        a = a.astype(np.int64, copy=False)
    a = np.asarray(a, a.dtype.newbyteorder("<"), order="C")  # ascontiguousarray would convert a number to a vector.
    if a.dtype not in TYPES.values() or a.ndim > 4:
        raise BadInput(name, f"{a.ndim} dimensions of {a.dtype}: float32, float64, integers, booleans or strings")
    if a.dtype.kind == "f" and not allow_nonfinite and not np.isfinite(a).all():
        raise BadInput(name, "holds a number that is not finite; allow_nonfinite=True writes it")
    return a


def _bytes(a: NDArray[Any]) -> memoryview:
    return a.reshape(-1).view(np.uint8).data if a.size else memoryview(b"")


def _header(path: str | os.PathLike[str], meta: dict[str, str]) -> dict[str, Any]:
    try:
        header = plain.loads(meta["header"])
    except (ValueError, RecursionError, TypeError) as why:
        raise BadModel(path, f"has a header that dcopt did not write ({str(why)[:80]})") from None
    if not isinstance(header, dict):
        raise BadModel(path, "has a header that dcopt did not write (not a dict)")
    return header


def _texts(path: str | os.PathLike[str], name: str, a: NDArray[np.uint8]) -> NDArray[Any]:
    try:
        texts = plain.strict(a.tobytes().decode("ascii"))
        if isinstance(texts, list) and all(isinstance(t, str) for t in texts):
            return np.array(texts, dtype=str)
    except (ValueError, RecursionError):
        pass
    raise BadModel(path, f"{name} is not a list of strings")
