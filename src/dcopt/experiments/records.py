"""The records of the runs of `scaling`: for every ε the gradients until the distance was first seen below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import require
from .ledger import Line
from .typed import build


class Record(NamedTuple):
    """One ε of one run. Censored: `gradients`, `paper`, `steps` are None and more than `before` were spent."""

    data: str
    n: int
    method: str
    seed: int
    level: float
    eps: float
    status: str  # "crossed" or "censored"
    gradients: int | None  # All gradients at the first record with d ≤ ε.
    paper: int | None
    steps: int | None
    before: int  # All gradients at the last record before it, with d > ε.
    seconds: float  # The seconds of the run so far, with recording.
    programs: int | None = 0  # Component gradients of G in the convex programs until then; no other field has them.


@dataclass(frozen=True)
class Crossings:
    """A line of the ledger: the records of one run."""

    key: str
    says: str
    records: tuple[Record, ...]

    def __post_init__(self) -> None:
        require(bool(self.records), "records", [], "at least one")
        for r in self.records:
            mine = f"{r.data}/{r.n}/{r.method}/{r.seed}"
            require(self.key == mine, "key", self.key, f"that of its records, {mine}")
            require(r.eps > 0.0 and r.level > 0.0, "eps, level", (r.eps, r.level), "numbers > 0")
            known = {"crossed": False, "censored": True}.get(r.status)
            missing = {count is None for count in (r.gradients, r.paper, r.steps, r.programs)}
            require(missing == {known}, "status", r.status, "crossed with all counts, or censored without any")


def check_line(line: Line, where: str) -> Crossings:
    """BadSettings for a line that no run of the experiment has written."""
    return build(Crossings, line, where)


def records(lines: Sequence[Line]) -> list[Record]:
    """The records in the lines of a ledger."""
    return [Record(**fields) for line in lines for fields in line["records"]]


def beyond(record: Record, count: str = "gradients") -> float:
    """Gradients after the first N ("with programs": those of G too), or steps; ∞ if censored, as medians take it."""
    if record.gradients is None:
        return math.inf
    if count == "with programs":
        return float(record.gradients - record.n + (record.programs or 0))
    value = getattr(record, count)
    return float(value) if count == "steps" else float(value - record.n)
