"""Figures of what a model predicts: ROC and confusion, calibration, or the residuals of a regression."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .fit_report import FEATURE_INKS, MOST_LINES, line
from .fit_scores import Floats, against_the_others, calibration, confusion, roc
from .fit_tables import Fitted, Rows, decide
from .panels import Axis, Band, Curve, Method, Panel, Table

_POINTS = 400  # The largest number of points of a ROC curve, more than a screen shows.
_DOTS = 2000  # The largest number of residuals, because more would hide each other.
_MOST_CLASSES = 20  # The largest number of classes of a confusion matrix.
_PLAIN, _GREY = "dca-page", "mm-sarah"  # The inks of the lines.


def prediction_panels(fit: Fitted, rows: Rows) -> Iterator[Panel]:
    """All panels that these rows allow."""
    z, targets = fit.scores(rows.X), fit.targets(rows.y)
    if not fit.labels:
        yield _residuals(z[:, 0], targets, rows)
        return
    known = targets >= 0
    tables = () if len(fit.labels) > _MOST_CLASSES else (_confusion(fit.labels, targets, decide(z), rows.name),)
    yield _roc(fit.labels, z[known], targets[known], rows, tables)
    p = fit.probabilities(rows.X)
    if p is not None:
        yield from _calibration(fit.labels, p[known], targets[known], rows.name)


def _roc(classes: Sequence[str], z: Floats, codes: NDArray[np.int64], rows: Rows, tables: tuple[Table, ...]) -> Panel:
    binary = z.shape[1] == 1
    methods, curves, odds = [], {}, against_the_others(z)
    for k in range(min(z.shape[1], MOST_LINES)):
        curve = roc(odds[:, k], codes == (1 if binary else k))
        if curve is None:
            continue
        few = np.unique(np.linspace(0, len(curve.true_positive) - 1, _POINTS).round().astype(int))
        label = f"{classes[1] if binary else classes[k]} (area {curve.area:.3f})"
        methods.append(Method(f"c{k}", label, ink=FEATURE_INKS[k]))
        curves[f"c{k}"] = {"false": Curve(_tuple(curve.false_positive[few]), {"true": line(curve.true_positive[few])})}
    methods.append(Method("chance", "by chance", ink=_GREY))
    curves["chance"] = {"false": Curve((0.0, 1.0), {"true": line((0.0, 1.0))})}
    what = f"{classes[1]} against {classes[0]}" if binary else "each class against the others"
    caption = f"On the {rows.told}: {what}. As the threshold falls, more of the class and of the others are above it."
    return Panel(
        "roc", "ROC curve", caption, (Axis("false", "share of the other rows that are above the threshold"),),
        (Axis("true", "share of the class that is above the threshold"),), tuple(methods), curves,
        lines="Class" if binary else "Classes", band="", simple=True, tables=tables,
    )  # fmt: skip


def _confusion(classes: Sequence[str], codes: NDArray[np.int64], found: NDArray[np.int64], name: str) -> Table:
    known = codes >= 0
    counts = confusion(codes[known], found[known], len(classes))
    rows: list[tuple[str | float, ...]] = [
        (c, *map(int, row), 100.0 * row[k] / row.sum() if row.sum() else math.nan)
        for k, (c, row) in enumerate(zip(classes, counts, strict=True))
    ]
    strange = int((~known).sum())
    more = f" {strange} rows of classes that the model does not know are left out." if strange else ""
    head = "class", *(f"as {c}" for c in classes), "right, %"
    caption = f"The rows of each class by the class that is predicted.{more}"
    return Table(f"Confusion matrix on the {name}", head, tuple(rows), caption)


def _calibration(classes: Sequence[str], p: Floats, codes: NDArray[np.int64], name: str) -> Iterator[Panel]:
    if len(classes) == 2:
        bins = calibration(p[:, 1], codes == 1)
        x, y = f"predicted probability of {classes[1]}", f"share that is {classes[1]}"
    else:
        bins = calibration(p.max(axis=1), p.argmax(axis=1) == codes)
        x, y = "probability of the predicted class", "share that is of this class"
    if bins is None:
        return
    band = Band(_tuple(bins.share), _tuple(bins.low), _tuple(bins.high))
    yield Panel(
        "calibration", "Calibration",
        f"Bins of about equally many of the {name} by their probability, with 95 % intervals (Wilson) of the share. "
        "On the diagonal the probabilities are what they say.",
        (Axis("p", x),), (Axis("share", y),),
        (Method("model", "the model", ink=_PLAIN), Method("perfect", "calibrated", ink=_GREY)),
        {"model": {"p": Curve(_tuple(bins.predicted), {"share": band})},
         "perfect": {"p": Curve((0.0, 1.0), {"share": line((0.0, 1.0))})}},
        marks=True, lines="Lines", band="95 % interval", simple=True,
    )  # fmt: skip


def _residuals(prediction: Floats, target: Floats, rows: Rows) -> Panel:
    order = np.argsort(prediction, kind="stable")
    few = order[np.unique(np.linspace(0, len(order) - 1, _DOTS).round().astype(int))]
    ends = float(prediction.min()), float(prediction.max())
    shown = "" if len(few) == len(order) else f", {len(few)} of them, evenly by prediction"
    return Panel(
        "residuals", "Residuals",
        f"On the {rows.told}{shown}. A trend, or a spread that changes from left to right, is what the model misses.",
        (Axis("prediction", "prediction"),), (Axis("residual", "target − prediction"),),
        (Method("rows", "rows", ink=_PLAIN, joined=False), Method("zero", "no error", ink=_GREY)),
        {"rows": {"prediction": Curve(_tuple(prediction[few]), {"residual": line((target - prediction)[few])})},
         "zero": {"prediction": Curve(ends, {"residual": line((0.0, 0.0))})}},
        lines="Residual", band="", simple=True,
    )  # fmt: skip


def _tuple(values: Floats) -> tuple[float, ...]:
    return tuple(map(float, values))
