"""The claims of a report as HTML: a filter, what the verdicts mean, and a row for each claim."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from html import escape

from .markup import number, prose
from .panels import MEANING, Claim, Verdict

SIGNS: dict[Verdict, str] = {  # Signs besides colours.
    "supported": "✓",
    "not supported": "✗",
    "bound holds, not attained": "≤",
    "not distinguishable": "≈",
    "not testable here": "?",
}
_TITLES = "Verdict", "Claim", "In the paper", "Data", "Measured"


def claims_section(claims: Sequence[Claim]) -> str:
    """All of it; without a claim a sentence that says so."""
    if not claims:
        return "<p>No claim was tested.</p>"
    counts = Counter(c.verdict for c in claims)
    choices = [("", "all", len(claims)), *((v, f"{SIGNS[v]} {v}", counts[v]) for v in SIGNS if counts[v])]
    radios = "".join(
        f'<label><input type="radio" name="verdict" value="{v}"{"" if v else " checked"}> {t} ({n})</label>'
        for v, t, n in choices
    )
    scale = "".join(f"<div><dt>{_badge(v)}</dt><dd>{prose(MEANING[v])}</dd></div>" for v in SIGNS if counts[v])
    head = "".join(f'<th role="columnheader" scope="col">{t}</th>' for t in _TITLES)
    rows = "".join(map(_claim, claims))
    return (
        f'<fieldset class="filter controls"><legend>Show</legend>{radios}</fieldset>'
        f'<p class="note" id="claims-count" aria-live="polite">{len(claims)} of {len(claims)} claims</p>'
        f'<details class="scale"><summary>What the verdicts mean</summary><dl class="facts">{scale}</dl></details>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Claims">'
        f'<table class="claims" role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table></div>'
    )


def _claim(c: Claim) -> str:
    interval = ""
    if all(map(math.isfinite, (c.value, *c.interval))) and "[" not in c.measured:  # Otherwise it is shown elsewhere.
        ends = " to ".join(map(number, c.interval))
        interval = f'<div class="number">{number(c.value)} (95 % interval {ends})</div>'
    why = f'<div class="why">{prose(c.why)}</div>' if c.why else ""
    cells = _badge(c.verdict), prose(c.says), prose(c.where), escape(c.data), prose(c.measured) + interval + why
    tds = "".join(f'<td role="cell" data-title="{t}">{cell}</td>' for t, cell in zip(_TITLES, cells, strict=True))
    return f'<tr role="row" id="claim-{escape(c.id)}" data-verdict="{c.verdict}">{tds}</tr>'


def _badge(verdict: Verdict) -> str:
    kind = verdict.replace(",", "").replace(" ", "-")
    return f'<span class="badge {kind}"><span aria-hidden="true">{SIGNS[verdict]}</span> {verdict}</span>'
