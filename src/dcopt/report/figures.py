"""Figures as files: PNG, SVG and PDF, the same bytes for the same numbers.

This module imports matplotlib, in the functions that draw. What is missing stays missing: NaN, and what is zero or
less on a log scale, is a gap in the line, and a method without a single value says so in the legend.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput, pick
from ..store import atomic
from .palette import INKS, inks_of
from .panels import Axis, Panel

_ACROSS = 4  # More panels than these are in two rows.
_STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 6.5,
    "svg.hashsalt": "dcopt",
    "pdf.fonttype": 42,  # Publishers accept these fonts.
}


def panel_figure(panel: Panel, stem: Path, x: str, y: str, *, every: bool = False) -> list[Path]:
    """One panel for the chosen axes, the methods shown at first (or every one), as stem.png, .svg and .pdf."""
    return paper_figure([panel], stem, x, y, every=every)


def paper_figure(panels: Sequence[Panel], stem: Path, x: str, y: str, *, every: bool = False) -> list[Path]:
    """Panels side by side with one legend below, as in a paper; more than four in two rows."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not panels:
        raise BadInput("panels", "is empty: expected at least one panel")
    lines = [_lines(panel, x, y, every) for panel in panels]
    across = len(panels) if len(panels) <= _ACROSS else -(-len(panels) // 2)
    width = 4.4 if across == 1 else 3.3 * across
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, 3.4 if across == len(panels) else 5.8), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(-(-len(panels) // across), across, squeeze=False).ravel()
        for spare in axes[len(panels) :]:
            spare.set_axis_off()
        axes = axes[: len(panels)]
        for axis, panel, mine in zip(axes, panels, lines, strict=True):
            _draw(axis, panel, x, y, mine)
            axis.set_title(panel.title)
            _absent(axis, panel, mine, lines)
        for k, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
            if k % across and _axis(panel.ys, y).label == _axis(panels[0].ys, y).label:
                axis.set_ylabel("")  # The label is shown once, on the left.
        _legend(figure, panels, lines, 4 if across == 1 else 4 * across - 2)
        return _save(figure, stem, 220)


class _Line:
    """A method's values as they can be drawn, with NaN for what cannot."""

    def __init__(self, panel: Panel, method: str, x: str, y: str) -> None:
        curve = panel.curves.get(method, {}).get(x)
        band = None if curve is None else curve.bands.get(y)
        self.method = method
        self.x, self.middle, self.low, self.high = (
            np.array([] if v is None else v, dtype=float)
            for v in (curve and band and curve.x, band and band.middle, band and band.low, band and band.high)
        )
        if _axis(panel.xs, x).log:
            self.x = _positive(self.x)
        if _axis(panel.ys, y).log:
            self.middle, self.low, self.high = _positive(self.middle), _positive(self.low), _positive(self.high)
        self.there = np.isfinite(self.x) & np.isfinite(self.middle)
        self.middle = np.where(self.there, self.middle, np.nan)

    def alone(self) -> Any:
        """Points without a neighbour, which a line does not show."""
        there = np.pad(self.there, 1)
        return self.there & ~there[:-2] & ~there[2:]


def _positive(values: Any) -> Any:
    return np.where(values > 0, values, np.nan)


def _axis(axes: Sequence[Axis], name: str) -> Axis:
    return {a.id: a for a in axes}[pick("axis", name, [a.id for a in axes])]


def _lines(panel: Panel, x: str, y: str, every: bool) -> list[_Line]:
    lines = [_Line(panel, m.id, x, y) for m in panel.methods if m.shown or every]
    if not any(line.there.any() for line in lines):
        raise BadInput(f"panel {panel.id}", f"there is nothing to draw for {y} against {x}: no method has a value")
    return lines


def _draw(axis: Any, panel: Panel, x: str, y: str, lines: Sequence[_Line]) -> None:
    across, up = _axis(panel.xs, x), _axis(panel.ys, y)
    axis.set(xlabel=across.label, ylabel=up.label)
    axis.set_xscale("log" if across.log else "linear")
    axis.set_yscale("log" if up.log else "linear")
    if across.log:  # Within a decade or two matplotlib would write overlapping labels such as 2 × 10³ and 3 × 10³.
        axis.xaxis.set_minor_formatter("")
    ink = inks_of(panel.methods)
    ends = [f([f(line.x[line.there]) for line in lines if line.there.any()]) for f in (np.min, np.max)]
    for k, line in reversed(list(enumerate(lines))):  # The first line is drawn on top.
        if not line.there.any():
            continue
        colour, mark = INKS[ink[line.method]].colour, INKS[ink[line.method]].mark
        both = line.there & np.isfinite(line.low) & np.isfinite(line.high)
        axis.fill_between(line.x, line.low, line.high, where=both, color=colour, alpha=0.18, lw=0)
        axis.plot(line.x, line.middle, color=colour, lw=1.2)
        spots = line.there if panel.marks else line.alone() | _spread(line, ends, across.log, k / len(lines))
        axis.plot(line.x[spots], line.middle[spots], mark, color=colour, ms=4, mec="white", mew=0.3)
    axis.grid(color="0.92", lw=0.6)
    axis.set_axisbelow(True)
    if not panel.marks and not across.log:
        axis.set_xlim(ends[0] - 0.01 * (ends[1] - ends[0]) - 1e-12, ends[1] + 0.01 * (ends[1] - ends[0]) + 1e-12)


def _spread(line: _Line, ends: Sequence[float], log: bool, shift: float) -> Any:
    """About eight points of the line, evenly across the figure, at other places than those of the other lines."""
    low, high = np.log(ends) if log else ends
    where = np.log(np.where(line.there, line.x, 1.0)) if log else line.x
    cells = np.floor(8 * (where - low) / max(high - low, 1e-300) - shift)
    first = np.zeros(line.there.size, dtype=bool)
    seen: set[float] = set()
    for i in np.flatnonzero(line.there):
        first[i] = cells[i] not in seen
        seen.add(cells[i])
    return first


def _absent(axis: Any, panel: Panel, mine: Sequence[_Line], lines: Sequence[Sequence[_Line]]) -> None:
    """Notes in a panel the methods that have values only in other panels, which the legend cannot show."""
    elsewhere = {line.method for others in lines for line in others if line.there.any()}
    names = {m.id: m.label for m in panel.methods}
    absent = [names[line.method] for line in mine if not line.there.any() and line.method in elsewhere]
    if absent:
        place: Any = {"xycoords": "axes fraction", "ha": "right", "va": "top"}
        axis.annotate(f"no data: {', '.join(absent)}", (0.99, 0.99), fontsize=6.5, color="0.35", **place)


def _legend(figure: Any, panels: Sequence[Panel], lines: Sequence[Sequence[_Line]], columns: int) -> None:
    """Every method once; "(no data)" for one that no panel has a value of."""
    from matplotlib.lines import Line2D

    labels = {m.id: m.label for panel in panels for m in panel.methods}
    ink = {m: k for panel in panels for m, k in inks_of(panel.methods).items()}
    there: dict[str, bool] = {}
    for line in (line for mine in lines for line in mine):
        there[line.method] = there.get(line.method, False) or bool(line.there.any())
    handles = [
        Line2D([], [], color=INKS[ink[m]].colour, marker=INKS[ink[m]].mark, lw=1.2, ms=4, mec="white", mew=0.3,
               alpha=1.0 if some else 0.35, label=labels[m] if some else f"{labels[m]} (no data)")
        for m, some in there.items()
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=min(columns, len(handles)), fontsize=7)


def _save(figure: Any, stem: Path, dpi: int) -> list[Path]:
    written = [stem.with_name(stem.name + end) for end in (".png", ".svg", ".pdf")]
    for path in written:
        file = io.BytesIO()
        figure.savefig(file, format=path.suffix[1:], dpi=dpi, metadata=_undated(path))
        figure.set_layout_engine("none")  # The layout is computed once for all three.
        atomic.write(path, [_lighter(file) if path.suffix == ".png" else file.getvalue()])
    return written


def _lighter(file: io.BytesIO) -> bytes:
    """The same picture with a palette: a few flat colours need only a third of the bytes."""
    from PIL import Image

    with Image.open(file) as image:
        small, out = image.convert("RGB").quantize(128, dither=Image.Dither.NONE), io.BytesIO()
    small.save(out, format="PNG", optimize=True)
    return out.getvalue()


def _undated(path: Path) -> dict[str, Any]:
    """The same bytes for the same numbers."""
    return {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[path.suffix]
