"""Limits on the size of a data file: bytes of its unpacked text, and bytes of the arrays made from it."""

from __future__ import annotations

import os
import sys

from ..errors import BadSettings

VARIABLE = "DCOPT_MAX_BYTES"
_SHARE = 4  # The default limit is memory / _SHARE, because up to three copies of the arrays exist while a file is read.
_ELSEWHERE = 2**33  # The bytes of memory that are assumed where the system does not report them.
_RATIO = 200  # Unpacked bytes per packed byte: numbers as text have 3 to 30, a constant column about 100.
_FREE = 2**26  # Up to this many bytes of text the ratio is not checked.


def most_bytes() -> int:
    """The limit: DCOPT_MAX_BYTES (a number such as 2000000000 or 2e9), otherwise a quarter of the memory."""
    told = _told()
    if told is not None:
        return told
    pages = 0 if sys.platform == "win32" else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return (pages if pages > 0 else _ELSEWHERE) // _SHARE


def most_text(packed: int | None) -> int:
    """The limit for the text of a file; `packed`: the size of a compressed one, None for plain text."""
    if packed is None or _told() is not None:
        return most_bytes()
    return min(most_bytes(), max(_FREE, _RATIO * packed))


def too_large(what: str, limit: int) -> str:
    """The reason of a refusal."""
    return f"{what} more than {limit:,} bytes: set {VARIABLE} to a larger number if the file is what it should be"


def _told() -> int | None:
    text = os.environ.get(VARIABLE)
    if not text:
        return None
    try:
        number = int(float(text))
    except (OverflowError, ValueError):
        number = 0
    if number < 1:
        raise BadSettings(VARIABLE, text, "a number of bytes, such as 2e9")
    return number
