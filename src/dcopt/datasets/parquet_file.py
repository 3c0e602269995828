"""Parquet: columns have types, and texts in them are read as cells of CSV are."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..data.bounds import most_text, too_large
from ..errors import BadFile
from .columns import BLANKS, Cells, Table, affordable, missing, repeated
from .text import Progress

_ROWS = 2**14  # that are decoded together


class ParquetFile:
    """The names are known when it is open; `read` gives the columns that are asked for."""

    form, row, delimiter, decimal = "Parquet", "row", None, "."

    def __init__(self, path: str, file: Any, progress: Progress | None) -> None:
        self.path, self._file, self._progress = path, file, progress
        self.odd: list[int] = []
        self.notes: list[str] = []
        self.names: tuple[str, ...] | None = tuple(file.schema_arrow.names)
        self.width = len(self.names)
        if (twice := repeated(self.names)) is not None:
            raise BadFile(path, f"two columns are called {self.names[twice]!r}")

    def read(self, features: Sequence[int], target: int | None = None, texts: Collection[int] = ()) -> Table:
        """The columns at these positions (from 0 on); those in `texts` as words."""
        names, schema, n = self.names or (), self._file.schema_arrow, self._file.metadata.num_rows
        if not n:
            raise BadFile(self.path, "has no rows")
        wanted = [*features, *([] if target is None else [target])]
        self._bounded(wanted, n)
        for j in wanted:
            _readable(self.path, schema.field(j).type, j, names[j])
        cells = {j: Cells(names[j], j + 1, text=j in texts) for j in features}
        labels: list[Any] = []
        done = texts_so_far = 0
        limit = most_text(Path(self.path).stat().st_size)
        for batch in self._file.iter_batches(batch_size=_ROWS, columns=[names[j] for j in wanted]):
            for j in wanted:
                values = batch.column(names[j])
                values.validate(full=True)  # a damaged file may have codes of words that are not there
                texts_so_far += _text_bytes(values)
                if texts_so_far > limit:
                    raise BadFile(self.path, too_large("its text has", limit))
                if j == target:
                    labels.extend(_labels(values))
                if j in cells:
                    _extend(cells[j], values, j in texts)
            done += batch.num_rows
            if self._progress is not None:
                self._progress(done / n)
        lines = np.arange(1, done + 1)
        at = None if target is None else target + 1
        columns = tuple(one.column for one in cells.values())
        return Table(self.path, columns, None if target is None else tuple(labels), lines, at, self.row)

    def tables(self, features: Sequence[int], target: int | None, texts: Collection[int] = ()) -> Iterator[Table]:
        """As `read`, some rows at a time, in bounded memory"""
        names, schema, done = self.names or (), self._file.schema_arrow, 0
        wanted = [*features, *([] if target is None else [target])]
        for j in wanted:
            _readable(self.path, schema.field(j).type, j, names[j])
        for batch in self._file.iter_batches(batch_size=_ROWS, columns=[names[j] for j in wanted]):
            cells = {j: Cells(names[j], j + 1, text=j in texts) for j in features}
            for j in wanted:
                batch.column(names[j]).validate(full=True)
            for j in features:
                _extend(cells[j], batch.column(names[j]), j in texts)
            labels = None if target is None else tuple(_labels(batch.column(names[target])))
            lines, at = np.arange(done + 1, done + batch.num_rows + 1), None if target is None else target + 1
            yield Table(self.path, tuple(one.column for one in cells.values()), labels, lines, at, self.row)
            done += batch.num_rows

    def _bounded(self, wanted: Sequence[int], rows: int) -> None:
        """The sizes that the file declares."""
        affordable(self.path, rows, len(wanted))
        about, limit = self._file.metadata, most_text(Path(self.path).stat().st_size)
        # Not the sizes of single columns: where those are damaged, pyarrow ends the process when it is asked for them.
        size = sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))
        if size > limit:
            raise BadFile(self.path, too_large("its columns unpack to", limit))


@contextmanager
def open_parquet(path: str, progress: Progress | None = None) -> Iterator[ParquetFile]:
    """The file, while the block runs; what pyarrow cannot read is BadFile."""
    if find_spec("pyarrow") is None:
        raise BadFile(path, 'is Parquet, which needs pyarrow: pip install "dcopt[arrow]"')
    import pyarrow
    import pyarrow.parquet

    if not Path(path).is_file():
        raise BadFile(path, "is not a file")
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
            yield ParquetFile(path, file, progress)
    except (pyarrow.ArrowException, OSError, OverflowError, UnicodeDecodeError) as why:
        raise BadFile(path, f"cannot be read as Parquet ({(str(why).splitlines() or [''])[0][:80]})") from None


def _readable(path: str, kind: Any, j: int, name: str) -> None:
    from pyarrow import types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    known = (types.is_boolean, types.is_temporal, types.is_null, _is_number, _is_text)
    if not any(is_of(inner) for is_of in known):
        raise BadFile(path, f"column {j + 1}: {name}: values of type {kind} are neither numbers nor words")


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _extend(cells: Cells, values: Any, text: bool) -> None:
    """The values of one batch: numbers as such, true and false as words, all others as their texts."""
    from pyarrow import types

    if types.is_dictionary(values.type):  # a long text in it is not copied for every row
        words = list(map(_text, values.dictionary.to_pylist()))
        cells.extend(["" if i is None else words[i] for i in values.indices.to_pylist()])
    elif _is_number(values.type) and not text:
        cells.add_numbers(math.nan if v is None else float(v) for v in values.to_pylist())
    else:
        cells.extend(list(map(_text, values.to_pylist())))


def _text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _text_bytes(values: Any) -> int:
    """Those of the texts in all rows; the words of a dictionary are stored once, and may be long."""
    from pyarrow import compute, types

    coded = types.is_dictionary(values.type)
    words = values.dictionary if coded else values
    if not _is_text(words.type):
        return 0
    lengths = compute.binary_length(words.cast("large_string") if types.is_string_view(words.type) else words)
    return int(compute.sum(lengths.take(values.indices) if coded else lengths).as_py() or 0)


def _labels(values: Any) -> list[Any]:
    """Targets; the words of a dictionary are not copied for every row."""
    from pyarrow import types

    if not types.is_dictionary(values.type):
        return [_label(v) for v in values.to_pylist()]
    words = [_label(v) for v in values.dictionary.to_pylist()]
    return [None if i is None else words[i] for i in values.indices.to_pylist()]


def _label(value: Any) -> Any:
    """A target; texts as those of CSV, None where it is missing."""
    if isinstance(value, str):
        text = value.strip(BLANKS)
        return None if missing(text) else text
    return None if value is None or value != value else value
