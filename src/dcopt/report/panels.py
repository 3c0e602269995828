"""The contents of a report: panels of curves with bands, tables, and claims beside measurements.

Experiments turn their traces into these; figures, the HTML report and the tables are made from these alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal[
    "supported",
    "not supported",
    "bound holds, not attained",
    "not distinguishable",
    "not testable here",
]
MEANING: dict[Verdict, str] = {
    "supported": "the whole 95 % interval is where the claim says",
    "not supported": "the whole interval is elsewhere",
    "bound holds, not attained": "what was measured lies clearly below an upper bound: nothing here needs the bound",
    "not distinguishable": "the interval contains what is claimed and something else",
    "not testable here": "no experiment on this page can decide it",
}
_FROM_WEAK = ("not supported", "not testable here", "not distinguishable", "bound holds, not attained")


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a claim about several data sets."""
    found = set(verdicts)
    return next((v for v in _FROM_WEAK if v in found), "supported")


@dataclass(frozen=True)
class Axis:
    """One choice of an axis: its label, whether it starts out logarithmic, and whether it falls from left to right."""

    id: str
    label: str
    log: bool = False
    falls: bool = False


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
    bands: dict[str, Band]  # The band of each y-axis, by its id.


@dataclass(frozen=True)
class Method:
    """A line of the legend."""

    id: str
    label: str
    says: str = ""
    shown: bool = True  # Whether it is shown at first, as the paper's own methods are.
    joined: bool = True  # Whether points are joined by a line.
    ink: str = ""  # A key of `palette.INKS`; "": the key of the id, or a spare one.


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under a heading."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    caption: str = ""
    bars: str = ""  # The heading of a column of numbers that are also drawn as bars.


@dataclass(frozen=True)
class Panel:
    """One figure: every method against the x-axes and y-axes that the reader can choose from."""

    id: str  # The name of files and anchors: letters, digits and dashes.
    title: str
    caption: str
    xs: tuple[Axis, ...]  # The first axis is shown first.
    ys: tuple[Axis, ...]
    methods: tuple[Method, ...]
    curves: dict[str, dict[str, Curve]]  # The curve of each method id and x-axis id.
    marks: bool = False  # Whether measured points are marked.
    lines: str = "Methods"  # The meaning of the lines.
    band: str = "range of runs"  # The meaning of the bands; "": there are none.
    simple: bool = False  # Whether the panel is one view, without controls.
    aligned: str = ""  # Panels with the same word have the same x axis, to the pixel.
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what was measured here."""

    id: str
    where: str  # The place in the paper: "Table I", "Figure 1", …
    says: str
    data: str
    measured: str
    verdict: Verdict
    value: float = math.nan  # The number behind `measured`, with its 95 % interval.
    interval: tuple[float, float] = (math.nan, math.nan)
    why: str = ""


@dataclass(frozen=True)
class Paper:
    """What a report is about."""

    title: str
    authors: str
    url: str


@dataclass(frozen=True)
class Report:
    """Everything on the page."""

    title: str
    summary: str
    claims: tuple[Claim, ...]
    panels: tuple[Panel, ...]
    protocol: tuple[str, ...]  # Paragraphs.
    made: dict[str, str]  # Versions, machine, seeds and date, in the order shown.
    notices: tuple[str, ...] = ()  # "a9a could not be had: breast_cancer instead"
    details: tuple[str, ...] = ()  # The details of the notices, closed at first.
    tables: tuple[Table, ...] = field(default=())
    sections: dict[str, str] = field(default_factory=dict)  # Other titles of sections; "": left out.
    paper: Paper | None = None
    ran: str = ""  # The date of the runs.
    results: tuple[Table, ...] = ()  # Tables that come before everything else.
    code: str = ""  # Code that uses the subject of the page.
