"""Figures. The only room that knows matplotlib, and only while it draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .scaling_report import Findings
from .slopes import Row

_COLOURS = {  # Okabe and Ito: told apart by the colour-blind
    "dca": "#000000",
    "dca-saga": "#E69F00",
    "dca-svrg": "#56B4E9",
    "mm-saga": "#009E73",
    "mm-svrg": "#CC79A7",
    "dca-page": "#D55E00",
    "mm-saga-sqrt": "#0072B2",
}
_MARKS = dict(zip(_COLOURS, "sov^DpX", strict=True))
_STYLE: Any = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 6.5,
    "svg.hashsalt": "dcopt",
}


def scaling_figure(found: Findings, stem: Path) -> list[Path]:
    """Gradients after the first N, against N above and against d(0)/ε below, a column for each population."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = len(found.families)
    with rc_context(_STYLE):
        figure = Figure(figsize=(3.6 * width, 7.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(2, width, squeeze=False)
        for k, family in enumerate(found.families):
            above, below = axes[0][k], axes[1][k]
            sizes = min(family.sizes), max(family.sizes)
            above.plot(sizes, sizes, color="0.6", lw=1, ls=":")
            above.annotate("N", (sizes[1], sizes[1]), color="0.4", xytext=(3, 0), textcoords="offset points")
            _panel(above, found.in_N[family.data], 1.0)
            above.set(title=f"{family.data}: ε = d(0)/{1 / family.levels[-1]:g}", xlabel="N")
            start = next(r.eps / r.level for r in found.records if r.data == family.data)
            _panel(below, found.in_eps[family.data], start)
            below.set(title=f"{family.data}: N = {family.at}", xlabel="d(0) / ε")
        for row in axes:
            row[0].set_ylabel("component gradients after the first N")
        written = [stem.with_suffix(end) for end in (".png", ".svg", ".pdf")]
        for path in written:
            figure.savefig(path, dpi=110, metadata=_undated(path))
    _lighten(written[0])
    return written


def _panel(axis: Any, rows: list[Row], scale: float) -> None:
    """Medians as marks, fitted lines, and the slopes in a legend below."""
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    for row in rows:
        fit, colour = row.honest, _COLOURS.get(row.method, "0.3")
        ends = fit.xs[0], fit.xs[-1]
        axis.plot([x * scale for x in ends], [fit.at(x) for x in ends], color=colour, lw=1)
        marks = [x * scale for x in fit.xs]
        label = f"{row.method}  {fit}"
        axis.plot(marks, fit.medians, _MARKS.get(row.method, "o"), color=colour, ms=3.5, mec="none", label=label)
    axis.grid(color="0.92", lw=0.6)
    axis.set_axisbelow(True)
    place: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 2}
    axis.legend(title="slope and its 95 % interval", title_fontsize=6.5, handletextpad=0.2, columnspacing=1.0, **place)


def _lighten(path: Path) -> None:
    """A few flat colours need no more than a palette: a third of the bytes."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def _undated(path: Path) -> dict[str, Any]:
    """The same bytes for the same numbers."""
    return {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[path.suffix]
