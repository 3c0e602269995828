"""What the page's script reads: the panels as JSON that is safe inside HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ..errors import BadInput
from .palette import INKS, inks_of
from .panels import Curve, Panel

_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}  # With these escapes no string can end the <script>.


def embed(panels: Iterable[Panel]) -> str:
    """JSON without NaN, and without a character that means something to HTML."""
    data = [_panel(p) for p in panels]
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _panel(panel: Panel) -> dict[str, Any]:
    order, ink = list(INKS), inks_of(panel.methods)
    return {
        "title": panel.title,
        "xs": [asdict(axis) for axis in panel.xs],
        "ys": [asdict(axis) for axis in panel.ys],
        "marks": panel.marks,
        "aligned": panel.aligned,
        "methods": [
            {"id": m.id, "label": m.label, "ink": order.index(ink[m.id]), "mark": INKS[ink[m.id]].mark,
             "joined": m.joined}
            for m in panel.methods
        ],  # fmt: skip
        "curves": {
            m: {x: _curve(f"panel {panel.id}, {m}, {x}", c) for x, c in by_x.items()}
            for m, by_x in panel.curves.items()
        },
    }


def _curve(where: str, curve: Curve) -> dict[str, Any]:
    bands = {}
    for y, band in curve.bands.items():
        if {len(band.middle), len(band.low), len(band.high)} != {len(curve.x)}:
            raise BadInput(where, f"the band of {y!r} has not as many values as there are abscissas, {len(curve.x)}")
        bands[y] = [_numbers(band.middle), _numbers(band.low), _numbers(band.high)]
    return {"x": _numbers(curve.x), "y": bands}


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Seven digits are more than a screen shows; what is not finite is missing."""
    return [_short(float(v)) if math.isfinite(v) else None for v in values]


def _short(value: float) -> float:
    short = float(f"{value:.7g}")
    return int(short) if short.is_integer() and abs(short) < 1e9 else short
