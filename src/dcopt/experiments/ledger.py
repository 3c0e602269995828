"""One line of CSV for each record, written as it comes, so that a killed run can continue."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from ..errors import BadInput
from .scaling import Record

_WHOLE, _REAL = ("n", "seed", "gradients", "paper", "steps", "before"), ("level", "eps", "seconds")


def read(path: Path) -> list[Record]:
    """The finished lines; a last line cut off by the end of its process is removed from the file."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    lines = list(csv.DictReader(whole.splitlines()))
    if whole and tuple(whole.splitlines()[0].split(",")) != Record._fields:
        raise BadInput(str(path), f"is not a table of {', '.join(Record._fields)}")
    return [_record(str(path), k, line) for k, line in enumerate(lines)]


def _record(name: str, row: int, line: dict[str, str]) -> Record:
    try:
        fields: dict[str, object] = dict(line)
        fields |= {k: int(line[k]) if line[k] else None for k in _WHOLE}
        fields |= {k: float(line[k]) for k in _REAL}
        return Record(**fields)  # type: ignore[arg-type]  # the casts above
    except (TypeError, ValueError) as why:
        raise BadInput(name, f"cannot be read ({why})", row=row) from None


def append(path: Path, records: Iterable[Record]) -> None:
    """Add lines and hand them to the system."""
    new = not path.exists() or path.stat().st_size == 0
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(Record._fields)
        writer.writerows(["" if v is None else v for v in r] for r in records)
