"""`dcopt predict`: a model on new rows, as CSV."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadSettings
from ..learn.files import load_estimator
from ..store import peek
from ..store.atomic import write
from .fit import free
from .outcome import score_of
from .tables import Columns, read
from .terminal import Terminal


def run(
    terminal: Terminal, path: str, source: str, proba: bool, out: str | None, force: bool, by_position: bool = False
) -> None:
    """One line a row: the prediction, or a probability for every class."""
    model = load_estimator(path)
    free([out], force)
    extra = peek(path).header["extra"]
    target = extra.get("target") if isinstance(extra, dict) else None
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else tuple(map(str, names))
    columns = Columns(target, names=names, width=int(model.n_features_in_), must=False, by_position=by_position)
    data = read(source, columns)
    if proba and not hasattr(model, "predict_proba"):
        raise BadSettings("proba", True, f"no --proba: {type(model.loss).__name__} has no probabilities")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows come without names here
        values: Any = model.predict_proba(data.X) if proba else model.predict(data.X)[:, None]
    head = [f"p({label})" for label in model.classes_] if proba else ["prediction"]
    text = _csv(head, values.tolist())
    result: dict[str, Any] = {"model": path, "data": source, "rows": len(values), "columns": head}
    if data.y is not None:
        classes = getattr(model, "classes_", None)
        if classes is None or np.isin(data.y, classes).all():  # else the labels only fill a place
            what = "R²" if classes is None else "accuracy"
            result["score"] = {what: score_of(model, data)}
            terminal.note(f"{what} {result['score'][what]:.4f} on {len(values)} rows")
    if out is None:
        terminal.result(result | {"values": values.tolist()}, text.rstrip("\n"))
        return
    write(Path(out), [text.encode()])
    terminal.result(result | {"out": out}, f"{len(values)} predictions: {out}")


def _csv(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return file.getvalue()
