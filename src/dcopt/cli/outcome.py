"""What `dcopt fit` came to: the model, the report, and what is said on the screen or as JSON."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..experiments.fit_report import Story, fit_report
from ..experiments.panels import Table
from ..experiments.report import write as write_page
from ..learn import DCRegressor
from ..learn.files import save_estimator
from ..status import Status
from .bench import Bench
from .journal import Asked, Journal
from .tables import Data, read
from .terminal import Terminal

_SHOWN = 20  # features on the screen; all of them are in the report and in --json


def tell(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench, passes: float) -> None:
    """Write the model and the report, then say what came out."""
    model, data = bench.model, bench.data
    score = "R²" if isinstance(model, DCRegressor) else "accuracy"
    scores = {"train": score_of(model, data)}
    if asked.test is not None:
        test = read(asked.test, asked.columns(data.fitted), terminal.note)
        scores["test"] = score_of(model, test)
    chosen = _features(bench)
    how = _how(asked, journal)
    about = {
        "data": asked.data, "rows": data.X.shape[0], "target": asked.target, "lam_by": how, "loss": bench.loss,
        "standardized": asked.standardize, "scores": scores, "score": score,
    } | data.reading  # fmt: skip
    if asked.out is not None:
        save_estimator(asked.out, model, about)
    lines = [f"lam = {model.lam_:.6g} ({how})"] if model.lam_ is not None else []
    units = "; of the standardised columns" if asked.standardize else ""
    lines += [f"{model.status_}: {model.certificate_.split('; ' + model.status_)[0]}{units}"]
    lines += [f"features: {len(chosen)} of {data.X.shape[1]}"]
    rows = {"train": "training", "test": "test"}
    said = ", ".join(f"{value:.4f} on the {rows[which]} rows" for which, value in scores.items())
    files = {"model": asked.out, "report": asked.report, "checkpoint": asked.checkpoint}
    if asked.report is not None:
        summary = f"{lines[-2]}. {len(chosen)} of {data.X.shape[1]} features; {score} {said}."
        write_page(fit_report(_story(asked, journal, bench, chosen, summary)), Path(asked.report))
    result = about | {
        "penalty": asked.penalty, "lam": model.lam_, "status": model.status_, "certificate": model.certificate_,
        "F": model.objective_, "passes": passes, "steps": model.n_iter_, "solver": model.solver_.method,
        "features": chosen, "intercept": np.atleast_1d(model.intercept_).tolist(), "files": files,
    }  # fmt: skip
    table = _table(chosen[:_SHOWN], model)
    cells = [tuple(map(_cell, row)) for row in table.rows]
    shown = [terminal.table(table.head, cells, table.head[1:])] if chosen else []
    more = [f"… and {len(chosen) - _SHOWN} more"] if len(chosen) > _SHOWN else []
    ends = [f"{what}: {path}" for what, path in files.items() if path is not None]
    terminal.result(result, *lines, *shown, *more, f"{score}: {said}", *ends)


def score_of(model: Any, data: Data) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows come without names here
        return float(model.score(data.X, data.y))


def _how(asked: Asked, journal: Journal) -> str:
    if journal.tuning is None:
        return "as given" if asked.lam != "auto" else "the penalty has its own"
    by = f"{asked.folds}-fold cross-validation, one standard error" if asked.select == "cv" else "EBIC"
    return f"{by}, {len(journal.tuning.lams)} values"


def _features(bench: Bench) -> list[dict[str, Any]]:
    """Those in the model, the largest effect first."""
    coef = np.atleast_2d(bench.model.coef_)
    effect = np.abs(coef).max(axis=0) * bench.deviations
    order = [int(j) for j in np.argsort(-effect, kind="stable") if coef[:, j].any()]
    return [
        {"column": j, "name": bench.name(j), "coefficient": coef[:, j].tolist(), "effect": float(effect[j])}
        for j in order
    ]


def _table(chosen: Sequence[dict[str, Any]], model: Any) -> Table:
    classes = getattr(model, "classes_", ())
    each = [f"class {c}" for c in classes] if len(classes) > 2 else ["coefficient"]
    few = len(each) <= 5
    head = ("feature", *(each if few else ["largest coefficient"]), "effect")
    rows = []
    for one in chosen:
        coefs = one["coefficient"] if few else [max(one["coefficient"], key=abs)]
        rows.append((one["name"], *coefs, one["effect"]))
    return Table("Chosen features", head, tuple(rows), f"{len(rows)} features, the largest effect first.")


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _story(asked: Asked, journal: Journal, bench: Bench, chosen: list[dict[str, Any]], summary: str) -> Story:
    model = bench.model
    settings = {
        "data": f"{asked.data}, {bench.data.X.shape[0]} × {bench.data.X.shape[1]} ({bench.data.form})",
        "loss": bench.loss,
        "penalty": repr(bench.fit.r),
        "λ": "–" if model.lam_ is None else f"{model.lam_:.6g}, {_how(asked, journal)}",
        "intercept": "yes, not penalised" if asked.intercept else "no",
        "columns": "standardised for the fit" if asked.standardize else "as they are",
        "solver": f"{model.solver_.method}: {model.solver_.reason}",
        "tol": f"{model.measure} ≤ {asked.tol:g}",
        "budget": f"{asked.max_passes:g} passes" + (f", {asked.max_seconds:g} s" if asked.max_seconds else "")
        + f"; seed {asked.seed}",
    }
    ok = model.status_ == Status.CONVERGED.name
    notices = () if ok else (f"Not converged: {model.certificate_}.",)
    name = Path(asked.data).name
    return Story(
        f"{asked.penalty} fit of {name}", summary, model.solver_.method, model.measure, asked.tol,
        list(model.trace_), journal.along, _table(chosen, model), settings, notices,
    )  # fmt: skip
