"""From traces to panels: every method against passes (honest, the paper's) and seconds, with the range of its runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..report.panels import Axis, Band, Curve, Method, Panel, Table
from . import contestants
from .curves import Recipe
from .intervals import Mean, mean
from .ledger import Line
from .records import Record, beyond
from .scaling_report import HEAD, Findings, cells
from .slopes import Row

XS = (
    Axis("paper", "passes, as the paper counts"),
    Axis("passes", "passes, honestly counted"),
    Axis("seconds", "seconds"),
)
YS = (
    Axis("excess", "F − best known", log=True),
    Axis("F", "F on the training rows"),
    Axis("criticality", "critical distance", log=True),
    Axis("gap", "gap", log=True),
    Axis("nnz", "non-zeros"),
    Axis("train", "training accuracy"),
    Axis("test", "test accuracy"),
)
_INKS = {"saga-sqrt": "mm-saga-sqrt", "sdca-unshifted": "spare-1"}
_POINTS = 60  # The number of points of a curve against seconds.


class Runs:
    """The runs of one experiment on one data set, by method and seed."""

    def __init__(self, recipe: Recipe, data: str, lines: Sequence[Line]) -> None:
        self.recipe, self.data = recipe, data
        self.lines = [line for line in lines if line["data"] == data]
        self.n, self.shape = self.lines[0]["n"], self.lines[0]["shape"]
        self.methods = [m for m in recipe.methods if any(line["method"] == m for line in self.lines)]
        seeds = sorted({line["seed"] for line in self.lines})
        self.best = {s: min(min(line["columns"]["F"]) for line in self.lines if line["seed"] == s) for s in seeds}

    def of(self, method: str) -> list[Line]:
        """In the order of the seeds, so that methods are compared pair by pair."""
        return sorted((line for line in self.lines if line["method"] == method), key=lambda line: int(line["seed"]))

    def column(self, line: Line, name: str) -> NDArray[np.float64]:
        """A column of a trace, or one that follows from it; what is missing is NaN."""
        columns = line["columns"]
        if name == "excess":
            values, shift, unit = columns["F"], self.best[line["seed"]], 1
        elif name in ("passes", "paper"):
            values, shift, unit = columns["gradients" if name == "passes" else "paper"], 0, self.n
        else:
            values, shift, unit = columns[name], 0, 1
        return np.array([math.nan if v is None else (v - shift) / unit for v in values], float)

    def within(self, line: Line, x: str, budget: float, y: str) -> float:
        """y at the last look within the budget; NaN where the run did not get there."""
        spent = self.column(line, x)
        if spent[-1] < budget * (1 - 1e-9):
            return math.nan
        return float(self.column(line, y)[np.searchsorted(spent, budget * (1 + 1e-9), "right") - 1])

    def at_end(self, method: str, y: str, x: str = "paper") -> list[float]:
        """y of every run when the budget is spent."""
        return [self.within(line, x, self.recipe.passes, y) for line in self.of(method)]


def runs(recipe: Recipe, lines: Sequence[Line]) -> list[Runs]:
    """One for each data set, in the order of the lines."""
    return [Runs(recipe, data, lines) for data in dict.fromkeys(line["data"] for line in lines)]


def panel(kind: str, here: Runs) -> Panel:
    """All methods of an experiment on a data set."""
    recipe = here.recipe
    shown = recipe.shown or tuple(m for m in recipe.methods)
    legend = [
        Method(m, contestants.label(m), contestants.method(m, recipe.variants).says, m in shown) for m in here.methods
    ]
    curves = {m: {x.id: _curve(here, m, x.id) for x in XS} for m in here.methods}
    size = " × ".join(map(str, here.shape))
    caption = (
        f"{recipe.title}: {recipe.loss}, {penalty(recipe)}; {here.n} training rows, {size} coefficients. Mean of "
        f"{recipe.runs} runs and their range; each run keeps {100 * recipe.test:g} % of the rows for testing."
    )
    name = f"{kind}-{here.data}".replace(".", "-")
    return Panel(name, f"{recipe.title}: {here.data}", caption, XS, YS, tuple(legend), curves,
                 tables=(table(here),))  # fmt: skip


def _curve(here: Runs, method: str, x: str) -> Curve:
    lines = here.of(method)
    spent = [here.column(line, x) for line in lines]
    end = min(float(s[-1]) for s in spent)
    if x == "seconds":
        grid = np.linspace(0.0, end, _POINTS)
    else:
        grid = np.arange(0.0, min(end, here.recipe.passes) + 1e-9, here.recipe.every)
    bands = {}
    for y in YS:
        values = np.array([np.interp(grid, s, here.column(line, y.id)) for s, line in zip(spent, lines, strict=True)])
        bands[y.id] = Band(_tuple(values.mean(axis=0)), _tuple(values.min(axis=0)), _tuple(values.max(axis=0)))
    return Curve(_tuple(grid), bands)


def _tuple(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Seven digits: more than a screen can show, and a page of half the size."""
    return tuple(float(f"{v:.7g}") for v in values)


def penalty(recipe: Recipe) -> str:
    """The penalty of a recipe, for people."""
    settings = ", ".join(f"{k} = {v}" for k, v in recipe.penalty.items() if k != "name")
    return f"{recipe.penalty['name']} ({settings})"


def table(here: Runs) -> Table:
    """Where every method stands when the budget is spent."""
    budget = here.recipe.passes
    head = ("method", "F, paper's count", "F, honest count", "F − best known", "gap", "non-zeros", "train", "test",
            "seconds")  # fmt: skip
    rows = []
    for m in here.methods:
        last = [_few(mean(here.at_end(m, y))) for y in ("gap", "nnz", "train", "test", "seconds")]
        F = [str(mean(here.at_end(m, "F", x))) for x in ("paper", "passes")]
        diverged = sum(line["status"] != "done" for line in here.of(m))
        name = contestants.label(m) + (f" ({diverged} diverged)" if diverged else "")
        rows.append((name, *F, _few(mean(here.at_end(m, "excess"))), *last))
    rows.sort(key=lambda row: float(row[1].split()[0]) if row[1][0].isdigit() else math.inf)
    caption = (
        "Means over the runs with 95 % intervals. F is that after as many passes in the paper's count, and in the "
        "honest one; the columns after these are at the paper's count."
    )
    return Table(f"After {passes(budget)} on {here.data}", head, tuple(rows), caption)


def passes(count: float) -> str:
    """1 pass, 2 passes"""
    return f"{count:g} pass{'' if count == 1 else 'es'}"


def _few(m: Mean) -> str:
    return "–" if math.isnan(m.value) else f"{m.value:.4g}"


# ---------------------------------------------------------------------------------------------------- scaling


def scaling_panels(found: Findings) -> Iterator[Panel]:
    """Gradients after the first N, against N and against d(0)/ε, with the fitted exponents in the table."""
    xs = Axis("N", "N", log=True), Axis("eps", "d(x⁰) / ε", log=True)
    ys = tuple(
        Axis(name, text, log=True)
        for name, text in (
            ("honest", "component gradients after the first N"),
            ("paper", "the same, as the paper counts"),
            ("steps", "steps"),
            *([("programs", "the same with the gradients of G in the programs")] if found.recipe.is_general else []),
        )
    )
    for family in found.families:
        in_N, in_eps = found.in_N[family.data], found.in_eps[family.data]
        start = next(r.eps / r.level for r in found.records if r.data == family.data)
        named = {row.method: row for row in (*in_N, *in_eps)}
        curves: dict[str, dict[str, Curve]] = {m: {} for m in named}
        for x, rows, scale in (("N", in_N, 1.0), ("eps", in_eps, start)):
            for row in rows:
                mine = [r for r in found.records if (r.data, r.method) == (family.data, row.method)]
                mine = [r for r in mine if (r.level == family.levels[-1] if x == "N" else r.n == family.at)]
                curves[row.method][x] = _medians(row, mine, x, scale)
        legend = tuple(
            Method(m, contestants.label(m), contestants.KNOWN[m].says, ink=_INKS.get(m, "")) for m in named
        )
        caption = (
            "Median of the runs, and their range, until the critical distance is at most ε; against N, "
            f"ε = {family.levels[-1]:g} d(x⁰); against ε, N = {family.at}."
        )
        tables = tuple(_exponents(title, rows) for title, rows in (("N", in_N), ("1/ε", in_eps)))
        kind, title = ("general", "General G") if found.recipe.is_general else ("scaling", found.recipe.title)
        yield Panel(f"{kind}-{family.data}", f"{title}: {family.data}", caption, xs, ys, legend, curves,
                    marks=True, tables=tables)  # fmt: skip


def _medians(row: Row, records: Sequence[Record], x: str, scale: float) -> Curve:
    """The medians that the line was fitted to, and the range of the runs; a censored run has no upper end."""
    bands: dict[str, Band] = {}
    counts = ("honest", "gradients"), ("paper", "paper"), ("steps", "steps"), ("programs", "with programs")
    for name, count in counts:
        slope = getattr(row, name) or row.honest
        at = dict(zip(slope.xs, slope.medians, strict=True))
        ends = [[beyond(r, count) for r in records if (r.n if x == "N" else 1.0 / r.eps) == v] for v in row.honest.xs]
        bands[name] = Band(tuple(at.get(v, math.nan) for v in row.honest.xs),
                           tuple(min(e) for e in ends), tuple(max(e) for e in ends))  # fmt: skip
    return Curve(tuple(v * scale for v in row.honest.xs), bands)


def _exponents(title: str, rows: Sequence[Row]) -> Table:
    programs = any(r.programs is not None for r in rows)
    head = (*HEAD, *(["with programs"] if programs else []), "verdict")
    lines = tuple(cells(r, programs) for r in rows)
    return Table(f"Exponents in {title}", head, lines, "Slopes of the medians in log-log, 95 % intervals.")

