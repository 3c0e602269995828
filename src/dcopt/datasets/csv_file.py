"""CSV as people have it: comma, semicolon or tab, decimal points or commas, comments at the top, names or none."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice

import numpy as np

from ..errors import BadFile
from .columns import BLANKS, COMMA_NUMBER, NUMBER, Cells, Table, affordable, missing
from .text import Progress, Text

MOST_COLUMNS = 10**6  # a line with more cells is refused before its cells are made
_SAMPLE = 100  # rows that are looked at for decimal commas
_BLOCK = 2**16  # cells that are turned into numbers together
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_DECIMAL = re.compile(r"[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")  # as no name looks
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")


class CsvFile:
    """The names and the shape are known when it is open; `read` gives the columns that are asked for.

    `header`: whether the first line is names, None to look at it. `decimal`: "." or ",", None to look at the cells.
    `target`: what the target is called, which may tell that a line of numbers is names. `skip_odd`: leave out the lines
    that have another number of cells, and remember them in `odd`, where they are refused otherwise.
    """

    form, row = "CSV", "line"

    def __init__(
        self,
        path: str,
        file: io.TextIOWrapper,
        header: bool | None = None,
        decimal: str | None = None,
        target: str | None = None,
        skip_odd: bool = False,
    ) -> None:
        self.path, self.skip_odd = path, skip_odd
        self.odd: list[int] = []
        self.notes: list[str] = []
        self._above, comment, head = _top(path, file)
        self.delimiter = max(",;\t", key=_QUOTED.sub("", head).count)
        self._reader = csv.reader(self._bounded(chain([head], file)), delimiter=self.delimiter, strict=True)
        sample = [(self._line, cells) for cells in islice(self._records(), _SAMPLE)]
        first = [cell.strip(BLANKS) for cell in sample[0][1]]
        self.width = len(first)
        self.decimal = decimal or _decimal(self.delimiter, (cells for _, cells in sample))
        if decimal is None and self.decimal == ",":
            self.notes.append("decimals are written with a comma")
        self.names = self._names(first, self._commented(comment, first), header, target)
        self._rows = chain(sample if self._named_above or self.names is None else sample[1:], self._numbered())

    @property
    def _line(self) -> int:
        return self._above + self._reader.line_num

    def _bounded(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            if line.count(self.delimiter) > MOST_COLUMNS:
                raise BadFile(self.path, f"has a line of more than {MOST_COLUMNS:,} cells, the largest number allowed")
            yield line

    def _records(self) -> Iterator[list[str]]:
        """Blank lines are passed over."""
        return (cells for cells in self._reader if cells)

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        return ((self._line, cells) for cells in self._records())

    def _commented(self, comment: str, first: Sequence[str]) -> tuple[str, ...] | None:
        """The cells of the comment above the first line, if they may be its names."""
        if not comment:
            return None
        cells = next(csv.reader([comment.strip(BLANKS).lstrip("#")], delimiter=self.delimiter), [])
        words = all(not _is_number(cell, self.decimal) and not missing(cell) for cell in first)
        if len(cells) != len(first) or len(cells) < 2 or words:
            return None
        return tuple(cell.strip(BLANKS) for cell in cells)

    def _names(
        self, first: list[str], commented: tuple[str, ...] | None, header: bool | None, target: str | None
    ) -> tuple[str, ...] | None:
        self._named_above = commented is not None and header is not False
        if commented is not None and header is not False:
            self.notes.append(f"the names of the columns are those of the comment in line {self._above}")
            return commented
        if header is not None:
            return tuple(first) if header else None
        numbers = sum(_is_number(cell, self.decimal) for cell in first)
        if numbers == len(first):
            position = target is not None and re.fullmatch(r"-?[1-9][0-9]*", target) and abs(int(target)) <= len(first)
            if target is None or position or target not in first:
                return None
        elif any((_DECIMAL if self.decimal == "." else _DECIMAL_COMMA).fullmatch(cell) for cell in first):
            self.notes.append("the first line has decimal numbers and is read as a row: --header takes it for names")
            return None
        if numbers:
            self.notes.append("the first line is taken for names, and some are numbers: --no-header reads it as a row")
        return tuple(first)

    def read(self, features: Sequence[int], target: int | None = None, texts: Collection[int] = ()) -> Table:
        """The columns at these positions (from 0 on); those in `texts` as words."""
        names = self.names or ("",) * self.width
        cells = [Cells(names[j], j + 1, text=j in texts, decimal=self.decimal) for j in features]
        labels: list[str | None] = []
        lines = array("q")
        for rows in self._blocks(lines):
            affordable(self.path, len(lines), len(cells))
            across = list(zip(*rows, strict=True))
            for one, j in zip(cells, features, strict=True):
                one.extend(across[j])
            if target is not None:
                labels.extend(self._label(cell.strip(BLANKS)) for cell in across[target])
        if not lines:
            raise BadFile(self.path, "has no rows")
        at = None if target is None else target + 1
        known = None if target is None else tuple(labels)
        return Table(self.path, tuple(one.column for one in cells), known, np.array(lines, np.int64), at)

    def tables(self, features: Sequence[int], target: int | None, texts: Collection[int] = ()) -> Iterator[Table]:
        """As `read`, some rows at a time, in bounded memory"""
        names = self.names or ("",) * self.width
        lines = array("q")
        for rows in self._blocks(lines):
            across = list(zip(*rows, strict=True))
            cells = [Cells(names[j], j + 1, text=j in texts, decimal=self.decimal) for j in features]
            for one, j in zip(cells, features, strict=True):
                one.extend(across[j])
            known = None if target is None else tuple(self._label(cell.strip(BLANKS)) for cell in across[target])
            at = None if target is None else target + 1
            yield Table(self.path, tuple(one.column for one in cells), known, np.array(lines, np.int64), at)
            del lines[:]

    def _blocks(self, lines: array[int]) -> Iterator[list[list[str]]]:
        rows: list[list[str]] = []
        for number, cells in self._rows:
            if len(cells) != self.width:
                if not self.skip_odd:
                    said = f"{len(cells)} cells, where the first line has {self.width}"
                    raise BadFile(self.path, said, line=number)
                self.odd.append(number)
                continue
            rows.append(cells)
            lines.append(number)
            if len(rows) * self.width >= _BLOCK:
                yield rows
                rows = []
        if rows:
            yield rows

    def _label(self, text: str) -> str | None:
        if missing(text):
            return None
        return text.replace(",", ".") if self.decimal == "," and COMMA_NUMBER.fullmatch(text) else text


@contextmanager
def open_csv(
    path: str,
    header: bool | None = None,
    decimal: str | None = None,
    target: str | None = None,
    skip_odd: bool = False,
    progress: Progress | None = None,
) -> Iterator[CsvFile]:
    """The file, while the block runs; what is no CSV is BadFile."""
    with (
        Text(path, progress=progress) as raw,
        io.TextIOWrapper(io.BufferedReader(raw, 2**20), "utf-8-sig", newline="") as file,
    ):
        try:
            yield CsvFile(path, file, header, decimal, target, skip_odd)
        except UnicodeDecodeError as why:
            byte = f"byte 0x{why.object[why.start]:02x}: {why.reason}"
            how = "if it is Latin-1, iconv -f latin1 -t utf-8 OLD > NEW converts it"
            raise BadFile(path, f"is not UTF-8 text ({byte}): save it as UTF-8; {how}") from None
        except csv.Error as why:
            raise BadFile(path, f"cannot be read as CSV ({why})") from None


def _top(path: str, file: io.TextIOWrapper) -> tuple[int, str, str]:
    """How many lines are above the first line of cells, the comment just above it, and the line."""
    above, comment = 0, ""
    while line := file.readline():
        if line.startswith("#"):
            comment = line
        elif line.strip(BLANKS):
            return above, comment, line
        else:
            comment = ""
        above += 1
    raise BadFile(path, "is empty")


def _decimal(delimiter: str, rows: Iterator[list[str]]) -> str:
    """A comma, if some cells are numbers with one, none has a point, and commas do not part the cells."""
    cells = [cell.strip(BLANKS) for row in rows for cell in row]
    commas = delimiter != "," and any(map(_DECIMAL_COMMA.fullmatch, cells))
    return "," if commas and not any(map(_DECIMAL.fullmatch, cells)) else "."


def _is_number(cell: str, decimal: str) -> bool:
    return (NUMBER if decimal == "." else COMMA_NUMBER).fullmatch(cell) is not None
