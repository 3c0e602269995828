"""Parsed files as arrays on disk: mapped into memory, believed only as far as they can be checked, never torn.

An entry is a folder NAME-WHOSE-WHICH: WHOSE stands for the path (or the catalogue's checksum), WHICH for the size and
the times of the file. Entries are written aside and renamed, never changed; whatever is wrong with one, or with the
whole cache, means reading the text again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
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
_FORGOTTEN = 3600.0  # seconds after which the half-written folder of another process is taken for abandoned


def home() -> Path | None:
    """The cache: the folder DCOPT_CACHE (None if that is empty), otherwise the usual place of the system."""
    chosen = os.environ.get("DCOPT_CACHE")
    if chosen is None:
        from .fetch import usual_cache

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
        parts = []
        for name, kinds in _ARRAYS.items():
            # a private mapping: writing to the arrays is allowed, and changes no file
            array = np.asarray(np.load(entry / f"{name}.npy", mmap_mode="c"))
            if array.ndim != 1 or array.dtype.str not in kinds.split() or _sum(array) != said["crc32"][name]:
                return None
            parts.append(array)
        data, indices, indptr, labels = parts
        whole = indptr[0] == 0 and indptr[-1] == data.size == indices.size and indptr.size == labels.size + 1
        if not (whole and (np.diff(indptr) >= 0).all() and (not indices.size or indices.min() >= 0)):
            return None
        return Parsed(data, indices, indptr, labels, str(said["sha256"]))
    except _SPOILT:
        return None


def _said(entry: Path) -> Any:
    with open(entry / "entry.json", encoding="utf-8") as file:
        return json.loads(file.read(2**16))


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


def _sweep(folder: Path) -> None:
    """Remove what a killed process left half-written, and what was made of files that are gone."""
    for left in folder.glob(".new-*"):
        if time.time() - left.stat().st_mtime > _FORGOTTEN:
            shutil.rmtree(left, ignore_errors=True)
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
