"""One colour and one mark for each method, the same in every figure and in the report.

Okabe and Ito's colours, which the colour-blind tell apart, then a violet and a grey; four are spare, for variants.
Marks tell lines apart in print without colour.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .panels import Method


@dataclass(frozen=True)
class Ink:
    """How a method is drawn."""

    colour: str  # The colour on white.
    night: str  # The colour on a dark page.
    mark: str  # matplotlib's name of the mark; `SHAPES` has it for SVG.


INKS = {
    "dca-page": Ink("#D55E00", "#F07A28", "p"),
    "dca-svrg": Ink("#56B4E9", "#56B4E9", "v"),
    "dca-saga": Ink("#E69F00", "#E69F00", "o"),
    "sdca": Ink("#7A3E9D", "#B68AE0", "P"),
    "dca": Ink("#000000", "#F2F2F2", "s"),
    "mm-saga": Ink("#009E73", "#1FBF92", "^"),
    "mm-svrg": Ink("#CC79A7", "#D98DB8", "D"),
    "mm-sarah": Ink("#7F7F7F", "#9A9A9A", "h"),
    "mm-saga-sqrt": Ink("#0072B2", "#3B9BDB", "X"),
    "spare-1": Ink("#01665E", "#3FB5A8", "<"),
    "spare-2": Ink("#A6611A", "#D19A5B", ">"),
    "spare-3": Ink("#AE017E", "#E35DB8", "d"),
    "spare-4": Ink("#4A5BD4", "#8D9AF5", "*"),
}

SHAPES = {  # Paths around the origin, about 8 units wide.
    "p": "M0-4L3.8-1.2 2.4 3.2-2.4 3.2-3.8-1.2z",
    "v": "M-3.8-3h7.6L0 3.8z",
    "o": "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    "P": "M-1.4-4h2.8v2.6H4v2.8H1.4V4h-2.8V1.4H-4v-2.8h2.6z",
    "s": "M-3-3h6v6h-6z",
    "^": "M-3.8 3h7.6L0-3.8z",
    "D": "M0-4.2L4.2 0 0 4.2-4.2 0z",
    "h": "M-3.8 0L-1.9-3.3 1.9-3.3 3.8 0 1.9 3.3-1.9 3.3z",
    "<": "M3-3.8v7.6L-3.8 0z",
    ">": "M-3-3.8v7.6L3.8 0z",
    "d": "M0-4.6L2.8 0 0 4.6-2.8 0z",
    "*": "M0-4.6L1.2-1.5 4.4-1.4 1.8.6 2.7 3.7 0 1.9-2.7 3.7-1.8.6-4.4-1.4-1.2-1.5z",
    "X": "M-4-2.2L-2.2-4 0-1.8 2.2-4 4-2.2 1.8 0 4 2.2 2.2 4 0 1.8-2.2 4-4 2.2-1.8 0z",
}


def inks(methods: Iterable[str]) -> dict[str, str]:
    """For each method the key of its ink: its own; for an unknown method a spare one, then an unused one."""
    names = list(dict.fromkeys(methods))
    spare = sorted(INKS, key=lambda k: not k.startswith("spare"))
    free = [k for k in spare if k not in names] or spare
    strangers = [m for m in names if m not in INKS]
    lent = {m: free[i % len(free)] for i, m in enumerate(strangers)}
    return {m: lent.get(m, m) for m in names}


def inks_of(methods: Iterable[Method]) -> dict[str, str]:
    """The same by id for methods of a panel, which may have an ink of their own choice."""
    names = {m.id: m.ink or m.id for m in methods}
    lent = inks(names.values())
    return {id_: lent[name] for id_, name in names.items()}
