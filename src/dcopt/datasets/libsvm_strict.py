"""The careful reader of LIBSVM text: slower than the compiled one, and every refusal has its line and column.

    line     = label [qid:number] {index:value} [# comment]
    index    = whole numbers from 1 on (from 0 on if that is asked for), increasing within a line
    label, value = finite decimal numbers with a point: 1, -0.5, .5, 1e-3

Words are separated by blanks and tabs, lines by LF, CR LF or CR; blank lines, comments and a UTF-8 byte-order mark at
the beginning are passed over. There is no NUL, not even in comments, which may hold any other byte.
"""

from __future__ import annotations

import io
import re
from array import array
from pathlib import Path
from typing import NoReturn

import numpy as np

from ..errors import BadFile
from .parsed import D_LIMIT, Parsed, too_many
from .text import BLOCK, Progress, Text

_WORD = re.compile(r"[^ \t\n]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INDEX = re.compile(r"\+?[0-9]+")
_QUERY = re.compile(r"qid:([0-9]{1,18})")


class _Lines:
    """The rows so far, and the place of the line at hand."""

    def __init__(self, text: Text, n_features: int | None, query_id: bool, first: int) -> None:
        self.text, self.query_id, self.number, self.first = text, query_id, 0, first
        self.asked, self.limit = n_features is not None, n_features or D_LIMIT
        self.data, self.indices, self.indptr, self.labels = array("d"), array("q"), array("q", [0]), array("d")
        self.queries = array("q")
        self.extra: tuple[int, int] | None = None  # line and column of the first index beyond n_features

    def refuse(self, at: int, reason: str) -> NoReturn:
        raise BadFile(self.text.path, reason, line=self.number + self.text.lines_before(), column=at + 1)

    def take(self, line: str) -> None:
        """One line as a row, or nothing if it has none."""
        if "\0" in line:
            self.refuse(line.index("\0"), "a NUL byte: this is not text")
        words = [(m.start(), m.group()) for m in _WORD.finditer(line.partition("#")[0])]
        if not words:
            return
        at, label = words[0]
        if ":" in label and not _NUMBER.fullmatch(label):
            self.refuse(at, f"the label is missing: the line begins with {_shown(label)}")
        self.labels.append(self.real(at, label, "label"))
        rest = words[1:]
        if rest and rest[0][1].startswith("qid"):
            self.query(*rest.pop(0))
        elif self.query_id:
            self.refuse(at, "no qid after the label, and query_id was asked for")
        previous = self.first - 1
        for at, word in rest:
            previous = self.pair(at, word, previous)
        self.indptr.append(len(self.data))

    def pair(self, at: int, word: str, previous: int) -> int:
        """index:value; the index."""
        index, colon, value = word.partition(":")
        if not colon:
            self.refuse(at, f"expected index:value, got {_shown(word)}")
        if not index:
            self.refuse(at, f"the index is missing in {_shown(word)}")
        if not _INDEX.fullmatch(index):
            negative = index[0] == "-" and _INDEX.fullmatch(index[1:])
            self.refuse(at, f"the index {_shown(index)} is " + ("negative" if negative else "not a whole number"))
        digits = index.lstrip("+0")
        if len(digits) > 18:  # and before int(), which takes its time for very long ones
            self.refuse(at, f"the index {_shown(index)} is not below 10^18")
        j = int(digits or "0")
        if j < self.first:
            self.refuse(at, "the index is 0: indices start at 1, unless zero_based (--zero-based) says otherwise")
        if j <= previous:
            what = "is repeated" if j == previous else f"comes after {previous}: indices must increase"
            self.refuse(at, f"the index {j} {what}")
        if j - self.first >= self.limit:
            if not self.asked:
                self.refuse(at, too_many(j))
            self.extra = self.extra or (self.number, at)
        self.data.append(self.real(at + len(index) + 1, value, "value"))
        self.indices.append(j - self.first)
        return j

    def real(self, at: int, word: str, what: str) -> float:
        if not word:
            self.refuse(at, f"the {what} is missing after the colon")
        if not _NUMBER.fullmatch(word):
            if word.lstrip("+-").lower() in ("nan", "inf", "infinity"):
                self.refuse(at, f"the {what} {_shown(word)} is not finite")
            comma = ": decimals have a point, and there is one label" if "," in word else ""
            self.refuse(at, f"the {what} {_shown(word)} is not a number{comma}")
        number = float(word)
        if number in (float("inf"), float("-inf")):
            self.refuse(at, f"the {what} {_shown(word)} is too large for float64")
        return number

    def query(self, at: int, word: str) -> None:
        if not self.query_id:
            self.refuse(at, f"{_shown(word)}: query numbers are read if asked for, with query_id=True")
        found = _QUERY.fullmatch(word)
        if not found:
            self.refuse(at, f"{_shown(word)} is not qid:number")
        self.queries.append(int(found[1]))


def read(
    path: str | Path,
    *,
    n_features: int | None = None,
    query_id: bool = False,
    span: tuple[int, int] | None = None,
    zero_based: bool = False,
    progress: Progress | None = None,
) -> tuple[Parsed, tuple[int, int] | None]:
    """The rows, and where the first index beyond n_features is. Without n_features, none is beyond D_LIMIT."""
    with Text(path, span=span, progress=progress) as text:
        rows = _Lines(text, n_features, query_id, 0 if zero_based else 1)
        stream = io.TextIOWrapper(io.BufferedReader(text, BLOCK), "latin-1")  # bytes are characters; CR is a line end
        for rows.number, line in enumerate(stream, 1):
            if rows.number == 1 and line.startswith("ï»¿") and not text.lines_before():
                line = line[3:]
            rows.take(line)
        place = rows.extra and (rows.extra[0] + text.lines_before(), rows.extra[1] + 1)
        data, labels = np.frombuffer(rows.data), np.frombuffer(rows.labels)
        indices, indptr = np.frombuffer(rows.indices, np.int64), np.frombuffer(rows.indptr, np.int64)
        queries = np.frombuffer(rows.queries, np.int64) if query_id else None
        return Parsed(data, indices, indptr, labels, text.sha256, text.settled, queries, zero_based), place


def _shown(word: str) -> str:
    return ascii(word if len(word) <= 24 else word[:24] + "...")
