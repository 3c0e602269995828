"""CSV and Parquet as a source: read twice, once for the levels of the columns, and once for the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile, BadSettings
from ..choose_columns import position, targets
from ..coding import MOST_LEVELS, Coded, Coding, complete, fit_coding
from ..columns import NUMBER, Column, Table
from ..file_form import Form
from ..request import Columns
from ..tables import opened
from .block import Block
from .sources import Piece, stamp

_ROWS = 2**16  # from whose cells the kinds of the columns are told
_CELLS = 2**21  # of a block


class TableSource:
    """The rows of tables with the same columns, coded as `dcopt fit` codes one; `wanted` says which columns."""

    d: int | None
    zero_based: bool | None = True

    def __init__(self, paths: Sequence[str], form: Form, wanted: Columns, weights: str | None = None) -> None:
        self.path, self.paths, self.form, self.wanted = paths[0], paths, form, wanted
        self._stamps = [stamp(path) for path in paths]
        path = self.path
        if wanted.missing not in ("refuse", "drop"):
            raise BadSettings("missing", wanted.missing, '"refuse" or "drop": the means are not known before the end')
        with ExitStack() as stack:
            file = opened(stack, path, form, wanted)
            self.target = None if wanted.target is None else position(file, "target", wanted.target, wanted)
            self.weight = None if weights is None else position(file, "weights", weights, wanted)
            out = {position(file, "drop", name, wanted) for name in wanted.drop} | {self.target, self.weight}
            self.features = [j for j in range(file.width) if j not in out]
            if file.names and not file.names[0] and 0 in self.features:
                self.features.remove(0)  # As in a fit, a first column without a name is an index.
            if not self.features:
                raise BadFile(path, "has no column beside the target")
            self.texts = {
                j for name in wanted.categorical if (j := position(file, "categorical", name, wanted)) is not None
            }
            header, self._names = file.names is not None, file.names
        self.coding, self.real = self._learn(header)
        names = None if self.coding.trivial and not header else self.coding.features
        self.d = self.width = len(self.coding.features)
        plain = None if self.coding.trivial else self.coding.plain()
        self.about: dict[str, Any] = {"names": names, "reading": {"target": wanted.target, "table": plain}}

    def identity(self) -> Any:
        wanted = self.wanted._replace(fitted=None)
        return [self.form, *self._stamps, [str(part) for part in wanted], self.weight]

    # ---- the first reading: what becomes of the columns

    def _tables(self) -> Iterator[Table]:
        """Tables with the weights, if there are any, in the last column"""
        columns = [*self.features, *([] if self.weight is None else [self.weight])]
        for path in self.paths:
            with ExitStack() as stack:
                file = opened(stack, path, self.form, self.wanted)
                if file.names != self._names:
                    raise BadFile(path, f"its columns are not those of {self.path}")
                yield from file.tables(columns, self.target, self.texts)

    def _learn(self, header: bool) -> tuple[Coding, bool]:
        """The coding of all rows, and whether all labels are numbers"""
        first, counts, real = list[Table](), dict[int, Counter[str]](), True
        coding: Coding | None = None
        held = 0
        for table in self._tables():
            real = real and all(label is None or _is_number(label) for label in table.labels or ())
            if coding is None:
                first.append(table)
                held += len(table.lines)
                if held < _ROWS:
                    continue
                coding, counts = self._kinds(first, header)
            else:
                _count(coding, table, counts)
        if coding is None:
            if not first:
                raise BadFile(self.path, "has no rows")
            coding, counts = self._kinds(first, header)
        return self._with_all_levels(coding, counts), real

    def _kinds(self, tables: list[Table], header: bool) -> tuple[Coding, dict[int, Counter[str]]]:
        places = {j + 1 for j in self.texts}
        whole = _stacked([self._without_weights(table) for table in tables])
        if self.wanted.missing == "drop":
            whole = complete(whole)[0]
        coding, _ = fit_coding(whole, header, places, self.wanted.missing)
        counts: dict[int, Counter[str]] = {k: Counter() for k, one in enumerate(coding.columns) if one.kind == "levels"}
        _count(coding, whole, counts)
        return coding, counts

    def _with_all_levels(self, coding: Coding, counts: dict[int, Counter[str]]) -> Coding:
        columns = list(coding.columns)
        for k, count in counts.items():
            if len(count) > MOST_LEVELS:
                said = f"{len(count)} different words, of which at most {MOST_LEVELS} are coded"
                raise BadFile(self.path, f"{columns[k].name}: {said}; --drop leaves the column out")
            words = sorted(count)
            reference = max(words, key=lambda word: count[word])
            levels = (reference, *(word for word in words if word != reference))
            columns[k] = Coded(columns[k].name, "levels", levels)
        return Coding(tuple(columns), coding.missing, None, coding.header)

    def _without_weights(self, table: Table) -> Table:
        return table if self.weight is None else table._replace(columns=table.columns[:-1])

    # ---- the second reading: rows

    def pieces(self, cursor: int, first: int) -> Iterator[Piece]:
        held, size, number, place = list[Table](), 0, 0, first
        for table in self._tables():
            held.append(table)
            size += len(table.lines) * max(self.width, len(table.columns))
            if size >= _CELLS:
                number += 1
                if number > cursor and (block := self._block(_stacked(held), place)).rows:
                    place += block.rows
                    yield Piece(block, number, 0.0)
                held, size = [], 0
        if held and number >= cursor:
            block = self._block(_stacked(held), place)
            if block.rows:
                yield Piece(block, number + 1, 1.0)
        for path, then in zip(self.paths, self._stamps, strict=True):
            if stamp(path) != then:
                raise BadFile(path, "changed while it was read")

    def _block(self, table: Table, first: int) -> Block:
        if self.wanted.missing == "drop":
            table = _complete(table)
        X = self.coding.of(self._without_weights(table), fitting=True)
        labels = None if table.labels is None else self._labels(table)
        weights = None if self.weight is None else self._weights(table)
        return Block(X, None, None, labels, weights, np.arange(first, first + len(X)))

    def _labels(self, table: Table) -> NDArray[Any]:
        assert table.labels is not None
        for i, label in enumerate(table.labels):
            if label is None:
                raise table.refuse(i, table.target or 0, "the target is missing; --missing drop leaves such rows out")
        return targets(table.labels) if self.real else np.array([str(label) for label in table.labels])

    def _weights(self, table: Table) -> NDArray[np.float64]:
        column = table.columns[-1]
        bad = np.flatnonzero(~(column.numbers >= 0.0) | np.isinf(column.numbers))
        if len(bad):
            raise table.refuse(int(bad[0]), column.place, "a weight is a finite number >= 0")
        return column.numbers


def _is_number(label: Any) -> bool:
    return NUMBER.fullmatch(label) is not None if isinstance(label, str) else True


def _count(coding: Coding, table: Table, counts: dict[int, Counter[str]]) -> None:
    """Add the words of the columns with levels."""
    for k, count in counts.items():
        column = table.columns[k]
        there = np.bincount(column.codes[column.codes >= 0], minlength=len(column.words)).tolist()
        count.update({word: number for word, number in zip(column.words, there, strict=True) if number})
        if len(count) > 2 * MOST_LEVELS:
            return  # It is refused at the end.


def _complete(table: Table) -> Table:
    """The rows without a missing cell; unlike `complete`, also where none is left"""
    rows = ~np.logical_or.reduce([column.missing for column in table.columns])
    if table.labels is not None:
        rows &= np.array([label is not None for label in table.labels])
    return table.keep(rows)


def _stacked(tables: list[Table]) -> Table:
    """Tables with the same columns, one under the other"""
    if len(tables) == 1:
        return tables[0]
    columns = []
    for parts in zip(*(table.columns for table in tables), strict=True):
        words = {word: k for k, word in enumerate(dict.fromkeys(word for part in parts for word in part.words))}
        codes = [np.append([words[word] for word in part.words], -1)[part.codes] for part in parts]
        numbers = np.concatenate([part.numbers for part in parts])
        columns.append(
            Column(parts[0].name, parts[0].place, numbers, np.concatenate(codes).astype(np.int32), tuple(words))
        )
    labels = None if tables[0].labels is None else tuple(label for table in tables for label in table.labels or ())
    return tables[0]._replace(columns=tuple(columns), labels=labels, lines=np.concatenate([t.lines for t in tables]))
