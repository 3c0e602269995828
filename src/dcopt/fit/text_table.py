"""Aligned tables as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """Columns by name, where pandas is not installed: table["effect"] is a list."""

    columns: dict[str, list[Any]]

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __str__(self) -> str:
        cells = [[name, *map(_cell, values)] for name, values in self.columns.items()]
        widths = [max(map(len, column)) for column in cells]
        lines = zip(*cells, strict=True)
        left, *others = widths
        rows = ((line[0].ljust(left), *map(str.rjust, line[1:], others)) for line in lines)
        return "\n".join("  ".join(row).rstrip() for row in rows)

    __repr__ = __str__


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)


def in_lines(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """An aligned table as text."""
    return str(Table({name: [row[j] for row in rows] for j, name in enumerate(head)}))
