"""The trace of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from ..errors import pick


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

    @overload
    def __getitem__(self, key: str) -> list[float]: ...
    @overload
    def __getitem__(self, key: int) -> Record: ...
    def __getitem__(self, key: str | int) -> list[float] | Record:
        """A column by its name, or a record by its number."""
        if not isinstance(key, str):
            return self.records[key]
        at = Record._fields.index(pick("column", key, Record._fields))
        return [record[at] for record in self.records]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def columns(self) -> dict[str, list[float]]:
        """The trace as a table: pandas.DataFrame(trace.columns())."""
        return {name: self[name] for name in Record._fields}
