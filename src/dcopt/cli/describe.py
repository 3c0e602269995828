"""A description of a table: the kind of every column, missing cells, and the options that a fit needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..datasets.choose_columns import TableFile, position, targets
from ..datasets.coding import trouble
from ..datasets.columns import Column, Table
from ..datasets.csv_file import CsvFile
from ..datasets.request import Columns, Data

_LEVELS = 5  # The number of the most frequent values that are shown.
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}


def of_table(file: TableFile, target: str | None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The description of a file and of each column. Only an unknown target is refused."""
    names = file.names
    at = _target(file, target)
    table = file.read(range(file.width), at)
    columns = [_about(column, table) for column in table.columns]
    n = len(table.lines)
    known: dict[str, Any] = {"what": f"data: {file.form}", "rows": n, "columns": file.width}
    if isinstance(file, CsvFile):
        known["written with"] = f"{_DELIMITERS[file.delimiter]}, decimal {'comma' if file.decimal == ',' else 'point'}"
    first = [name or "–" for name in (names or ())[:10]]
    known["names"] = "none" if names is None else [*first, *(["…"] if len(names) > 10 else [])]
    index = names is not None and not names[0]  # A fit leaves out a column without a name.
    apart = {0 if at is None else at + 1, int(index)}
    features = [c for c in table.columns if c.place not in apart]
    absent = np.logical_or.reduce([c.missing for c in features]) if features else np.zeros(n, bool)
    cells = sum(int(c.missing.sum()) for c in features)
    known["missing"] = f"{cells} cells in {int(absent.sum())} of {n} rows" if cells else "none"
    if table.labels is not None:
        known["targets"] = _targets(table.labels)
    ratio = _ratio(features)
    known["column scales"] = f"differ by a factor of {ratio:.3g}"
    needs = [about["needs"] for about in columns if about["needs"] and about["column"] not in apart]
    if cells:
        needs.insert(0, "--missing drop or --missing mean")
    if at is None:
        needs.insert(0, "--target")
    if file.odd:
        lines = ", ".join(map(str, file.odd[:5])) + (", …" if len(file.odd) > 5 else "")
        needs.append(f"lines with another number of cells mended ({len(file.odd)}): {lines}")
    known["a fit needs"] = needs or "nothing more"
    notes = [*file.notes, *(["column 1 has no name: a fit takes it for an index and leaves it out"] if index else [])]
    if notes:
        known["notes"] = notes
    return known, columns


def shown(columns: Sequence[dict[str, Any]], most: int) -> Sequence[tuple[str, ...]]:
    """Rows for a table on the screen: number, name, kind, values, missing."""
    rows = [
        (str(c["column"]), c["name"] or "–", c["kind"], c["values"], str(c["missing"] or "")) for c in columns[:most]
    ]
    return rows + ([("…", f"{len(columns) - most} more", "", "", "")] if len(columns) > most else [])


HEAD = ("column", "name", "kind", "values", "missing")


def of_rows(data: Data) -> dict[str, Any]:
    """The description of data without names: LIBSVM text and data sets."""
    n, d = data.X.shape
    sparse = hasattr(data.X, "tocsr")
    nnz = int(data.X.nnz) if sparse else int(np.count_nonzero(data.X))
    known: dict[str, Any] = {
        "what": f"data: {data.form}", "rows": n, "columns": d, "non-zeros": f"{nnz} ({nnz / (n * d):.3g} of all)",
        "stored": "sparse" if sparse else "dense",
    }  # fmt: skip
    if data.zero_based:
        known["indices"] = "from 0"
    if data.y is not None:
        known["targets"] = _targets(data.y.tolist(), data.real)
    values = np.asarray(data.X.data if sparse else data.X, np.float64).ravel()
    where = data.X.tocsr().indices if sparse else np.tile(np.arange(d), n)
    size = np.sqrt(np.bincount(where, values**2, d) / n)
    used = size[size > 0.0]
    ratio = float(used.max() / used.min()) if used.size else 1.0
    known["column scales"] = f"differ by a factor of {ratio:.3g}"
    if used.size < d:
        known["empty columns"] = d - int(used.size)
    return known


def _target(file: TableFile, target: str | None) -> int | None:
    return None if target is None else position(file, "target", target, Columns())


def _about(column: Column, table: Table) -> dict[str, Any]:
    kind, why, row = trouble(column)
    numbers = column.numbers[~np.isnan(column.numbers)]
    span = [float(numbers.min()), float(numbers.max())] if len(numbers) else None
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.words))
    order = np.argsort(-counts, kind="stable")[:_LEVELS]
    levels = {column.words[k]: int(counts[k]) for k in order} if len(column.words) else {}
    if kind == "numbers":
        values = f"{span[0]:g}" if span and span[0] == span[1] else f"{span[0]:g} to {span[1]:g}" if span else ""
    elif kind in ("levels", "yes/no"):
        more = ", …" if len(column.words) > _LEVELS else ""
        values = f"{len(column.words)}: " + ", ".join(f"{word[:20]} {count}" for word, count in levels.items()) + more
    else:
        where = "" if row is None else f" ({table.row} {int(table.lines[row])})"
        values = why + where
    needs = ""
    if kind in ("mixed", "odd numbers"):
        needs = f"--drop {column.name or column.place} or --categorical {column.name or column.place}"
    elif why:
        needs = f"--drop {column.name or column.place}"
    return {
        "column": column.place, "name": column.name, "kind": kind, "values": values, "range": span,
        "missing": int(column.missing.sum()), "levels": len(column.words), "most frequent": levels, "needs": needs,
    }  # fmt: skip


def _targets(labels: Sequence[Any], real: bool | None = None) -> str:
    """The classes and how often each is, or the range of numbers."""
    present = [label for label in labels if label is not None]
    absent = f", {len(labels) - len(present)} missing" if len(present) < len(labels) else ""
    if not present:
        return "all missing"
    y = targets(present)
    if Data(None, y, None, None, "", "").real if real is None else real:
        return f"numbers from {y.min():g} to {y.max():g}{absent}"
    classes, counts = np.unique(y, return_counts=True)
    first = ", ".join(f"{label}: {count}" for label, count in list(zip(classes, counts, strict=True))[:10])
    return f"{len(classes)} classes ({first}{', …' if len(classes) > 10 else ''}){absent}"


def _ratio(columns: Sequence[Column]) -> float:
    """The largest root mean square of a column of numbers over the smallest."""
    sizes = [float(np.sqrt(np.nanmean(c.numbers**2))) for c in columns if not np.isnan(c.numbers).all()]
    used = [size for size in sizes if size > 0.0]
    return max(used) / min(used) if used else 1.0
