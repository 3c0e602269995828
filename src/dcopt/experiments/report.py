"""report.html: every claim beside what was measured, figures to play with, tables, protocol and versions.

One file with everything in it: it opens without a network, from a disk or a mail. Text is put in by Python, so that
it reads without JavaScript; the curves are drawn by the script in `page/`.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import get_args

from ..store import atomic
from .palette import INKS, SHAPES, inks
from .panels import Axis, Claim, Method, Panel, Report, Table, Verdict
from .report_data import embed

_SIGNS = dict(zip(get_args(Verdict), "✓✗?", strict=True))  # not by colour alone
_NUMERIC = re.compile(r"–|N( \[N, N\])?".replace("N", r"[-−+]?\d[\d.]*(e[-+]?\d+)?"))
_SECTIONS = {
    "claims": "Claims and what was measured",
    "figures": "Figures",
    "tables": "Tables",
    "methods": "Methods",
    "protocol": "Protocol",
    "made": "Versions",
}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def write(report: Report, path: Path) -> Path:
    """Write the page, wholly or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, [render(report).encode()])
    return path


def render(report: Report) -> str:
    """The whole page as text: the same for the same report."""
    script = _file("chart.js") + _file("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = {
        "title": escape(report.title),
        "policy": f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'",
        "style": _colours() + _file("page.css"),
        "shapes": "".join(f'<path id="mark-{INKS[k].mark}" d="{SHAPES[INKS[k].mark]}"/>' for k in INKS),
        "notices": "".join(f"<p>{_text(n)}</p>" for n in report.notices),
        "summary": _text(report.summary),
        "contents": _contents(report),
        "claims": _claims(report.claims),
        "panels": "".join(_panel(i, p) for i, p in enumerate(report.panels)),
        "linked": "" if len(report.panels) > 1 else "hidden",
        "tables": "".join(_table(t, f"table-{i}") for i, t in enumerate(report.tables)),
        "methods": _methods(report.panels),
        "protocol": "".join(f"<p>{_text(p)}</p>" for p in report.protocol),
        "made": "".join(f"<div><dt>{_text(k)}</dt><dd>{_text(v)}</dd></div>" for k, v in report.made.items()),
        "data": embed(report.panels),
        "script": script,
    }
    for name, title in (_SECTIONS | report.sections).items():
        parts[f"{name}_title"], parts[f"{name}_hidden"] = escape(title), "" if title else " hidden"
    return Template(_file("page.html")).substitute(parts)


def _file(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def _text(text: str) -> str:
    """Escaped; `code` as in Markdown."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _anchor(panel: Panel) -> str:
    return "panel-" + (re.sub(r"[^A-Za-z0-9-]+", "-", panel.id).strip("-") or "x")


def _colours() -> str:
    def block(colours: Iterable[str]) -> str:
        return ":root{" + "".join(f"--ink{i}:{c};" for i, c in enumerate(colours)) + "}"

    night = block(ink.night for ink in INKS.values())
    classes = "".join(f".ink{i}{{color:var(--ink{i})}}" for i in range(len(INKS)))
    return (
        block(ink.colour for ink in INKS.values())
        + f"@media screen and (prefers-color-scheme:dark){{{night}}}{classes}"
    )


# ------------------------------------------------------------------------------------------- sections


def _contents(report: Report) -> str:
    def items(links: Iterable[tuple[str, str]]) -> str:
        return "".join(f'<li><a href="#{a}">{_text(t)}</a></li>' for a, t in links)

    figures = items((_anchor(p), p.title) for p in report.panels)
    tables = items((f"table-{i}", t.title) for i, t in enumerate(report.tables))
    titles = _SECTIONS | {"claims": "Claims"} | report.sections
    entries = [
        ("claims", "", bool(report.claims)),
        ("figures", f"<ol>{figures}</ol>", bool(report.panels)),
        ("tables", f"<ol>{tables}</ol>", bool(report.tables)),
        ("methods", "", bool(report.panels)),
        ("protocol", "", True),
        ("made", "", True),
    ]
    shown = ((a, escape(titles[a]), inner) for a, inner, there in entries if there and titles[a])
    return "".join(f'<li><a href="#{a}">{title}</a>{inner}</li>' for a, title, inner in shown)


def _claims(claims: Sequence[Claim]) -> str:
    if not claims:
        return "<p>No claim was looked at.</p>"
    counts = Counter(c.verdict for c in claims)
    choices = [("", "all", len(claims)), *((v, f"{_SIGNS[v]} {v}", counts[v]) for v in _SIGNS if counts[v])]
    radios = "".join(
        f'<label><input type="radio" name="verdict" value="{v}"{"" if v else " checked"}> {t} ({n})</label>'
        for v, t, n in choices
    )
    titles = "Verdict", "Claim", "In the paper", "Data", "Measured"
    head = "".join(f'<th role="columnheader" scope="col">{t}</th>' for t in titles)
    rows = "".join(_claim(c, titles) for c in claims)
    return (
        f'<fieldset class="filter controls"><legend>Show</legend>{radios}</fieldset>'
        f'<p class="note" id="claims-count" aria-live="polite">{len(claims)} of {len(claims)} claims</p>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Claims">'
        f'<table class="claims" role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table></div>'
    )


def _claim(c: Claim, titles: Sequence[str]) -> str:
    number = ""
    if all(map(math.isfinite, (c.value, *c.interval))) and "[" not in c.measured:  # else it is said already
        ends = " to ".join(map(_number, c.interval))
        number = f'<div class="number">{_number(c.value)} (95 % interval {ends})</div>'
    why = f'<div class="why">{_text(c.why)}</div>' if c.why else ""
    kind = c.verdict.replace(" ", "-")
    badge = f'<span class="badge {kind}"><span aria-hidden="true">{_SIGNS[c.verdict]}</span> {c.verdict}</span>'
    cells = badge, _text(c.says), _text(c.where), _text(c.data), _text(c.measured) + number + why
    tds = "".join(f'<td role="cell" data-title="{t}">{cell}</td>' for t, cell in zip(titles, cells, strict=True))
    return f'<tr role="row" id="claim-{escape(c.id)}" data-verdict="{c.verdict}">{tds}</tr>'


def _methods(panels: Iterable[Panel]) -> str:
    rows: dict[tuple[str, str], tuple[Method, str]] = {}
    for p in panels:
        ink = inks(m.id for m in p.methods)
        for m in p.methods:
            rows.setdefault((m.id, ink[m.id]), (m, ink[m.id]))
    return "".join(
        f"<div><dt>{_swatch(k)} {_text(m.label)}</dt><dd>{_text(m.says)}</dd></div>" for m, k in rows.values()
    )


def _table(table: Table, anchor: str = "") -> str:
    numeric = [all(map(_numeric, column)) for column in zip(*table.rows, strict=True)]
    kinds = [' class="n"' if n else "" for n in numeric] or [""] * len(table.head)
    head = "".join(f'<th scope="col"{k}>{_text(h)}</th>' for h, k in zip(table.head, kinds, strict=True))
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    caption = f'<p class="caption">{_text(table.caption)}</p>' if table.caption else ""
    name = escape(table.title)
    return (
        f'<div class="table" id="{anchor}"><h4>{_text(table.title)}</h4>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{caption}</div>"
    )


def _cell(cell: str | float) -> str:
    kind = ' class="n"' if _numeric(cell) else ""
    return f"<td{kind}>{_text(cell) if isinstance(cell, str) else _number(cell)}</td>"


def _numeric(cell: str | float) -> bool:
    """A number, or a number with its interval: 0.53 [0.40, 0.58]."""
    return not isinstance(cell, str) or _NUMERIC.fullmatch(cell) is not None


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0 or 1e-3 <= abs(value) < 1e9:
        whole = float(value).is_integer() or abs(value) >= 1000
        return (f"{value:,.0f}" if whole else f"{value:.4g}").replace("-", "−").replace(",", "\u202f")
    head, exponent = f"{value:.3e}".split("e")
    return f"{float(head):g}·10{str(int(exponent)).translate(_RAISED)}".replace("-", "−")


# ------------------------------------------------------------------------------------------- a figure


def _panel(index: int, panel: Panel) -> str:
    ink = inks(m.id for m in panel.methods)
    name = f"p{index}"
    methods = "".join(_method(name, k, m, ink[m.id]) for k, m in enumerate(panel.methods))
    some = any(m.shown for m in panel.methods) and not all(m.shown for m in panel.methods)
    picks = [("all", "All"), ("none", "None"), *([("paper", "Paper’s")] if some else [])]
    return Template(_file("panel.html")).substitute(
        index=index,
        anchor=_anchor(panel),
        title=_text(panel.title),
        caption=_text(panel.caption),
        y=_select(f"{name}-y", "y", panel.ys),
        x=_select(f"{name}-x", "x", panel.xs),
        switches=_switch("logy", "log y", panel.ys[0].log) + _switch("logx", "log x", panel.xs[0].log),
        lines=_text(panel.lines),
        band=_text(panel.band),
        no_band="" if panel.band else " hidden",
        methods=methods,
        picks="".join(f'<button type="button" data-pick="{k}">{t}</button>' for k, t in picks),
        tables="".join(_table(t, f"{name}-table-{k}") for k, t in enumerate(panel.tables)),
    )


def _select(name: str, which: str, axes: Sequence[Axis]) -> str:
    options = "".join(f'<option value="{escape(a.id)}">{escape(a.label)}</option>' for a in axes)
    return f'<label for="{name}">{which} axis <select id="{name}" data-do="{which}">{options}</select></label>'


def _switch(what: str, label: str, on: bool) -> str:
    return f'<label><input type="checkbox" data-do="{what}"{" checked" if on else ""}> {label}</label>'


def _method(name: str, k: int, method: Method, ink: str) -> str:
    on, tip = " checked" if method.shown else "", f' title="{escape(method.says)}"' if method.says else ""
    return (
        f'<label class="method"{tip}><input type="checkbox" id="{name}-m{k}" data-method="{escape(method.id)}"'
        f'{on} data-paper="{int(method.shown)}">{_swatch(ink)}<span>{_text(method.label)}</span>'
        '<span class="nodata" hidden>(no data)</span></label>'
    )


def _swatch(ink: str) -> str:
    k = list(INKS).index(ink)
    line = '<path d="M1 7h26" stroke="currentColor" stroke-width="2"/>'
    mark = f'<use href="#mark-{INKS[ink].mark}" x="14" y="7" fill="currentColor"/>'
    return f'<svg class="swatch ink{k}" viewBox="0 0 28 14" aria-hidden="true">{line}{mark}</svg>'
