"""Text, numbers and tables as HTML: everything is escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

from .panels import Table

_NUMERIC = re.compile(r"–|N( \[N, N\])?".replace("N", r"[-−+]?\d[\d.]*(e[-+]?\d+)?"))
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def prose(text: str) -> str:
    """A sentence of ours: `code` as in Markdown; N^(1/2), 2^k and 1.6e-05 with raised exponents."""
    plain = re.sub(r"(\d)e([-+]\d+)\b", lambda m: f"{m[1]}·10^({int(m[2])})", escape(text))
    raised = re.sub(r"\^(?:\(([^()]*)\)|(\w+))", _raise, plain)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", raised)


def _raise(exponent: re.Match[str]) -> str:
    return f"<sup>{(exponent[1] or exponent[2] or '').replace('-', '−')}</sup>"


def number(value: float) -> str:
    """Four digits, with a power of ten where they would not be seen."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0 or 1e-3 <= abs(value) < 1e9:
        whole = float(value).is_integer() or abs(value) >= 1000
        return (f"{value:,.0f}" if whole else f"{value:.4g}").replace("-", "−").replace(",", "\u202f")
    head, exponent = f"{value:.3e}".split("e")
    return f"{float(head):g}·10{str(int(exponent)).translate(_RAISED)}".replace("-", "−")


def table(table: Table, anchor: str = "") -> str:
    """Columns of numbers to the right; the one in `table.bars` with a bar beside every number."""
    drawn = [h == table.bars for h in table.head]
    numeric = [all(map(_numeric, column)) for column in zip(*table.rows, strict=True)] or [False] * len(table.head)
    kinds = [' class="n"' if n and not bar else "" for n, bar in zip(numeric, drawn, strict=True)]
    head = "".join(f'<th scope="col"{k}>{prose(h)}</th>' for h, k in zip(table.head, kinds, strict=True))
    ends = [_ends([row[k] for row in table.rows]) if bar else None for k, bar in enumerate(drawn)]
    body = "".join("<tr>" + "".join(map(_cell, row, kinds, ends)) + "</tr>" for row in table.rows)
    caption = f'<p class="caption">{prose(table.caption)}</p>' if table.caption else ""
    title = escape(table.title)
    return (
        f'<div class="table" id="{anchor}"><h4>{title}</h4>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{caption}</div>"
    )


def _ends(column: Sequence[str | float]) -> tuple[float, float]:
    """Of the axis of the bars, which contains 0."""
    finite = [v for v in column if not isinstance(v, str) and math.isfinite(v)]
    return min([0.0, *finite]), max([0.0, *finite])


def name(text: str) -> str:
    """Of a column or a data set: it may be broken after an underscore."""
    return escape(text).replace("_", "_<wbr>")


def _cell(cell: str | float, kind: str, ends: tuple[float, float] | None) -> str:
    shown = name(cell) if isinstance(cell, str) else number(cell)
    if ends is not None:
        return f'<td class="bar"><span class="amount">{shown}</span>{_bar(cell, *ends)}</td>'
    if kind and isinstance(cell, str):
        shown = re.sub(r"(\[.*\])", r'<span class="interval">\1</span>', shown)
    return f"<td{kind}>{shown}</td>"


def _bar(cell: str | float, low: float, high: float) -> str:
    if isinstance(cell, str) or not math.isfinite(cell) or high == low:
        return ""
    percent = [100.0 * (v - low) / (high - low) for v in (min(cell, 0.0), max(cell, 0.0))]
    kind = "down" if cell < 0 else "up"
    place = f"left:{percent[0]:.2f}%;width:{percent[1] - percent[0]:.2f}%"
    return f'<span class="track" aria-hidden="true"><span class="fill {kind}" style="{place}"></span></span>'


def _numeric(cell: str | float) -> bool:
    """A number, or a number with its interval: 0.53 [0.40, 0.58]."""
    return not isinstance(cell, str) or _NUMERIC.fullmatch(cell) is not None
