"""`dcopt predict`: a model on new rows, as CSV."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets.coding import from_plain
from ..datasets.tables import Columns, Fitted
from ..errors import BadModel, BadSettings
from ..learn.files import load_estimator
from ..store import peek
from ..store.atomic import write
from .outputs import distinct, free
from .scores import score_of
from .sources import data_of
from .terminal import Terminal

_FORMULA = re.compile(r"[=+@\t\r-].")  # A sign alone, as "+" and "-" for classes, is not a formula.


def run(
    terminal: Terminal,
    path: str,
    source: str,
    proba: bool,
    out: str | None,
    force: bool,
    by_position: bool = False,
    decimal: str | None = None,
) -> None:
    """One line a row: the prediction, or a probability for every class."""
    model = load_estimator(path)
    distinct({"--out": out}, {"the model": path, "the data": source})
    free([out], force)
    target, fitted = _fitted(path, model)
    columns = Columns(target, must=False, decimal=decimal, fitted=fitted, by_position=by_position)
    data = data_of(source, columns, terminal.note)
    if proba and not hasattr(model, "predict_proba"):
        raise BadSettings("proba", True, f"no --proba: {type(model.loss).__name__} has no probabilities")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # These rows have no names.
        values: Any = model.predict_proba(data.X) if proba else model.predict(data.X)[:, None]
    head = [f"p({label})" for label in model.classes_] if proba else ["prediction"]
    rows = values.tolist()
    safe = [[_cell(value) for value in row] for row in rows]
    if safe != rows:
        terminal.note("labels that a spreadsheet would take for formulas are written with a ' before them")
    text = _csv(head, safe)
    result: dict[str, Any] = {"model": path, "data": source, "rows": len(values), "columns": head}
    if data.y is not None:
        classes = getattr(model, "classes_", None)
        if classes is None or np.isin(data.y, classes).all():  # Otherwise the labels are not used.
            what = "R²" if classes is None else "accuracy"
            result["score"] = {what: score_of(model, data)}
            terminal.note(f"{what} {result['score'][what]:.4f} on {len(values)} rows")
    if out is None:
        terminal.rows(result | {"values": values.tolist()}, text)
        return
    write(Path(out), [text.encode()])
    terminal.result(result | {"out": out}, f"{len(values)} predictions: {out}")


def _fitted(path: str, model: Any) -> tuple[str | None, Fitted]:
    """The target of the fit, if its file tells it, and how its data were read; files of older versions had numbers."""
    extra = peek(path).header.get("extra")
    extra = extra if isinstance(extra, dict) else {}
    target, table, zero_based = extra.get("target"), extra.get("table"), extra.get("zero_based")
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else tuple(map(str, names))
    try:
        if not isinstance(target, str | None) or zero_based not in (True, None):
            raise TypeError("target or zero_based")
        coding = None if table is None else from_plain(table)
        if coding is not None and coding.features != names:
            raise ValueError("the columns do not match the features")
    except (ValueError, TypeError, KeyError) as why:
        raise BadModel(path, f"does not say how its data were read ({str(why)[:80]})") from None
    return target, Fitted(names, int(model.n_features_in_), coding, zero_based is True)


def _cell(value: Any) -> Any:
    """A label that begins like a formula, with an apostrophe before it, so that spreadsheets treat it as text."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _csv(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return file.getvalue()
