"""report.html: every claim beside what was measured, interactive figures, tables, protocol and versions.

One file with everything in it: it opens without a network, from a disk or a mail. Text is put in by Python, so that
it reads without JavaScript; the curves are drawn by the script in `page/`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from ..store import atomic
from .claims_section import claims_section
from .markup import name as name_of
from .markup import prose, table
from .palette import INKS, SHAPES, inks_of
from .panel_data import embed
from .panels import Axis, Method, Panel, Report

_SECTIONS = {
    "results": "",
    "claims": "Claims and what was measured",
    "figures": "Figures",
    "tables": "Tables",
    "methods": "Methods",
    "code": "",
    "protocol": "Protocol",
    "made": "Versions",
}


def write(report: Report, path: Path) -> Path:
    """Write the page, completely or not at all."""
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
        "notices": _notices(report),
        "origin": _origin(report),
        "results": "".join(table(t, f"result-{i}") for i, t in enumerate(report.results)),
        "summary": prose(report.summary),
        "contents": _contents(report),
        "claims": claims_section(report.claims),
        "panels": "".join(_panel(i, p) for i, p in enumerate(report.panels)),
        "linked": "" if len(report.panels) > 1 else "hidden",
        "tables": "".join(table(t, f"table-{i}") for i, t in enumerate(report.tables)),
        "methods": _methods(report.panels),
        "protocol": "".join(f"<p>{prose(p)}</p>" for p in report.protocol),
        "code": f"<pre><code>{escape(report.code)}</code></pre>",
        "made": "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in report.made.items()),
        "data": embed(report.panels),
        "script": script,
    }
    for name, title in (_SECTIONS | report.sections).items():
        parts[f"{name}_title"], parts[f"{name}_hidden"] = escape(title), "" if title else " hidden"
    return Template(_file("page.html")).substitute(parts)


def _file(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def _anchor(panel: Panel) -> str:
    return "panel-" + (re.sub(r"[^A-Za-z0-9-]+", "-", panel.id).strip("-") or "x")


def _notices(report: Report) -> str:
    said = "".join(f"<p>{prose(n)}</p>" for n in report.notices)
    if not report.details:
        return said
    items = "".join(f"<li>{escape(d)}</li>" for d in report.details)
    return f"{said}<details><summary>Details</summary><ul>{items}</ul></details>"


def _origin(report: Report) -> str:
    """The paper and the date of the runs."""
    said = []
    if report.paper is not None:
        link = f'<a href="{escape(report.paper.url)}" rel="noreferrer">{escape(report.paper.title)}</a>'
        said.append(f"The paper: {link}, by {escape(report.paper.authors)}.")
    if report.ran:
        said.append(f"Date of the runs: {escape(report.ran)}.")
    return f'<p class="origin">{" ".join(said)}</p>' if said else ""


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
        return "".join(f'<li><a href="#{a}">{prose(t)}</a></li>' for a, t in links)

    figures = items((_anchor(p), p.title) for p in report.panels)
    tables = items((f"table-{i}", t.title) for i, t in enumerate(report.tables))
    titles = _SECTIONS | {"claims": "Claims"} | report.sections
    results = items((f"result-{i}", t.title) for i, t in enumerate(report.results))
    entries = [
        ("results", f"<ol>{results}</ol>", bool(report.results)),
        ("claims", "", bool(report.claims)),
        ("figures", f"<ol>{figures}</ol>", bool(report.panels)),
        ("tables", f"<ol>{tables}</ol>", bool(report.tables)),
        ("methods", "", bool(report.panels)),
        ("code", "", bool(report.code)),
        ("protocol", "", True),
        ("made", "", True),
    ]
    shown = ((a, escape(titles[a]), inner) for a, inner, there in entries if there and titles[a])
    return "".join(f'<li><a href="#{a}">{title}</a>{inner}</li>' for a, title, inner in shown)


def _methods(panels: Iterable[Panel]) -> str:
    rows: dict[tuple[str, str], tuple[Method, str]] = {}
    for p in panels:
        ink = inks_of(p.methods)
        for m in p.methods:
            rows.setdefault((m.id, ink[m.id]), (m, ink[m.id]))
    return "".join(
        f"<div><dt>{_swatch(k)} {escape(m.label)}</dt><dd>{prose(m.says)}</dd></div>" for m, k in rows.values()
    )


# ------------------------------------------------------------------------------------------- a figure


def _panel(index: int, panel: Panel) -> str:
    ink = inks_of(panel.methods)
    name = f"p{index}"
    methods = "".join(_method(name, k, m, ink[m.id]) for k, m in enumerate(panel.methods))
    some = any(m.shown for m in panel.methods) and not all(m.shown for m in panel.methods)
    picks = [("all", "All"), ("none", "None"), *([("paper", "Paper’s")] if some else [])]
    picks = picks if len(panel.methods) > 3 else []
    return Template(_file("panel.html")).substitute(
        index=index,
        anchor=_anchor(panel),
        title=prose(panel.title),
        caption=prose(panel.caption),
        controls=" hidden" if panel.simple else "",
        y=_select(f"{name}-y", "y", panel.ys),
        x=_select(f"{name}-x", "x", panel.xs),
        end="x down to" if panel.xs[0].falls else "x up to",
        switches=_switch("logy", "log y", panel.ys[0].log) + _switch("logx", "log x", panel.xs[0].log),
        lines=prose(panel.lines),
        band=prose(panel.band),
        no_band="" if panel.band else " hidden",
        methods=methods,
        picks="".join(f'<button type="button" data-pick="{k}">{t}</button>' for k, t in picks),
        tables="".join(table(t, f"{name}-table-{k}") for k, t in enumerate(panel.tables)),
    )


def _select(name: str, which: str, axes: Sequence[Axis]) -> str:
    options = "".join(f'<option value="{escape(a.id)}">{escape(a.label)}</option>' for a in axes)
    only = " hidden" if len(axes) == 1 else ""
    return f'<label for="{name}"{only}>{which} axis <select id="{name}" data-do="{which}">{options}</select></label>'


def _switch(what: str, label: str, on: bool) -> str:
    return f'<label><input type="checkbox" data-do="{what}"{" checked" if on else ""}> {label}</label>'


def _method(name: str, k: int, method: Method, ink: str) -> str:
    on, tip = " checked" if method.shown else "", f' title="{escape(method.says)}"' if method.says else ""
    return (
        f'<label class="method"{tip}><input type="checkbox" id="{name}-m{k}" data-method="{escape(method.id)}"'
        f'{on} data-paper="{int(method.shown)}">{_swatch(ink)}<span>{name_of(method.label)}</span>'
        '<span class="nodata" hidden>(no data)</span></label>'
    )


def _swatch(ink: str) -> str:
    k = list(INKS).index(ink)
    line = '<path d="M1 7h26" stroke="currentColor" stroke-width="2"/>'
    mark = f'<use href="#mark-{INKS[ink].mark}" x="14" y="7" fill="currentColor"/>'
    return f'<svg class="swatch ink{k}" viewBox="0 0 28 14" aria-hidden="true">{line}{mark}</svg>'
