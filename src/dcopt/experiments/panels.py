"""What a report shows: panels of curves with bands, tables, and claims beside what was measured.

Experiments turn their traces into these; figures, the HTML report and the tables are made from these alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["supported", "not supported", "not testable here"]


@dataclass(frozen=True)
class Axis:
    """One choice of an axis: what it is called, and whether it starts out logarithmic."""

    id: str
    label: str
    log: bool = False


@dataclass(frozen=True)
class Band:
    """Over the runs of one method: the mean (or median), and the range of the runs, at every x.

    NaN is a missing value: it is drawn as a gap, never as a number.
    """

    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """One method against one x-axis: the abscissas, and a band for every y-axis that has one."""

    x: tuple[float, ...]
    bands: dict[str, Band]  # by the id of the y-axis


@dataclass(frozen=True)
class Method:
    """A line of the legend."""

    id: str
    label: str
    says: str = ""
    shown: bool = True  # at first: the paper's own methods; the wider field is one click away


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under a heading."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Panel:
    """One figure: every method against the x-axes and y-axes that the reader can choose from."""

    id: str  # of the files and anchors: letters, digits, dashes
    title: str
    caption: str
    xs: tuple[Axis, ...]  # the first one is shown first
    ys: tuple[Axis, ...]
    methods: tuple[Method, ...]
    curves: dict[str, dict[str, Curve]]  # method id -> x-axis id -> Curve
    marks: bool = False  # measured points to be marked, not only joined
    lines: str = "Methods"  # what the lines are
    band: str = "range of runs"  # what the bands are; "": there are none
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what was measured here."""

    id: str
    where: str  # in the paper: "Table I", "Figure 1", …
    says: str
    data: str
    measured: str
    verdict: Verdict
    value: float = math.nan  # the number behind `measured`, with its 95 % interval
    interval: tuple[float, float] = (math.nan, math.nan)
    why: str = ""


@dataclass(frozen=True)
class Report:
    """Everything on the page."""

    title: str
    summary: str
    claims: tuple[Claim, ...]
    panels: tuple[Panel, ...]
    protocol: tuple[str, ...]  # paragraphs
    made: dict[str, str]  # versions, machine, seeds, date: in the order shown
    notices: tuple[str, ...] = ()  # "a9a could not be had: breast_cancer instead"
    tables: tuple[Table, ...] = field(default=())
    sections: dict[str, str] = field(default_factory=dict)  # other titles for them; "": left out
