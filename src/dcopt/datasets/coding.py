"""Features from columns: numbers as they are, yes and no as 1 and 0, and words as one column of 0 and 1 for each level.

The most frequent level is the reference: it has no column, all columns of the others are 0 there. What was made of the
columns is kept with the model, so that rows to predict are made into the same features.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, nearest
from .columns import Column, Table, repeated

FEW_LEVELS = 20  # a column with more levels needs two rows for a level, or it is taken for names of the rows
MOST_LEVELS = 1000  # features that one column may become
MOST_BYTES = 2**19  # of the coding in a model file, whose header has at most 2**20
_BOOLEANS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_PAIRS = ({"true", "false"}, {"yes", "no"})
MISSING = ("refuse", "drop", "mean")


@dataclass(frozen=True)
class Coded:
    """A column and what becomes of it. `levels`: the reference first, for words only."""

    name: str
    kind: str  # "numbers", "yes/no", "levels"
    levels: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        if self.kind == "levels":
            return tuple(f"{self.name}={level}" for level in self.levels[1:])
        return (self.name,)

    def of(self, table: Table, column: Column) -> NDArray[np.float64]:
        """(rows, features), NaN where the cell is missing; BadFile for what this column did not have in the fit."""
        if self.kind == "numbers":
            if len(words := np.flatnonzero(column.codes >= 0)):
                raise table.refuse(words[0], column.place, f"{column.label}: {_cell(column, words[0])} is not a number")
            return column.numbers[:, None]
        if len(odd := np.flatnonzero(~np.isnan(column.numbers))):
            said = f"{column.label}: {column.numbers[odd[0]]:g} is a number, and the column is one of words"
            raise table.refuse(odd[0], column.place, said)
        known = {level: k for k, level in enumerate(self.levels)}
        of_word = [_BOOLEANS.get(w.lower()) if self.kind == "yes/no" else known.get(w) for w in column.words]
        for code, value in enumerate(of_word):
            if value is None and len(rows := np.flatnonzero(column.codes == code)):
                raise table.refuse(rows[0], column.place, self._unknown(column, column.words[code]))
        of_code = np.array([math.nan if v is None else float(v) for v in of_word] + [math.nan])
        values = np.take(of_code, column.codes)[:, None]  # code −1, the last entry: the cell is missing
        if self.kind == "yes/no":
            return values
        out = (values == np.arange(1, len(self.levels))).astype(np.float64)
        return np.where(np.isnan(values), math.nan, out)

    def _unknown(self, column: Column, word: str) -> str:
        if self.kind == "yes/no":
            return f"{column.label}: {word[:40]!r} is none of true, false, yes and no, as the column had in the fit"
        shown = ", ".join(map(repr, self.levels[:8])) + (", …" if len(self.levels) > 8 else "")
        near = nearest(word, self.levels)
        hint = "" if near is None else f"; did you mean {near!r}?"
        return f"{column.label}: {word[:40]!r} is not one of the levels that the column had in the fit ({shown}){hint}"


@dataclass(frozen=True)
class Coding:
    """All columns of a table in order; `means` of the features where missing cells are filled in."""

    columns: tuple[Coded, ...]
    missing: str = "refuse"
    means: tuple[float, ...] | None = None
    header: bool = True  # whether the names of the columns are those of a file

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(name for one in self.columns for name in one.features)

    @property
    def trivial(self) -> bool:
        """Whether the features are the columns, so that a model need not keep it."""
        return self.means is None and all(one.kind == "numbers" for one in self.columns)

    def of(self, table: Table, fitting: bool = False) -> NDArray[np.float64]:
        """The features; BadFile where a cell is missing, unless the means are known."""
        X = np.concatenate([one.of(table, c) for one, c in zip(self.columns, table.columns, strict=True)], axis=1)
        absent = np.isnan(X)
        if not absent.any():
            return X
        if self.means is None:
            raise _missing(table, self.missing, fitting)
        return np.where(absent, np.array(self.means), X)

    def plain(self) -> dict[str, Any]:
        """As the header of a model keeps it."""
        return {
            "columns": [
                one.name if one.kind == "numbers" else [one.name, one.kind, list(one.levels)] for one in self.columns
            ],
            "missing": self.missing,
            "means": None if self.means is None else list(self.means),
            "header": self.header,
        }


def from_plain(said: Any) -> Coding:
    """The coding that a model file holds; ValueError or TypeError for what `plain` would not write."""
    columns = tuple(Coded(one, "numbers") if isinstance(one, str) else _coded(*one) for one in said["columns"])
    means = said["means"]
    coding = Coding(columns, said["missing"], None if means is None else tuple(map(float, means)), bool(said["header"]))
    if coding.missing not in MISSING or (means is not None and len(means) != len(coding.features)):
        raise ValueError("means that do not fit the columns")
    return coding


def _coded(name: str, kind: str, levels: Sequence[str]) -> Coded:
    if kind not in ("yes/no", "levels") or not all(isinstance(text, str) for text in (name, *levels)):
        raise ValueError("a column of an unknown kind")
    return Coded(name, kind, tuple(levels))


def fit_coding(
    table: Table, header: bool, categorical: Container[int] = (), missing: str = "refuse"
) -> tuple[Coding, list[str]]:
    """What becomes of every column, and what is to be said about it. BadFile for a column that becomes nothing.

    `categorical`: the places of columns whose values are levels, also where they are numbers. Columns without a name
    are called by their place.
    """
    coded, notes = [], []
    for column in table.columns:
        one, note = _fit(table, column._replace(name=column.label), column.place in categorical)
        coded.append(one)
        notes += note
    coding = Coding(tuple(coded), missing, None, header)
    if not coding.features:
        raise BadFile(table.path, "has no column with more than one value beside the target")
    if (twice := repeated(coding.features)) is not None:
        said = f"two features would be called {coding.features[twice]!r}: rename a column, or leave one out by --drop"
        raise BadFile(table.path, said)
    if missing == "mean":
        coding = _with_means(table, coding)
    if not coding.trivial and len(json.dumps(json.dumps(coding.plain()))) > MOST_BYTES:  # as a header holds it
        said = f"the names, levels and means of its columns take more than {MOST_BYTES:,} bytes in a model file"
        raise BadFile(table.path, f"{said}: leave some columns out by --drop")
    return coding, notes


def complete(table: Table) -> tuple[Table, list[str]]:
    """The rows without a missing cell: what --missing drop leaves."""
    for column in table.columns:
        if column.missing.all():
            raise _unusable(table, column, "every cell is missing", None)
    rows = ~np.logical_or.reduce([column.missing for column in table.columns])
    if table.labels is not None:
        rows &= [label is not None for label in table.labels]
    left = int(rows.sum())
    if not left:
        raise BadFile(table.path, "has no row without a missing cell: --missing drop leaves nothing")
    if left == len(rows):
        return table, []
    return table.keep(rows), [f"{len(rows) - left} of {len(rows)} rows have a missing cell and are left out"]


def trouble(column: Column, categorical: bool = False) -> tuple[str, str, int | None]:
    """(kind, why it cannot be coded or "", the row to show): the kind is also "empty", "mixed", "constant", …"""
    numbers, words = int((~np.isnan(column.numbers)).sum()), int((column.codes >= 0).sum())
    if not numbers + words:
        return "empty", "every cell is missing", None
    if not words:
        return "numbers", "", None
    row = int(np.flatnonzero(column.codes >= 0)[0])
    if numbers:
        more = f", nor are {words - 1} more cells" if words > 2 else ", nor is 1 more cell" if words == 2 else ""
        return "mixed", f"{_cell(column, row)} is not a number{more}", row
    if {word.lower() for word in column.words} <= _PAIRS[0] or {w.lower() for w in column.words} <= _PAIRS[1]:
        return ("levels" if categorical else "yes/no"), "", None
    if not categorical and not all(any(c.isalpha() for c in word) for word in column.words):
        odd = next(k for k, word in enumerate(column.words) if not any(c.isalpha() for c in word))
        row = int(np.flatnonzero(column.codes == odd)[0])
        return "odd numbers", f"{_cell(column, row)} is not a number", row
    count = len(column.words)
    if 2 < count == words or (count > FEW_LEVELS and 2 * count > words):
        return "identifiers", f"{count} different words in {words} cells identify rows, and say nothing of others", None
    if count > MOST_LEVELS:
        return "identifiers", f"{count} different words, of which at most {MOST_LEVELS} are coded", None
    return "levels", "", None


def _fit(table: Table, column: Column, categorical: bool) -> tuple[Coded, list[str]]:
    kind, why, row = trouble(column, categorical)
    if why:
        raise _unusable(table, column, why, row)
    if kind == "levels":
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.words))
        order = sorted(range(len(counts)), key=lambda k: column.words[k])
        first = max(order, key=lambda k: int(counts[k]))  # the first of the most frequent
        levels = (column.words[first], *(column.words[k] for k in order if k != first))
        if len(levels) == 1:
            return Coded(column.name, kind, levels), [f"{column.label}: {levels[0]!r} in every row, so not a feature"]
        return Coded(column.name, kind, levels), [f"{column.label}: {len(levels)} levels, reference {levels[0]}"]
    if kind == "yes/no":
        pair = "/".join(("yes", "no") if {w.lower() for w in column.words} <= _PAIRS[1] else ("true", "false"))
        return Coded(column.name, kind), [f"{column.label}: {pair} as 1/0"]
    return Coded(column.name, kind), []


def _unusable(table: Table, column: Column, why: str, row: int | None) -> BadFile:
    """With what can be done: a column of which one cell is shown may be one of levels."""
    said = f"{column.label}: {why}; --drop {_word(column)} leaves the column out"
    if row is None:
        return BadFile(table.path, f"column {column.place}: {said}")
    return table.refuse(row, column.place, f"{said}, --categorical {_word(column)} takes its values for levels")


def _with_means(table: Table, coding: Coding) -> Coding:
    X = np.concatenate([one.of(table, c) for one, c in zip(coding.columns, table.columns, strict=True)], axis=1)
    return replace(coding, means=tuple(np.nanmean(X, axis=0).tolist()))  # no column has missing cells only


def _missing(table: Table, how: str, fitting: bool) -> BadFile:
    """The first missing cell of the first row that has one, how many there are, and what can be done."""
    absent = np.column_stack([column.missing for column in table.columns])
    i = int(np.flatnonzero(absent.any(axis=1))[0])
    column = table.columns[int(np.flatnonzero(absent[i])[0])]
    count, columns = int(absent.sum()), int(absent.any(axis=0).sum())
    more = "" if count == 1 else f", one of {count} in {columns} column{'s' if columns > 1 else ''}"
    if fitting:
        hint = "--missing drop leaves their rows out, --missing mean fills in the mean of the column"
    else:
        hint = f"the model was fitted with --missing {how}; one fitted with --missing mean fills them in"
    return table.refuse(i, column.place, f"{column.label}: the cell is missing{more}; {hint}")


def _cell(column: Column, row: Any) -> str:
    return repr(column.words[int(column.codes[row])][:40])


def _word(column: Column) -> str:
    """How the column is named in an option."""
    name = column.name or str(column.place)
    return repr(name) if " " in name else name
