"""Parsed files as arrays on disk: mapped into memory, believed only as far as they can be checked, never torn.

An entry is a folder NAME-WHOSE-WHICH: WHOSE stands for the path (or the catalogue's checksum), WHICH for the size and
the times of the file. Entries are written aside and renamed, never changed; whatever is wrong with one, or with the
whole cache, means reading the text again. An entry of another user (other than root) is not read: its checksums are its
own, and its files could change while they are mapped.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parsed import Parsed

_FORMAT = 1
_ARRAYS = {"data": "<f8", "indices": "<i4 <i8", "indptr": "<i4 <i8", "labels": "<f8"}
_SPOILT = (OSError, ValueError, KeyError, TypeError, IndexError, EOFError, RecursionError)
_FORGOTTEN = 3600.0  # seconds after which what another process has half written is taken for abandoned
_BLOCK = 2**20  # entries that are looked at together: a check needs no copy of an array


def home() -> Path | None:
    """The cache: the folder DCOPT_CACHE (None if that is empty), otherwise the usual place of the system."""
    chosen = os.environ.get("DCOPT_CACHE")
    if chosen is None:
        from .download import usual_cache

        return usual_cache()
    return Path(chosen) if chosen else None


def writable(folder: Path | None) -> Path | None:
    """The folder, made if need be; None if nothing can be written there."""
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder


def of_file(folder: Path | None, path: str | Path, key: str | None = None) -> Parsed | None:
    """What is kept of this file as it is now (under the key, if it has one); None if nothing is."""
    if folder is None:
        return None
    try:
        status = os.stat(path)
        return _read(folder / (_stem(path, key) + _which(status)), _source(path, status))
    except OSError:
        return None


def of_key(folder: Path | None, key: str) -> Parsed | None:
    """What is kept under this key, whichever file it was made of: for texts that their checksum tells."""
    entries = [] if folder is None else sorted(folder.glob(key + "*"))
    return next((parsed for entry in entries if (parsed := _read(entry)) is not None), None)


def keep_file(folder: Path | None, path: str | Path, parsed: Parsed, key: str | None = None) -> None:
    """Write an entry, and remove older ones of the same file. A cache that cannot be written is no error."""
    if folder is None or parsed.status is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        new = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
        stem = _stem(path, key)
        try:
            _write(new, parsed, _source(path, parsed.status), key)
            for old in folder.glob(stem + "*"):  # also one that was found to be spoilt
                shutil.rmtree(old, ignore_errors=True)
            os.rename(new, folder / (stem + _which(parsed.status)))
            _sync(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)  # if it is still there: another process was first
    except OSError:
        return


def _write(folder: Path, parsed: Parsed, source: list[Any], key: str | None) -> None:
    sums = {}
    for name in _ARRAYS:
        array = np.ascontiguousarray(getattr(parsed, name))
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        with open(folder / f"{name}.npy", "wb") as file:
            np.save(file, array)
            _flush(file)
        sums[name] = _sum(array)
    with open(folder / "entry.json", "w", encoding="utf-8") as file:
        json.dump({"format": _FORMAT, "sha256": parsed.sha256, "source": source, "key": key, "crc32": sums}, file)
        _flush(file)
    _sync(folder)


def _read(entry: Path, source: list[Any] | None = None) -> Parsed | None:
    """The entry, if it is whole: checksums, types, and a well-formed matrix."""
    try:
        said = _said(entry)
        if said["format"] != _FORMAT or (source is not None and said["source"] != source):
            return None
        parts = [_mapped(entry, name, kinds) for name, kinds in _ARRAYS.items()]
        if any(_sum(part) != said["crc32"][name] for name, part in zip(_ARRAYS, parts, strict=True)):
            return None
        data, indices, indptr, labels = parts
        if not _canonical(indices, indptr, data.size, labels.size) or not (_finite(data) and _finite(labels)):
            return None
        return Parsed(data, indices, indptr, labels, str(said["sha256"]))
    except _SPOILT:
        return None


def _said(entry: Path) -> Any:
    with open(entry / "entry.json", encoding="utf-8") as file:
        _own(file)
        return json.loads(file.read(2**16))


def _mapped(entry: Path, name: str, kinds: str) -> NDArray[Any]:
    """An array of the entry. A private mapping: writing to it is allowed, and changes no file."""
    with open(entry / f"{name}.npy", "rb") as file:
        _own(file)
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(version)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if len(shape) != 1 or dtype.str not in kinds.split():
            raise ValueError(name)
        return np.asarray(np.memmap(file, dtype, "c", file.tell(), shape) if shape[0] else np.empty(0, dtype))


def _own(file: Any) -> None:
    """Refuse an open file of another user. The handle is asked, so that nobody can put another file in its place."""
    if sys.platform != "win32" and os.fstat(file.fileno()).st_uid not in (os.getuid(), 0):
        raise PermissionError("the file belongs to another user")


def _canonical(indices: NDArray[Any], indptr: NDArray[Any], stored: int, rows: int) -> bool:
    """indptr runs from 0 to the number of stored values without a fall, and the indices of every row increase."""
    if not (indptr.size == rows + 1 and indptr[0] == 0 and indptr[-1] == stored == indices.size):
        return False
    if not (np.diff(indptr) >= 0).all():
        return False
    for start in range(0, stored, _BLOCK):
        part = indices[start : start + _BLOCK + 1]
        falls = np.flatnonzero(np.diff(part) <= 0) + start + 1  # allowed where a row begins
        if part.min() < 0 or not np.array_equal(indptr[np.searchsorted(indptr[:-1], falls)], falls):
            return False
    return True


def _finite(array: NDArray[Any]) -> bool:
    return all(np.isfinite(array[start : start + _BLOCK]).all() for start in range(0, array.size, _BLOCK))


def _sum(array: NDArray[Any]) -> int:
    return zlib.crc32(array.view(np.uint8).data)


def _source(path: str | Path, status: os.stat_result) -> list[Any]:
    return [os.path.realpath(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _stem(path: str | Path, key: str | None) -> str:
    real = os.path.realpath(path)
    readable = re.sub(r"[^\w.]+", "_", Path(real).name, flags=re.ASCII)[:40]
    return key or f"{readable}-{_short(real)}-"


def _which(status: os.stat_result) -> str:
    return _short(repr(_source("", status)[1:]))


def _short(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]


def sweep(folder: Path) -> None:
    """Remove what killed processes left half-written: entries in the folder itself, downloads in `files`."""
    for left in (*folder.glob(".new-*"), *folder.glob("files/.new-*")):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _FORGOTTEN:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _sweep(folder: Path) -> None:
    """Also remove what was made of files that are gone."""
    sweep(folder)
    for said in folder.glob("*/entry.json"):
        with suppress(*_SPOILT):
            about = _said(said.parent)
            if about["key"] is None and not os.path.exists(about["source"][0]):
                shutil.rmtree(said.parent, ignore_errors=True)


def _flush(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
