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
    "by construction",
    "not testable here",
]
MEANING: dict[Verdict, str] = {
    "supported": "the whole 95 % interval is where the claim says",
    "not supported": "the whole interval is elsewhere",
    "bound holds, not attained": "what was measured lies below an upper bound: nothing here needs the bound",
    "not distinguishable": "the interval contains what is claimed and something else",
    "by construction": "it follows from a definition; no run could contradict it",
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
    bands: dict[str, Band]  # by the id of the y-axis


@dataclass(frozen=True)
class Method:
    """A line of the legend."""

    id: str
    label: str
    says: str = ""
    shown: bool = True  # at first: the paper's own methods; the wider field is one click away
    joined: bool = True  # by a line; False: points alone
    ink: str = ""  # a key of `palette.INKS`; "": that of the id, or a spare one


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under a heading."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    caption: str = ""
    bars: str = ""  # the heading of a column of numbers that are drawn as bars, too


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
    simple: bool = False  # one view, without controls
    aligned: str = ""  # panels with the same word here have the same x axis, to the pixel
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
    protocol: tuple[str, ...]  # paragraphs
    made: dict[str, str]  # versions, machine, seeds, date: in the order shown
    notices: tuple[str, ...] = ()  # "a9a could not be had: breast_cancer instead"
    details: tuple[str, ...] = ()  # of the notices, closed at first
    tables: tuple[Table, ...] = field(default=())
    sections: dict[str, str] = field(default_factory=dict)  # other titles for them; "": left out
    paper: Paper | None = None
    ran: str = ""  # the date of the runs
    results: tuple[Table, ...] = ()  # before everything else
    code: str = ""  # how to use what the page is about
