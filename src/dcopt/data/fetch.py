"""Data sets from LIBSVM's site, or from a mirror of it: nothing is used whose checksum is not the catalogue's."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import Any

from ..errors import BadFile, CannotFetch
from .catalogue import SITE, Entry
from .text import BLOCK, Text

_TIMEOUT = (5.0, 30.0)  # seconds until a connection, and between two pieces of an answer
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
                _download(url, file, entry.bytes + _SLACK)
                file.flush()
                os.fsync(file.fileno())
            found = _sha256(new)
            good = found == entry.sha256
            os.replace(new, target if good else aside(target))
        finally:
            new.unlink(missing_ok=True)
    except (OSError, ValueError) as why:  # all errors of requests are of these kinds
        raise CannotFetch(entry.name, url, _first_line(why), instead) from None
    if not good:
        raise BadFile(url, f"is refused as {entry.name}: the sha256 of its text is {found}, expected {entry.sha256}")
    return target


def aside(target: Path) -> Path:
    """Where a file is kept that is not what it should be: nobody takes it for data there."""
    return target.with_name(target.name + ".refused")


def _download(url: str, file: Any, limit: int) -> None:
    import pooch

    pooch.HTTPDownloader(timeout=_TIMEOUT, chunk_size=2**16)(url, _Bounded(file, limit), None)


class _Bounded:
    """A file that does not take more than it should have."""

    def __init__(self, file: Any, limit: int) -> None:
        self.file, self.left = file, limit
        self.flush = file.flush

    def write(self, chunk: bytes) -> None:
        self.left -= len(chunk)
        if self.left < 0:
            raise ValueError("the answer is longer than the data set")
        self.file.write(chunk)


def _sha256(path: Path) -> str:
    try:
        with Text(path) as text:
            stream = io.BufferedReader(text, BLOCK)
            while stream.read(BLOCK):
                pass
            return text.sha256
    except BadFile as why:
        return f"not to be had ({why.reason})"


def _first_line(why: Exception) -> str:
    text = str(why).splitlines() or [""]
    return f"{type(why).__name__}: {text[0]}"[:200]
