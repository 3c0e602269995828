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
    """One JSON text. The control characters that JSON allows in strings are written as escapes too."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
