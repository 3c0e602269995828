"""Traces as one table: CSV always, Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..store import atomic
from .curves import COLUMNS
from .ledger import Line

HEAD = ("experiment", "data", "method", "seed", *COLUMNS)
Row = tuple[Any, ...]


def looks(experiment: str, lines: Iterable[Line]) -> Iterator[Row]:
    """A row for every look at every run."""
    for line in lines:
        own = experiment, line["data"], line["method"], line["seed"]
        yield from ((*own, *values) for values in zip(*(line["columns"][c] for c in COLUMNS), strict=True))


def save(head: Sequence[str], rows: Sequence[Row], stem: Path) -> list[Path]:
    """stem.csv and stem.parquet; a missing value is an empty cell, never a number."""
    path, text = stem.with_suffix(".csv"), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(["" if v is None else v for v in row] for row in rows)
    atomic.write(path, [text.getvalue().encode()])
    if find_spec("pyarrow") is None:
        return [path]
    import pyarrow
    import pyarrow.parquet

    columns = {name: [row[k] for row in rows] for k, name in enumerate(head)}
    table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
    packed = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, packed)
    atomic.write(stem.with_suffix(".parquet"), [packed.getvalue()])
    return [path, stem.with_suffix(".parquet")]
