"""Observers: they look at a run and cannot change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Record(NamedTuple):
    """One line of a trace."""

    t: int
    seconds: float  # of the method alone: without tracing and observers
    gradients: int  # honest count
    paper: int  # the paper's count
    passes: float  # gradients / N; a stream: samples
    F: float
    measure: float
    nnz: int


@dataclass
class Trace:
    """What was seen on the way: a list of Records, with columns by name (`trace["F"]`)."""

    measure: str = "gap"
    records: list[Record] = field(default_factory=list)

    def __getitem__(self, column: str) -> list[float]:
        return [getattr(r, column) for r in self.records]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def columns(self) -> dict[str, list[float]]:
        """The trace as a table: pandas.DataFrame(trace.columns())."""
        return {name: self[name] for name in Record._fields}
