"""Text that a terminal only shows: names and labels of a file may hold characters that control it."""

from __future__ import annotations

import json
import re

# C0 without tab and newline, delete, C1; the separators of lines and paragraphs; marks that change the direction
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Control characters as escapes, such as \\x1b. Tabs and newlines stay."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def as_json(data: object) -> str:
    """One JSON text, with a line for every entry of an object and for every list of numbers or words.

    The control characters that JSON allows in strings are written as escapes too.
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", _json(data, ""))


def _json(data: object, before: str) -> str:
    inner = before + "  "
    if isinstance(data, dict) and data:
        entries = (f"{inner}{_flat(str(key))}: {_json(value, inner)}" for key, value in data.items())
        return "{\n" + ",\n".join(entries) + f"\n{before}}}"
    if isinstance(data, list) and any(isinstance(value, dict | list) for value in data):
        return "[\n" + ",\n".join(f"{inner}{_json(value, inner)}" for value in data) + f"\n{before}]"
    return _flat(data)


def _flat(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)
