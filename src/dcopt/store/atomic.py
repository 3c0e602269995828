"""Atomic saves: a file is written under a temporary name, flushed and renamed, and its folder is flushed.

A process holds a lock on the temporary file that it writes. The lock ends with the process, so that the next save can
tell an abandoned temporary file, which it removes, from one that another process is writing.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

if sys.platform == "win32":
    _LOCKS = False
else:
    import fcntl

    _LOCKS = True


class Calls(NamedTuple):
    """The system calls of a save. Tests pass calls that fail."""

    open: Callable[..., int] = os.open
    write: Callable[[int, Any], int] = os.write
    fsync: Callable[[int], None] = os.fsync
    link: Callable[..., None] = os.link
    replace: Callable[..., None] = os.replace
    unlink: Callable[..., None] = os.unlink


CALLS = Calls()


def previous(path: str | os.PathLike[str]) -> Path:
    """The path of the version before the last save."""
    target = Path(path)
    return target.with_name(target.name + ".prev")


def write(path: str | os.PathLike[str], chunks: Iterable[Any], *, keep: bool = False, calls: Calls = CALLS) -> None:
    """Replace the file by the chunks, completely or not at all. `keep` leaves the old file at `previous(path)`.

    A folder, a symbolic link and a file without permission to write are refused (OSError), not replaced.
    """
    target = Path(path)
    mode = refuse(target)
    handle, new = _fresh(target, calls)
    old = new.with_name(new.name + ".old")
    try:
        try:
            for chunk in chunks:
                _all(handle, chunk, calls)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(handle, mode)  # A private file stays private.
            calls.fsync(handle)
            if not _LOCKS:
                os.close(handle)  # On systems without locks, an open file cannot be renamed.
            if keep and mode is not None:
                _set_aside(target, old, calls)
            calls.replace(new, target)
        finally:
            if _LOCKS:
                os.close(handle)
    except BaseException:
        for left in (new, old):
            with suppress(OSError):
                calls.unlink(left)
        raise
    _flush_folder(target.parent, calls)
    _sweep(target, calls)


def refuse(target: Path) -> int | None:
    """The permissions of the file that is replaced, None if there is none; OSError if it must not be replaced."""
    if not target.name:
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(target))
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", str(target))
    # Writing through a link would change another folder; replacing the link would be unexpected.
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "is a symbolic link: name the file itself", str(target))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(target))
    if not mode & 0o222:  # A rename would ignore the permission of the file.
        raise PermissionError(errno.EACCES, "is read-only", str(target))
    return stat.S_IMODE(mode)


def _fresh(target: Path, calls: Calls) -> tuple[int, Path]:
    """A new file in the same folder, locked by us."""
    while True:
        new = target.with_name(f".{target.name}.{secrets.token_hex(8)}.new")
        handle = calls.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if not _LOCKS:
            return handle, new
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, new
        os.close(handle)  # Another process removed the file before this one held its lock.


def _all(handle: int, chunk: Any, calls: Calls) -> None:
    view = memoryview(chunk)
    while len(view):
        done = calls.write(handle, view)  # A write may write only a part.
        if done <= 0:
            raise OSError(errno.EIO, "nothing was written")
        view = view[done:]


def _set_aside(target: Path, old: Path, calls: Calls) -> None:
    """Give the present version a second name, so that its first name stays valid."""
    try:
        with suppress(FileNotFoundError):
            if os.path.samefile(target, previous(target)):  # A save that failed got as far as this. A rename would
                return  # do nothing, and leave both names
        calls.link(target, old)
        calls.replace(old, previous(target))
    except FileNotFoundError:  # The file has been removed meanwhile, so there is nothing to keep.
        return
    except OSError as why:
        if why.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
            raise
        # Without hard links, only the previous version has a name for a moment.
        calls.replace(target, previous(target))


def _flush_folder(folder: Path, calls: Calls) -> None:
    if not _LOCKS:
        return  # This system cannot open a folder.
    handle = calls.open(folder, os.O_RDONLY)
    try:
        calls.fsync(handle)
    finally:
        os.close(handle)


def _sweep(target: Path, calls: Calls) -> None:
    """Remove the temporary files of saves that were killed."""
    if not _LOCKS:
        return
    start = f".{target.name}."
    with suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(start) and name.endswith(".new"):
                _remove_abandoned(target.with_name(name), calls)


def _remove_abandoned(left: Path, calls: Calls) -> None:
    with suppress(OSError):
        handle = os.open(left, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # This raises while the writer of the file lives.
            with suppress(OSError):
                calls.unlink(left.with_name(left.name + ".old"))
            calls.unlink(left)
        finally:
            os.close(handle)
