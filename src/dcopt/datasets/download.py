"""Data sets from LIBSVM's site, or from a mirror of it: nothing is used whose checksum is not the catalogue's."""

from __future__ import annotations

import io
import os
import tempfile
import textwrap
import threading
from pathlib import Path
from typing import Any

from ..errors import BadFile, CannotFetch
from .catalogue import SITE, Entry
from .text import BLOCK, Text

_TIMEOUT = (5.0, 30.0)  # seconds until a connection, and between two pieces of an answer
_PATIENCE = 60.0  # seconds that every download may take
_SLOWEST = 10_000.0  # bytes of text per second: a download that is slower than that, after _PATIENCE, is given up
_LONGEST = 300  # characters of a reason in an error message
_SLACK = 2**16  # bytes that a compressed file may have more than its text


def usual_cache() -> Path:
    """Where programs of this system keep what they can fetch again."""
    import pooch

    return Path(pooch.os_cache("dcopt"))


def address(entry: Entry) -> str | None:
    """Where the set is published: on LIBSVM's site, or in the same place under the address DCOPT_MIRROR."""
    return entry.page and (os.environ.get("DCOPT_MIRROR") or SITE).rstrip("/") + "/" + entry.page


def place(entry: Entry, folder: Path) -> Path:
    """Where a download is kept."""
    return folder / "files" / Path(entry.page or entry.name).name


def fetch(entry: Entry, folder: Path, instead: str) -> Path:
    """Download a set to its place. A text with another checksum is kept aside as NAME.refused, and never used."""
    url, target = address(entry), place(entry, folder)
    if url is None:
        raise CannotFetch(entry.name, None, "no copy of its text has a published checksum", instead)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".new-", dir=target.parent)
        new = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                _download(url, file, entry.bytes + _SLACK, _PATIENCE + entry.bytes / _SLOWEST)
                file.flush()
                os.fsync(file.fileno())
            found = _sha256(new)
            good = found == entry.sha256
            os.replace(new, target if good else aside(target))
        finally:
            new.unlink(missing_ok=True)
    except (OSError, ValueError) as why:  # all errors of requests are of these kinds
        raise CannotFetch(entry.name, url, _reason(why), instead) from None
    if not good:
        raise BadFile(url, f"is refused as {entry.name}: the sha256 of its text is {found}, expected {entry.sha256}")
    return target


def aside(target: Path) -> Path:
    """Where a file is kept that is not what it should be: nobody takes it for data there."""
    return target.with_name(target.name + ".refused")


def _download(url: str, file: Any, limit: int, seconds: float) -> None:
    """Write the answer to the file. The thread that reads it may wait for a byte at a time; the caller does not."""
    import pooch

    bounded, failed = _Bounded(file, limit), list[Exception]()

    def read() -> None:
        try:
            pooch.HTTPDownloader(timeout=_TIMEOUT, chunk_size=2**16)(url, bounded, None)
        except Exception as why:
            if bounded.open:  # else nobody is there to raise it
                failed.append(why)

    reader = threading.Thread(target=read, name="dcopt-download", daemon=True)
    try:
        reader.start()
        reader.join(seconds)
        if reader.is_alive():
            raise TimeoutError(f"the answer was not complete after {seconds:.0f} seconds")
    finally:
        bounded.close()
    if failed:
        raise failed.pop()


class _Bounded:
    """A file that does not take more than it should have, and nothing after it was closed."""

    def __init__(self, file: Any, limit: int) -> None:
        self._file, self._left, self._lock = file, limit, threading.Lock()

    def write(self, chunk: bytes) -> None:
        with self._lock:
            self._left -= len(chunk)
            if self._left < 0:
                raise ValueError("the answer is longer than the data set")
            if self._file is None:
                raise ValueError("nobody waits for the answer any more")
            self._file.write(chunk)

    @property
    def open(self) -> bool:
        return self._file is not None

    def flush(self) -> None:
        """The file is flushed when all of it is there."""

    def close(self) -> None:
        with self._lock:
            self._file = None


def _sha256(path: Path) -> str:
    try:
        with Text(path) as text:
            stream = io.BufferedReader(text, BLOCK)
            while stream.read(BLOCK):
                pass
            return text.sha256
    except BadFile as why:
        return f"not to be had ({why.reason})"


def _reason(why: BaseException) -> str:
    """The first cause: requests and urllib3 wrap what the system said in three of their own errors."""
    seen: set[int] = set()
    while (cause := why.__cause__ or why.__context__) is not None and id(why) not in seen:
        seen.add(id(why))
        why = cause
    return textwrap.shorten(f"{type(why).__name__}: {why}", _LONGEST, placeholder=" …")
