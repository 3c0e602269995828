"""The text of a data file, plain or compressed: opened, looked at, hashed and bounded while it is read."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import os
import stat
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..data.bounds import most_text, too_large
from ..errors import BadFile

Progress = Callable[[float], None]  # takes the share of a file that has been read

MAX_LINE = 2**26  # bytes; readers hold one line and one block, so that this bounds what a hostile file costs
BLOCK = 2**20
_PLAIN = b"0123456789+-.eE: \t\r\n"  # what a file of numbers is made of
_FOREIGN = {b"\xfd7zXZ\0": "xz", b"PK\3\4": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf": "7z"}


class Odd(Exception):
    """Something that needs a careful look: letters, comments, CR as a line end, a byte-order mark, …"""


class Text(io.RawIOBase):
    """Bytes of the text for a BufferedReader. gzip and bzip2 are told by their first bytes, not by the name.

    `sha256` is that of all bytes read so far; a file that changes on the way is refused at its end. `settled` is the
    file's status, or None if the file is so fresh that a later change might not show in it. `plain` raises Odd at the
    first block with anything but numbers, blanks and line ends. `span` = (start, stop) takes the lines that begin in
    these bytes of a plain file. `progress` is called after every block with the share of the file that has been read.
    A text that unpacks to more than `bounds.most_text` is refused.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        plain: bool = False,
        span: tuple[int, int] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.path, self.plain, self._progress = path, plain, progress
        self._hash, self._first, self._lines, self._open, self._cr = hashlib.sha256(), 0, 0, 0, False
        self._left: int | None = None
        self._file = _regular(path)
        self.status = os.fstat(self._file.fileno())
        self.settled = self.status if _settled(self.status) else None
        try:
            self.kind, self._inner = self._unpacked()
            self._read, self._most = 0, most_text(None if self._inner is self._file else self.status.st_size)
            if span is not None:
                self._first, last = self._line_from(span[0]), self._line_from(span[1])
                self._left = max(last - self._first, 0)
                self._file.seek(self._first)
        except BaseException:
            self._file.close()
            raise

    def _unpacked(self) -> tuple[str, Any]:
        head = self._file.read(8) or b""
        self._file.seek(0)
        if head[:2] == b"\x1f\x8b":
            return "gzip", gzip.GzipFile(fileobj=self._file, mode="rb")
        if head[:3] == b"BZh":
            return "bzip2", bz2.BZ2File(self._file)
        for magic, name in _FOREIGN.items():
            if head.startswith(magic):
                raise BadFile(self.path, f"is a {name} file: plain text, gzip and bzip2 are read")
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise BadFile(self.path, "is UTF-16 text: save it as UTF-8")
        return "plain text", self._file

    def _line_from(self, at: int) -> int:
        """Where the first line begins that does not begin before `at`."""
        if self._inner is not self._file:
            raise BadFile(self.path, f"is compressed ({self.kind}): byte_range needs plain text")
        if at <= 0 or at >= self.status.st_size:
            return max(0, min(at, self.status.st_size))
        at -= 1
        self._file.seek(at)
        while block := self._file.read(BLOCK):
            found = _first_end(block)
            if found < len(block):
                self._file.seek(at + found)
                return at + found + (2 if self._file.read(2) == b"\r\n" else 1)
            at += len(block)
        return self.status.st_size

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._left]
        try:
            n: int = self._inner.readinto(view) or 0
        except EOFError:
            raise BadFile(self.path, f"is cut short: the {self.kind} stream has no end") from None
        except (OSError, zlib.error) as why:
            raise BadFile(self.path, f"cannot be read as {self.kind} ({why})") from None
        if n:
            self._read += n
            if self._read > self._most:
                raise BadFile(self.path, too_large("its text has", self._most))
            self._look(bytes(view[:n]))
            if self._progress is not None:
                self._progress(self._file.tell() / max(self.status.st_size, 1))
        else:
            self._unchanged()
        if self._left is not None:
            self._left -= n
        return n

    def _look(self, block: bytes) -> None:
        """Hash, count and bound; of a plain file, accept plain bytes only."""
        self._hash.update(block)
        ends, self._cr = _ends(block, self._cr)
        if self.plain and (ends != block.count(b"\n") or block.translate(None, _PLAIN)):
            raise Odd
        if self._open + _first_end(block) > MAX_LINE:
            line = self.lines_before() + self._lines + 1
            raise BadFile(self.path, f"is longer than {MAX_LINE:,} bytes, the longest line allowed", line=line)
        last = max(block.rfind(b"\n"), block.rfind(b"\r"))
        self._open = len(block) - 1 - last if last >= 0 else self._open + len(block)
        self._lines += ends

    def lines_before(self) -> int:
        """How many lines of the file come before the span: for errors, so that nothing is counted without one."""
        total, cr = 0, False
        with open(self.path, "rb") as file:
            while (left := self._first - file.tell()) > 0 and (block := file.read(min(BLOCK, left))):
                ends, cr = _ends(block, cr)
                total += ends
        return total + cr  # a CR at the very end is one: the span begins at a line

    def _unchanged(self) -> None:
        now = os.fstat(self._file.fileno())
        before, after = ((s.st_size, s.st_mtime_ns) for s in (self.status, now))
        if before != after:
            raise BadFile(self.path, f"changed while it was read: from {before[0]:,} bytes to {after[0]:,}")

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
            self._file.close()
        super().close()


def _regular(path: str | Path) -> io.FileIO:
    try:
        mode = os.stat(path).st_mode  # before it is opened: a FIFO would wait for a writer
        file = open(path, "rb", buffering=0) if stat.S_ISREG(mode) else None
    except FileNotFoundError:
        raise BadFile(path, "does not exist") from None
    except (OSError, ValueError) as why:  # ValueError: a NUL in the name
        raise BadFile(path, f"cannot be opened ({why})") from None
    if file is None:
        raise BadFile(path, "is a folder, not a file" if stat.S_ISDIR(mode) else "is not a regular file")
    return file


def _settled(status: os.stat_result) -> bool:
    """Whether a change from now on would show in the times: not if it may come within the same tick of the clock."""
    tick = 2.1 if status.st_mtime_ns % 10**9 == 0 else 0.02  # some file systems count seconds
    return time.time() - max(status.st_mtime, status.st_ctime) > tick


def _first_end(block: bytes) -> int:
    """Where the first line of the block ends; its length if it does not."""
    return min((k for k in (block.find(b"\n"), block.find(b"\r")) if k >= 0), default=len(block))


def _ends(block: bytes, cr: bool) -> tuple[int, bool]:
    """Line ends (LF, CR LF, CR) in a block that comes after a CR or not; a CR at its end is left to the next one."""
    lone = block.count(b"\r") - block.count(b"\r\n") + (cr and block[:1] != b"\n")
    open_cr = block[-1:] == b"\r"
    return block.count(b"\n") + lone - open_cr, open_cr
