"""What `dcopt fit` came to: the model, the report, and what is said on the screen or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..experiments.fit_report import Story, fit_report
from ..experiments.report import write as write_page
from ..learn.files import save_estimator
from ..learn.task import Done
from ..status import Status
from .bench import Bench
from .coefficients import chosen_features, classes_of, direction, intercepts, table_of
from .journal import Asked, Journal
from .outputs import resume_command
from .scores import scores_of
from .terminal import Terminal

_RULES = {
    "best": "{}-fold cross-validation, least loss",
    "1se": "{}-fold cross-validation, one standard error",
    "bic": "BIC",
    "ebic": "EBIC",
}
_SHOWN = 20  # features on the screen; all of them are in the report and in --json


def tell(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench, done: Done) -> None:
    """Write the model and the report, then say what came out."""
    model, data, classes = bench.model, bench.data, classes_of(bench.model)
    scores = scores_of(model, data, bench.test, journal.tuning)
    chosen = chosen_features(model, bench.name, bench.deviations)
    how = _how(asked, journal)
    about = {
        "data": asked.data, "rows": data.X.shape[0], "target": asked.target, "lam_by": how, "loss": bench.loss,
        "standardized": asked.standardize, **scores.plain,
    } | data.reading  # fmt: skip
    certificate, units = str(model.certificate_), "; of the standardised columns" if asked.standardize else ""
    lines = [f"lam = {model.lam_:.6g} ({how})"] if model.lam_ is not None else []
    lines += [f"{model.status_}: {certificate.split('; ' + model.status_)[0]}{units}"]
    lines += [f"features: {len(chosen)} of {data.X.shape[1]}"]
    verdict = scores.verdict() if chosen else f"the model has no features: it predicts {scores.without}"
    said = [*scores.lines(), *([verdict] if verdict else [])]
    summary = f"{lines[-2]}. {len(chosen)} of {data.X.shape[1]} features; {'; '.join(said)}."
    failed: list[OSError] = []
    files = {
        "model": _written(asked.out, lambda path: save_estimator(path, model, about), failed),
        "report": _written(
            asked.report,
            lambda path: write_page(fit_report(_story(asked, journal, bench, done, chosen, summary)), Path(path)),
            failed,
        ),
        "checkpoint": asked.checkpoint,
    }
    result = about | {
        "penalty": asked.penalty, "lam": model.lam_, "status": model.status_, "certificate": certificate,
        "F": model.objective_, "passes": done.seen.passes, "steps": model.n_iter_, "solver": model.solver_.method,
        "classes": classes, "features": chosen, "intercept": np.atleast_1d(model.intercept_).tolist(),
        "no_better": bool(verdict), "files": files, "not_written": not_written(asked, journal),
    }  # fmt: skip
    table = table_of(chosen[:_SHOWN], classes)
    cells = [tuple(map(_cell, row)) for row in table.rows]
    numbers = [name for name in table.head[1:] if name != "favours"]
    shown = [terminal.table(table.head, cells, numbers)] if chosen else []
    more = [f"… and {len(chosen) - _SHOWN} more"] if len(chosen) > _SHOWN else []
    more += filter(None, [intercepts(model), direction(classes) if chosen else ""])
    ends = [f"{what}: {path}" for what, path in files.items() if path is not None]
    if left := not_written(asked, journal):
        ends.append(f"not written: {' and '.join(left)}. To write: {again(journal)}")
    terminal.result(result, *lines, *shown, *more, *said, *ends)
    if failed:
        raise failed[0]


def _written(path: str | None, work: Callable[[str], object], failed: list[OSError]) -> str | None:
    """The path once it is written; what went wrong is kept, so that the result is said first."""
    if path is None:
        return None
    try:
        work(path)
    except OSError as why:
        failed.append(OSError(why.errno, why.strerror or str(why), path))
        return None
    return path


def not_written(asked: Asked, journal: Journal) -> dict[str, str]:
    """What the fit was asked to write, and this command line does not name."""
    pairs = (("model", asked.out, journal.asked.out), ("report", asked.report, journal.asked.report))
    return {what: wished for what, given, wished in pairs if given is None and wished is not None}


def again(journal: Journal) -> str:
    """The command that goes on with the fit, and writes what it was asked to write."""
    asked = journal.asked
    assert asked.checkpoint is not None
    return resume_command(asked.checkpoint, asked.data, asked.out, asked.report)


def _how(asked: Asked, journal: Journal) -> str:
    if journal.tuning is None:
        return "as given" if asked.lam != "auto" else "the penalty has its own"
    by = _RULES[asked.rule].format(asked.folds)
    return f"{by}, {len(journal.tuning.lams)} values"


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _story(
    asked: Asked, journal: Journal, bench: Bench, done: Done, chosen: list[dict[str, Any]], summary: str
) -> Story:
    model, tol = bench.model, done.result.certificate.tol
    assert tol is not None
    settings = {
        "data": f"{asked.data}, {bench.data.X.shape[0]} × {bench.data.X.shape[1]} ({bench.data.form})",
        "loss": bench.loss,
        "penalty": repr(bench.fit.r),
        "λ": "–" if model.lam_ is None else f"{model.lam_:.6g}, {_how(asked, journal)}",
        "intercept": "yes, not penalised" if asked.intercept else "no",
        "columns": "standardised for the fit" if asked.standardize else "as they are",
        "solver": f"{model.solver_.method}: {model.solver_.reason}",
        "tol": f"{model.measure} ≤ {tol:.3g}: {asked.tol:g} of the gradient's length without features",
        "budget": f"{asked.max_passes:g} passes"
        + (f", {asked.max_seconds:g} s" if asked.max_seconds else "")
        + f"; seed {asked.seed}",
    }
    ok = model.status_ == Status.CONVERGED.name
    notices = () if ok else (f"Not converged: {model.certificate_}.",)
    name = Path(asked.data).name
    return Story(
        f"{asked.penalty} fit of {name}", summary, model.solver_.method, model.measure, tol,
        list(model.trace_), journal.along, table_of(chosen, classes_of(model)), settings, notices,
    )  # fmt: skip
