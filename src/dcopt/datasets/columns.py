"""Columns of a table as a file has them: every cell is a number, missing, or a word."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.bounds import most_bytes, too_large
from ..errors import BadFile

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")  # float() takes more: 1_0, nan, Arabic
COMMA_NUMBER = re.compile(r"[+-]?(?:[0-9]+,?[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?")
MISSING = frozenset(("", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", r"\n", "?"))  # in small letters
BLANKS = " \t\r\n"  # around a cell; other blanks, such as a no-break space, belong to it
CELL_BYTES = 12  # a number of 8 bytes, and the code of a word


class Column(NamedTuple):
    """`numbers`: NaN where a cell is missing or a word. `codes`: which of `words` a cell is, −1 where it is none."""

    name: str
    place: int  # in the file, from 1 on
    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]
    words: tuple[str, ...]

    @property
    def missing(self) -> NDArray[np.bool_]:
        absent: NDArray[np.bool_] = np.isnan(self.numbers) & (self.codes < 0)
        return absent

    @property
    def label(self) -> str:
        """What a message calls it."""
        return self.name or f"column {self.place}"

    def keep(self, rows: NDArray[np.bool_]) -> Column:
        """Of these rows, with the words that are left."""
        codes = self.codes[rows]
        left = np.unique(codes[codes >= 0])
        words = tuple(self.words[k] for k in left)
        renamed = np.where(codes < 0, -1, np.searchsorted(left, codes)).astype(np.int32)
        return self._replace(numbers=self.numbers[rows], codes=renamed, words=words)


class Table(NamedTuple):
    """Columns, the texts of the target (None where it is missing), and how a row is called in the file."""

    path: str
    columns: tuple[Column, ...]
    labels: tuple[Any, ...] | None
    lines: NDArray[np.int64]
    target: int | None = None  # its place, from 1 on
    row: str = "line"  # what `lines` counts

    def keep(self, rows: NDArray[np.bool_]) -> Table:
        labels = None if self.labels is None else tuple(self.labels[i] for i in np.flatnonzero(rows))
        columns = tuple(column.keep(rows) for column in self.columns)
        return self._replace(columns=columns, labels=labels, lines=self.lines[rows])

    def refuse(self, i: int, place: int, reason: str) -> BadFile:
        """An error at row i; a file without lines counts its rows."""
        if self.row == "line":
            return BadFile(self.path, reason, line=int(self.lines[i]), column=place)
        return BadFile(self.path, f"{self.row} {int(self.lines[i])}, column {place}: {reason}")


def missing(text: str) -> bool:
    """Whether a cell without blanks around it says that its value is not known."""
    return text.lower() in MISSING


def repeated(names: Sequence[str]) -> int | None:
    """Where the first name is that has been there before."""
    seen = set[str]()
    for j, name in enumerate(names):
        if name in seen:
            return j
        seen.add(name)
    return None


class Cells:
    """One column while it is read. `text`: all cells are words, even those that look like numbers."""

    def __init__(self, name: str, place: int, *, text: bool = False, decimal: str = ".") -> None:
        self.name, self.place, self._text, self._decimal = name, place, text, decimal
        self._values, self._codes, self._words = array("d"), array("i"), dict[str, int]()

    def extend(self, cells: Sequence[str]) -> None:
        values = None if self._text or self._words else _numbers(cells, self._decimal)
        if values is None:
            for cell in cells:
                self.add(cell)
        else:
            self._values.extend(values)
            self._codes.extend(_NO_WORD * len(values))

    def add(self, cell: str) -> None:
        text = cell.strip(BLANKS)
        code, value = self._words.get(text, -1), math.nan
        if code < 0 and not missing(text):
            value = math.nan if self._text else _number(text, self._decimal)
            if math.isnan(value):
                code = self._words.setdefault(text, len(self._words))
        self._values.append(value)
        self._codes.append(code)

    def add_numbers(self, values: Iterable[float]) -> None:
        """Numbers of a file that has types, NaN where one is missing; the infinite are words."""
        for value in values:
            if math.isinf(value):
                self.add(str(value))
            else:
                self._values.append(value)
                self._codes.append(-1)

    @property
    def column(self) -> Column:
        """What was read. The arrays are those of the cells: no more cells can be added."""
        numbers = np.frombuffer(self._values, np.float64) if self._values else np.empty(0)
        codes = np.frombuffer(self._codes, np.int32) if self._codes else np.empty(0, np.int32)
        return Column(self.name, self.place, numbers, codes, tuple(self._words))


_NO_WORD = array("i", [-1])


def _numbers(cells: Sequence[str], decimal: str) -> array[float] | None:
    """All cells as numbers; None if one of them is none, or has to be looked at."""
    joined = "".join(cells)
    if not (joined.isascii() and joined.isprintable()) or "_" in joined:
        return None
    if decimal == ",":
        if "." in joined:
            return None
        cells = [cell.replace(",", ".") for cell in cells]
    try:
        values = array("d", map(float, cells))
    except ValueError:
        return None
    return values if np.isfinite(np.frombuffer(values)).all() else None


def _number(text: str, decimal: str) -> float:
    """NaN for what is not a finite number."""
    if not (NUMBER if decimal == "." else COMMA_NUMBER).fullmatch(text):
        return math.nan
    value = float(text.replace(",", "."))
    return value if math.isfinite(value) else math.nan


def affordable(path: str, rows: int, columns: int) -> None:
    """Refuse a table whose columns take more than a data file may."""
    if rows * columns * CELL_BYTES > (limit := most_bytes()):
        raise BadFile(path, too_large(f"{columns:,} columns of {rows:,} rows or more take", limit))
