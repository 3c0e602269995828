"""The exponents of Table I beside measured ones, and the methods that end below DCA-PAGE."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from ..report.panels import Claim, Verdict, weakest
from . import contestants
from .intervals import Mean, mean
from .scaling_report import Findings
from .slopes import SLACK, Row, Slope
from .views import Runs


def order_claims(found: Findings) -> Iterator[Claim]:
    """The exponents of Table I: upper bounds, so a verdict is on whether they are exceeded."""
    in_N = [row for rows in found.in_N.values() for row in rows]
    in_eps = [row for rows in found.in_eps.values() for row in rows if row.claim is not None]
    for m in dict.fromkeys(row.method for row in in_N if row.claim is not None and row.method != "dca"):
        mine = [row for row in in_N if row.method == m]
        a = Fraction(mine[0].claim or math.nan).limit_denominator(12)
        says = f"{contestants.label(m)} needs O(N + N^({a}) ε^(-2)) gradients: the exponent of N"
        yield _order(f"order-{m}", says, mine)
    if in_eps:
        yield _order("order-eps", "All need O(ε^(-2)): the exponent of 1/ε", in_eps)
    yield from _better(in_N)


def _order(name: str, says: str, rows: Sequence[Row]) -> Claim:
    by_data = {d: [row for row in rows if row.data == d] for d in dict.fromkeys(row.data for row in rows)}
    verdicts = {d: weakest(row.verdict for row in mine if row.verdict != "no claim") for d, mine in by_data.items()}
    lead = rows[0].honest
    return Claim(
        name, "Table I", says, ", ".join(by_data), _each({d: _range(mine) for d, mine in by_data.items()}, verdicts),
        weakest(verdicts.values()), lead.value, (lead.low, lead.high), "an upper bound on component gradients",
    )  # fmt: skip


def _better(in_N: Sequence[Row]) -> Iterator[Claim]:
    page, svrg = ({row.data: row.honest for row in in_N if row.method == m} for m in ("dca-page", "dca-svrg"))
    both = [data for data in page if data in svrg]
    if not both:
        return
    verdicts = {data: _steeper(page[data], svrg[data]) for data in both}
    control = ", ".join(str(row.honest) for row in in_N if row.method == "mm-saga-sqrt")
    why = "the exponents are those of the batch sizes that theory prescribes"
    why += f": SAGA with b = √N, which has no theorem, has {control}" if control else ""
    yield Claim(
        "order-better", "Table I", "N^(1/2) improves on the N^(2/3) of DCA-SVRG", ", ".join(both),
        _each({d: f"{page[d]} against {svrg[d]}" for d in both}, verdicts), weakest(verdicts.values()),
        why=f"{why}; intervals are widened by {SLACK}, for batch sizes and loop lengths are rounded to integers (the "
        "loop of DCA-SVRG is one step long up to N = 1024)",
    )  # fmt: skip


def _steeper(page: Slope, svrg: Slope) -> Verdict:
    """The verdict on "the exponent of DCA-PAGE is below that of DCA-SVRG", each interval widened by SLACK."""
    return Mean(page.value - svrg.value, page.low - svrg.high - 2 * SLACK, page.high - svrg.low + 2 * SLACK).below(0.0)


def _each(measured: dict[str, str], verdicts: dict[str, Verdict]) -> str:
    """What was measured on every data set, with its own verdict where they differ."""
    same = len(set(verdicts.values())) == 1
    return "; ".join(f"{text} ({d}{'' if same else ': ' + verdicts[d]})" for d, text in measured.items())


def _range(rows: Sequence[Row]) -> str:
    """One exponent with its interval, or the least and the greatest of several methods."""
    low, high = (f(rows, key=lambda r: r.honest.value) for f in (min, max))
    if len(rows) == 1:
        return str(low.honest)
    return f"{low.honest} ({low.method}) to {high.honest} ({high.method})"


def field_remarks(all_runs: Sequence[Runs]) -> list[str]:
    """The methods outside the paper that end below DCA-PAGE. This is not a claim of the paper."""
    said = []
    for here in all_runs:
        if "dca-page" not in here.methods:
            continue
        page = here.at_end("dca-page", "F")
        apart = {m: mean(np.subtract(here.at_end(m, "F"), page).tolist()) for m in here.methods if m != "dca-page"}
        below = [contestants.label(m) for m, difference in apart.items() if difference.high < 0.0]
        if below:
            said.append(f"on {here.data} {', '.join(below)}")
    return said
