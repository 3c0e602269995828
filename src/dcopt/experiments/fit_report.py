"""fit.html: how a fit converged, the path along λ, the features it chose, its settings; a page of `report`."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from ..watch import Record
from .panels import Axis, Band, Curve, Method, Panel, Report, Table

MOST_LINES = 12  # features in the figure of the path: as many as there are colours
_CHOSEN, _TOL = "dca", "mm-sarah"  # by the names of their inks, black and grey


@dataclass(frozen=True)
class Along:
    """The path: a criterion against λ with its standard error, and the effects of the leading features."""

    what: str  # the criterion in words
    lams: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    nnz: tuple[int, ...]
    names: tuple[str, ...]
    effects: tuple[tuple[float, ...], ...]  # for every name, along λ
    lam: float
    rule: str = "best"  # by which it was chosen


@dataclass(frozen=True)
class Story:
    """What the page tells."""

    title: str
    summary: str
    method: str
    measure: str
    tol: float
    records: Sequence[Record]
    along: Along | None
    features: Table
    settings: dict[str, str]
    notices: tuple[str, ...] = ()


def fit_report(story: Story) -> Report:
    """The page of a fit."""
    panels = [_convergence(story)]
    if story.along is not None:
        panels += [_path(story.along), _criterion(story.along)]
    how = Table("Settings", ("setting", "value"), tuple(story.settings.items()))
    sections = {"claims": "", "methods": "", "protocol": "How to read it"}
    tables = (story.features, how)
    return Report(
        story.title, story.summary, (), tuple(panels), _reading(story), _made(), story.notices, (), tables, sections
    )


def _convergence(story: Story) -> Panel:
    seen = list(story.records)
    best = min((r.F for r in seen), default=math.nan)
    columns = {
        "measure": [r.measure for r in seen],
        "F": [r.F for r in seen],
        "excess": [r.F - best for r in seen],
        "nnz": [float(r.nnz) for r in seen],
    }
    xs = {"passes": [r.passes for r in seen], "seconds": [r.seconds for r in seen], "t": [float(r.t) for r in seen]}
    bands = {name: _line(values) for name, values in columns.items()}
    curves = {story.method: {x: Curve(tuple(values), bands) for x, values in xs.items()}}
    ends = {x: (min(values), max(values)) for x, values in xs.items() if values}
    curves[_TOL] = {x: Curve(end, {"measure": _line([story.tol] * 2)}) for x, end in ends.items()}
    return Panel(
        "convergence",
        "Convergence",
        f"The measure ({story.measure}) was computed with full gradients; F − least seen is that of this run alone.",
        (Axis("passes", "passes over the data"), Axis("seconds", "seconds"), Axis("t", "steps")),
        (
            Axis("measure", story.measure, log=True),
            Axis("F", "F"),
            Axis("excess", "F − least seen", log=True),
            Axis("nnz", "non-zeros"),
        ),
        (Method(story.method, story.method), Method(_TOL, f"tol = {story.tol:g}")),
        curves,
        marks=len(seen) < 30,
        lines="Lines",
        band="",
    )


def _path(along: Along) -> Panel:
    methods = tuple(Method(f"f{k}", name) for k, name in enumerate(along.names))
    curves = {f"f{k}": {"lam": Curve(along.lams, {"coef": _line(c)})} for k, c in enumerate(along.effects)}
    values = [v for c in along.effects for v in c] or [0.0, 1.0]
    curves[_CHOSEN] = {"lam": _upright(along.lam, {"coef": (min(values), max(values))})}
    return Panel(
        "path",
        "The path along λ",
        f"The {len(along.names)} features with the largest effect at the chosen λ; each starts from the one before.",
        (Axis("lam", "λ", log=True),),
        (Axis("coef", "effect: coefficient × deviation of its column"),),
        (*methods, Method(_CHOSEN, "the chosen λ")),
        curves,
        lines="Features",
        band="",
    )


def _criterion(along: Along) -> Panel:
    counts = [float(n) for n in along.nnz]
    bands = {"criterion": Band(along.middle, along.low, along.high), "nnz": _line(counts)}
    ends = {"criterion": (min(along.low), max(along.high)), "nnz": (0.0, max(counts))}
    return Panel(
        "criterion",
        "The choice of λ",
        along.what + ".",
        (Axis("lam", "λ", log=True),),
        (Axis("criterion", along.what.split(":")[0]), Axis("nnz", "features in the model")),
        (Method("path", "along the path"), Method(_CHOSEN, "the chosen λ")),
        {"path": {"lam": Curve(along.lams, bands)}, _CHOSEN: {"lam": _upright(along.lam, ends)}},
        marks=True,
        lines="Lines",
        band="one standard error",
    )


def _line(values: Sequence[float]) -> Band:
    return Band(tuple(values), tuple(values), tuple(values))


def _upright(at: float, ends: dict[str, tuple[float, float]]) -> Curve:
    return Curve((at, at), {y: _line(values) for y, values in ends.items()})


def _reading(story: Story) -> tuple[str, ...]:
    said = [
        "A fit has converged when the measure, recomputed with a full gradient at the solution, is at most tol. The "
        "problem is not convex in general: a critical point is certified, not the least value of all.",
        "Effect: the coefficient times the deviation of its column, which is how far the score moves when the feature "
        "moves by one standard deviation.",
    ]
    if story.along is not None:
        said.append(_RULES[story.along.rule])
    return tuple(said)


_FOLDS = "Cross-validation: the mean loss over the folds on the rows left out, and its standard error; chosen is "
_BIC = "2 N f + k log N{} for k features and the mean loss f (for least squares N log 2f); the least is chosen."
_RULES = {
    "best": _FOLDS + "the λ of the least mean.",
    "1se": _FOLDS + "the largest λ within one standard error of the least mean.",
    "bic": "BIC: " + _BIC.format(""),
    "ebic": "EBIC: " + _BIC.format(" + 2 k log d"),
}


def _made() -> dict[str, str]:
    made = {name: version(name) for name in ("dcopt", "numpy", "scipy", "numba", "scikit-learn")}
    return made | {
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
