"""The exponents of Table I beside measured ones, and the methods that end below DCA-PAGE."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from ..report.panels import Claim, Verdict, weakest
from . import contestants
from .intervals import Mean, mean
from .records import Record
from .scaling_report import Findings
from .slopes import SLACK, Row, Slope
from .views import Runs

_OWN_G = "a G that is not κ/2 ‖x‖²"
_RIVALS = ("dca-svrg", "dca-saga", "sdca-unshifted", "dca")


def order_claims(found: Findings) -> Iterator[Claim]:
    """The exponents of Table I: upper bounds, so a verdict is on whether they are exceeded."""
    name, where = ("general", f"Table I, problem (M), {_OWN_G}") if found.recipe.is_general else ("order", "Table I")
    in_N = [row for rows in found.in_N.values() for row in rows]
    in_eps = [row for rows in found.in_eps.values() for row in rows if row.claim is not None]
    for m in dict.fromkeys(row.method for row in in_N if row.claim is not None and row.method != "dca"):
        mine = [row for row in in_N if row.method == m]
        a = Fraction(mine[0].claim or math.nan).limit_denominator(12)
        says = f"{contestants.label(m)} needs O(N + N^({a}) ε^(-2)) gradients: the exponent of N"
        yield _order(f"{name}-{m}", where, says, mine)
    if in_eps:
        yield _order(f"{name}-eps", where, "All need O(ε^(-2)): the exponent of 1/ε", in_eps)
    yield from _better(name, where, in_N)
    if found.recipe.is_general:
        yield from _fewer(where, found)


def _order(name: str, where: str, says: str, rows: Sequence[Row]) -> Claim:
    by_data = {d: [row for row in rows if row.data == d] for d in dict.fromkeys(row.data for row in rows)}
    verdicts = {d: weakest(row.verdict for row in mine if row.verdict != "no claim") for d, mine in by_data.items()}
    lead = rows[0].honest
    return Claim(
        name, where, says, ", ".join(by_data), _each({d: _range(mine) for d, mine in by_data.items()}, verdicts),
        weakest(verdicts.values()), lead.value, (lead.low, lead.high),
        "an upper bound on component gradients; measured after the first N, so that an exponent between the claimed "
        "one and 1 contradicts the second term, not the sum",
    )  # fmt: skip


def _better(name: str, where: str, in_N: Sequence[Row]) -> Iterator[Claim]:
    page, svrg = ({row.data: row for row in in_N if row.method == m} for m in ("dca-page", "dca-svrg"))
    both = [data for data in page if data in svrg]
    if not both:
        return
    apart = {data: difference(page[data].honest, svrg[data].honest) for data in both}
    verdicts = {data: widened(apart[data], rounding(page[data]) + rounding(svrg[data])).below(0.0) for data in both}
    control = ", ".join(str(row.honest) for row in in_N if row.method in ("mm-saga-sqrt", "saga-sqrt"))
    why = "the exponents are those of the batch sizes that theory prescribes"
    why += f": SAGA with b = √N, which has no theorem, has {control}" if control else ""
    shown = {d: f"{page[d].honest} − {svrg[d].honest} = {apart[d].value:.2f} [{apart[d].low:.2f}, {apart[d].high:.2f}]"
             for d in both}  # fmt: skip
    yield Claim(
        f"{name}-better", where, "N^(1/2) improves on the N^(2/3) of DCA-SVRG", ", ".join(both),
        _each(shown, verdicts), weakest(verdicts.values()),
        why=f"{why}; the interval of a difference is widened by how far the batch sizes, rounded to integers, are from "
        "the claimed exponents at these N",
    )  # fmt: skip


def difference(one: Slope, other: Slope) -> Mean:
    """one − other with an interval, both measured independently: distances to the ends add up in squares."""
    value = one.value - other.value
    low = math.hypot(one.value - one.low, other.high - other.value)
    high = math.hypot(one.high - one.value, other.value - other.low)
    return Mean(value, value - low, value + high)


def rounding(row: Row) -> float:
    """How far the expected gradients in one step are from the claimed exponent; SLACK where that is not known."""
    known = row.claim is not None and math.isfinite(row.sizes)
    return abs(row.sizes - (row.claim or 0.0)) if known else SLACK


def widened(m: Mean, by: float) -> Mean:
    return Mean(m.value, m.low - by, m.high + by)


def _fewer(where: str, found: Findings) -> Iterator[Claim]:
    """Gradients of the h_i of DCA-PAGE over those of a rival, at the largest N and the ε of the fit."""
    for rival in _RIVALS:
        shares: dict[str, Mean] = {}
        for f in found.families:
            top = [r for r in found.records if (r.data, r.n, r.level) == (f.data, max(f.sizes), f.levels[-1])]
            mine, other = ([r for r in top if r.method == m] for m in ("dca-page", rival))
            if mine and other:
                shares[f.data] = _ratio(mine, other)
        if not shares:
            continue
        verdicts = {data: share.below(0.0) for data, share in shares.items()}
        text = {d: "{:.2f} [{:.2f}, {:.2f}]".format(*map(math.exp, share)) for d, share in shares.items()}
        sizes = ", ".join(str(max(f.sizes)) for f in found.families if f.data in shares)
        says = f"DCA-PAGE needs fewer gradients of the h_i than {contestants.label(rival)}"
        level = found.families[0].levels[-1]
        yield Claim(
            f"general-fewer-{rival}", where, says, ", ".join(shares),
            f"the share that it needs: {_each(text, verdicts)}", weakest(verdicts.values()),
            why=f"at ε = {level:g} d(x⁰) and N = {sizes}; geometric means over the runs, the first N included",
        )  # fmt: skip


def _ratio(mine: Sequence[Record], other: Sequence[Record]) -> Mean:
    """The mean of log(gradients) minus that of the other; a run that never got there has infinitely many."""
    one, two = (mean([math.log(r.gradients) if r.gradients else math.inf for r in rs]) for rs in (mine, other))
    if len(other) == 1:  # The path is the same for every seed.
        two = Mean(two.value, two.value, two.value)
    if not math.isfinite(two.value):
        return Mean(-math.inf, -math.inf, -math.inf) if math.isfinite(one.value) else Mean(math.nan, math.nan, math.nan)
    half = math.hypot(one.high - one.value, two.high - two.value)
    value = one.value - two.value
    return Mean(value, value - half, value + half)


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
