"""fit.html: features and scores, the path along λ, predictions, and last how the solver converged; for `report`."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version

from ..runs.trace import Record
from .panels import Axis, Band, Curve, Method, Panel, Report, Table

FEATURE_INKS = (  # Neighbours in the legend differ in hue.
    "mm-saga-sqrt", "dca-page", "mm-saga", "sdca", "dca-saga", "dca-svrg", "mm-svrg", "spare-1", "spare-3",
    "mm-sarah", "spare-4", "spare-2",
)  # fmt: skip
MOST_LINES = len(FEATURE_INKS)  # The number of features in the figure of the path.
_BLACK, _GREY = "dca", "mm-sarah"  # The inks of the lines.
_FLAT = 5.0  # The ratio of the greatest to the least value above which an axis is logarithmic.
_SECTIONS = {
    "results": "Result", "claims": "", "methods": "", "tables": "Settings", "code": "Use the model",
    "protocol": "How to read it",
}  # fmt: skip


@dataclass(frozen=True)
class Along:
    """The path: a criterion against λ with its standard error, and the effects of the leading features."""

    what: str  # The name of the criterion.
    lams: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    nnz: tuple[int, ...]
    names: tuple[str, ...]
    effects: tuple[tuple[float, ...], ...]  # The effects along λ, for every name.
    lam: float
    rule: str = "best"  # The rule that chose λ.

    @property
    def crossed(self) -> bool:
        """Whether λ was chosen by cross-validation."""
        return self.rule in ("best", "1se")

    @property
    def at(self) -> int:
        """The place of the chosen λ."""
        return min(range(len(self.lams)), key=lambda k: abs(self.lams[k] - self.lam))


@dataclass(frozen=True)
class Story:
    """The contents of the page."""

    title: str
    summary: str
    features: Table
    scores: Table
    predictions: tuple[Panel, ...]
    along: Along | None
    method: str
    measure: str
    tol: float  # The tolerance is absolute, as the measure is.
    records: Sequence[Record]
    settings: dict[str, str]
    code: str
    notices: tuple[str, ...] = ()


def fit_report(story: Story) -> Report:
    """The page of a fit."""
    along = () if story.along is None else _along_lam(story.along)
    moved, settings = any(r.t for r in story.records), story.settings
    if not moved:
        settings = settings | {"steps": "none" + (": the path along λ ended at this solution" if along else "")}
    how = Table("Settings of the fit", ("setting", "value"), tuple(settings.items()))
    last = (_convergence(story),) if moved else ()
    return Report(
        story.title, story.summary, (), (*along, *story.predictions, *last), _reading(story), _made(),
        story.notices, tables=(how,), sections=_SECTIONS, results=(story.features, story.scores), code=story.code,
    )  # fmt: skip


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
    bands = {name: line(values) for name, values in columns.items()}
    curves = {"run": {x: Curve(tuple(values), bands) for x, values in xs.items()}}
    ends = {x: (min(values), max(values)) for x, values in xs.items() if values}
    curves["tol"] = {x: Curve(end, {"measure": line([story.tol] * 2)}) for x, end in ends.items()}
    return Panel(
        "convergence",
        "Convergence of the solver",
        f"{story.measure.capitalize()} is computed with full gradients; F − least seen is that of this run alone.",
        (Axis("passes", "passes over the data"), Axis("seconds", "seconds"), Axis("t", "steps")),
        (
            Axis("measure", story.measure, log=True),
            Axis("F", "F"),
            Axis("excess", "F − least seen", log=True),
            Axis("nnz", "non-zeros"),
        ),
        (Method("run", story.method, ink=_BLACK), Method("tol", f"tol = {story.tol:.3g}", ink=_GREY)),
        curves,
        marks=len(seen) < 30,
        lines="Lines",
        band="",
    )


def _along_lam(along: Along) -> tuple[Panel, Panel]:
    """The path and the choice of λ, without the last λ as far as their loss is larger than that of the first.

    Where classes become separable, effects and losses grow a hundredfold from one λ to the next.
    """
    shown = len(along.lams)
    while along.crossed and shown > 1 and along.middle[shown - 1] > along.middle[0]:
        shown -= 1
    left = f"; λ below {along.lams[shown - 1]:.3g} are left out, where the loss is larger than at the largest λ"
    along = replace(
        along, what=along.what + (left if shown < len(along.lams) else ""), lams=along.lams[:shown],
        middle=along.middle[:shown], low=along.low[:shown], high=along.high[:shown], nnz=along.nnz[:shown],
        effects=tuple(line[:shown] for line in along.effects),
    )  # fmt: skip
    return _path(along), _criterion(along)


def _path(along: Along) -> Panel:
    inks = dict(zip(along.names, FEATURE_INKS, strict=False))
    methods = tuple(Method(f"f{k}", name, ink=inks[name]) for k, name in enumerate(along.names))
    curves = {f"f{k}": {"lam": Curve(along.lams, {"coef": line(c)})} for k, c in enumerate(along.effects)}
    values = [v for c in along.effects for v in c] or [0.0, 1.0]
    curves["chosen"] = {"lam": _upright(along.lam, {"coef": (min(values), max(values))})}
    return Panel(
        "path",
        "The path along λ",
        f"The {len(along.names)} features with the largest effect at the chosen λ. λ falls from left to right, from "
        "the model without features on. Effect: the coefficient times the standard deviation of its column.",
        (Axis("lam", "λ", log=True, falls=True),),
        (Axis("coef", "effect"),),
        (*methods, Method("chosen", "the chosen λ", ink=_BLACK)),
        curves,
        lines="Features",
        band="",
        aligned="lam",
    )


def _criterion(along: Along) -> Panel:
    counts = [float(n) for n in along.nnz]
    bands = {"criterion": Band(along.middle, along.low, along.high), "nnz": line(counts)}
    ends = {"criterion": (min(along.low), max(along.high)), "nnz": (0.0, max(counts))}
    log = min(along.middle) > 0.0 and max(along.middle) > _FLAT * min(along.middle)
    if log:
        ends["criterion"] = (min(along.middle), max(along.high))
    return Panel(
        "criterion",
        "The choice of λ",
        along.what[0].upper() + along.what[1:] + ".",
        (Axis("lam", "λ", log=True, falls=True),),
        (Axis("criterion", along.what.split(":")[0], log), Axis("nnz", "features in the model")),
        (Method("path", "along the path", ink=FEATURE_INKS[0]), Method("chosen", "the chosen λ", ink=_BLACK)),
        {"path": {"lam": Curve(along.lams, bands)}, "chosen": {"lam": _upright(along.lam, ends)}},
        marks=True,
        lines="Lines",
        band="one standard error" if along.crossed else "",
        aligned="lam",
    )


def line(values: Iterable[float]) -> Band:
    """Values without a range."""
    numbers = tuple(map(float, values))
    return Band(numbers, numbers, numbers)


def _upright(at: float, ends: dict[str, tuple[float, float]]) -> Curve:
    return Curve((at, at), {y: line(values) for y, values in ends.items()})


def _reading(story: Story) -> tuple[str, ...]:
    said = [
        f"The solver has converged when the {story.measure}, recomputed with a full gradient at the solution, is at "
        "most tol: the relative tolerance times the scale of the measure at the model without features. Where the "
        "problem is not convex this certifies a critical point, not the least value of all.",
    ]
    if story.along is not None:
        said.append(_RULES[story.along.rule])
    return tuple(said)


_FOLDS = "Cross-validation: the mean loss over the folds on the rows left out, and its standard error; chosen is "
_LEAST = (
    "2 N f + {} for k free coefficients of m among d features and the mean loss f (for least squares N log 2f); the "
    "least is chosen."
)
_RULES = {
    "best": _FOLDS + "the λ of the least mean.",
    "1se": _FOLDS + "the largest λ within one standard error of the least mean.",
    "aic": "AIC: " + _LEAST.format("2 k"),
    "bic": "BIC: " + _LEAST.format("k log N"),
    "ebic": "EBIC: " + _LEAST.format("k log N + 2 m log d"),
}


def _made() -> dict[str, str]:
    made = {name: version(name) for name in ("dcopt", "numpy", "scipy", "numba", "scikit-learn")}
    return made | {
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
