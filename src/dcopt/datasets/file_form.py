"""Which form a data file has: by its ending, otherwise by its first lines. What is none of ours is refused."""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Literal

from ..data.bounds import most_bytes, too_large
from ..errors import BadFile
from .columns import NUMBER
from .text import Text

Form = Literal["CSV", "Parquet", "LIBSVM text"]

STDIN = "-"
_ENDINGS: dict[str, Form] = {
    ".csv": "CSV", ".tsv": "CSV", ".parquet": "Parquet", ".pq": "Parquet",
    ".svm": "LIBSVM text", ".libsvm": "LIBSVM text", ".svmlight": "LIBSVM text",
}  # fmt: skip
_LINES = 10  # that are looked at
_PAIRS = re.compile(rf"\s*{NUMBER.pattern}(?:\s+(?:qid:)?[0-9]+:\S+)*\s*(?:#.*)?")
_PAIR = re.compile(r"(?:^|\s)[0-9]+:\S")
_BLOCK = 2**20


def form_of(path: str) -> Form:
    """The form of a file; BadFile if it is none that is read here."""
    end = Path(re.sub(r"\.(gz|bz2)$", "", path)).suffix.lower()
    if end in _ENDINGS:
        return _ENDINGS[end]
    with Text(path) as raw:
        stream = io.BufferedReader(raw, _BLOCK)
        if stream.peek(4)[:4] == b"PAR1":
            return "Parquet"
        text = io.TextIOWrapper(stream, "latin-1")
        lines = list(islice((line for line in text if line.strip() and not line.startswith("#")), _LINES))
    found = _form(lines)
    if found is None:
        said = "is not LIBSVM text (lines of label index:value …), and its lines are no table"
        raise BadFile(path, f"{said}; names of CSV and Parquet files end in .csv, .tsv or .parquet")
    return found


def _form(lines: list[str]) -> Form | None:
    if not lines:
        return "LIBSVM text"  # whose reader says that there is nothing in it
    if lines[0].lstrip("ï»¿ \t")[:1] in "<{[":  # a page, JSON
        return None
    between = max(",;\t", key=lines[0].count)
    if all(map(_PAIRS.fullmatch, lines)) and (any(map(_PAIR.search, lines)) or between not in lines[0].strip()):
        return "LIBSVM text"
    if lines[0].count(between) and len({line.count(between) for line in lines[:2]}) == 1:
        return "CSV"
    return "LIBSVM text" if _PAIR.search(lines[0]) else None


@contextmanager
def standard_input() -> Iterator[str]:
    """A file with what comes from stdin, as long as the block runs; errors name it "standard input"."""
    with tempfile.NamedTemporaryFile(prefix="dcopt-") as file:
        _copy(sys.stdin.buffer, file)
        file.flush()
        try:
            yield file.name
        except BadFile as why:
            raise BadFile("standard input", why.reason, line=why.line, column=why.column) from None


def _copy(source: IO[bytes], file: IO[bytes]) -> None:
    limit, done = most_bytes(), 0
    while block := source.read(_BLOCK):
        done += len(block)
        if done > limit:
            raise BadFile("standard input", too_large("it has", limit))
        file.write(block)
