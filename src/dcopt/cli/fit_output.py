"""The output of `dcopt fit`: the model, the report, and the result on the screen or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..fit.task import Done
from ..learn.files import save_estimator
from ..report.fit_figures import prediction_panels
from ..report.fit_report import Story, fit_report
from ..report.fit_tables import Fitted, Rows, described, features_table, loading, scores_table
from ..report.html_page import write as write_page
from ..status import Status
from .coefficients import chosen_features, classes_of, direction, intercepts, table_of
from .fit_setup import Bench
from .journal import Asked, Journal
from .outputs import resume_command
from .scores import Scores, scores_of
from .terminal import Terminal

_RULES = {
    "best": "{}-fold cross-validation, least loss",
    "1se": "{}-fold cross-validation, one standard error",
    "aic": "AIC",
    "bic": "BIC",
    "ebic": "EBIC",
}
_SHOWN = 20  # The number of features on the screen; the report and --json have all.


def tell(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench, done: Done) -> None:
    """Write the model and the report, then print the result."""
    model, data, classes = bench.model, bench.data, classes_of(bench.model)
    scores = scores_of(model, data, bench.test, journal.tuning)
    chosen = chosen_features(model, bench.name, bench.deviations)
    how = _how(asked, journal)
    about = {
        "data": asked.data, "rows": data.X.shape[0], "target": asked.target, "lam_by": how, "loss": bench.loss,
        "standardized": asked.standardize, **scores.plain,
    } | data.reading  # fmt: skip
    certificate = str(model.certificate_)
    lines = [f"lam = {model.lam_:.6g} ({how})"] if model.lam_ is not None else []
    lines += [f"{model.status_}: {certificate.split('; ' + model.status_)[0]}"]
    lines += [f"features: {len(chosen)} of {data.X.shape[1]}"]
    verdict = scores.verdict() if chosen else f"the model has no features: it predicts {scores.without}"
    said = [*scores.lines(), *([verdict] if verdict else [])]
    notices = () if model.status_ == Status.CONVERGED.name else (f"Not converged: {lines[-2]}.",)
    notices = (*notices, f"{verdict[0].upper()}{verdict[1:]}.") if verdict else notices
    failed: list[OSError] = []
    files = {
        "model": _written(asked.out, lambda path: save_estimator(path, model, about), failed),
        "report": _written(
            asked.report,
            lambda path: write_page(
                fit_report(_story(asked, journal, bench, done, scores, lines[-2:], notices)), Path(path)
            ),
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
    numbers = [name for name in table.head[1:] if name not in ("on", "favours")]
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
    """The path of a written file. An error is kept, so that the result is printed first."""
    if path is None:
        return None
    try:
        work(path)
    except OSError as why:
        failed.append(OSError(why.errno, why.strerror or str(why), path))
        return None
    return path


def not_written(asked: Asked, journal: Journal) -> dict[str, str]:
    """The outputs that the fit was asked to write and this command line does not name."""
    pairs = (("model", asked.out, journal.asked.out), ("report", asked.report, journal.asked.report))
    return {what: wished for what, given, wished in pairs if given is None and wished is not None}


def again(journal: Journal) -> str:
    """The command that continues the fit and writes its outputs."""
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
    asked: Asked, journal: Journal, bench: Bench, done: Done, scores: Scores, said: Sequence[str],
    notices: tuple[str, ...],
) -> Story:  # fmt: skip
    """The contents of the report; `said` is the end of the fit and the number of features."""
    model, data, tol = bench.model, bench.data, done.result.certificate.tol
    assert tol is not None and data.y is not None
    settings = {
        "data": f"{asked.data}, {data.X.shape[0]} × {data.X.shape[1]} ({data.form})",
        "loss": bench.loss,
        "penalty": described(asked.penalty, bench.fit.r),
        "λ": "–" if model.lam_ is None else f"{model.lam_:.6g}, {_how(asked, journal)}",
        "intercept": "yes, not penalised" if asked.intercept else "no",
        "columns": "standardised for the fit" if asked.standardize else "as they are",
        "solver": model.solver_.method,
        "tol": f"{model.measure} ≤ {tol:.3g}: {asked.tol:g} of the gradient's length without features",
        "end": said[0],
        "budget": f"{asked.max_passes:g} passes" + (f", {asked.max_seconds:g} s" if asked.max_seconds else ""),
        "seed": str(asked.seed),
    }
    sets = [Rows("training rows", data.X, data.y, seen=True)]
    if bench.test is not None and bench.test.y is not None:
        sets.insert(0, Rows("test rows", bench.test.X, bench.test.y))
    pairs = (("mean loss", scores.cv_loss), (scores.name, scores.cv))
    left_out = {name: (score.value, score.null) for name, score in pairs if score is not None}
    rows = (("test", scores.test), ("training", scores.train))
    found = ", ".join(f"{score.value:.4f} on the {which} rows" for which, score in rows if score is not None)
    end = "converged" if model.status_ == Status.CONVERGED.name else "not converged"
    fitted = Fitted(model, bench.fit.task.loss, bench.fit.null_intercept(), bench.name, bench.deviations)
    return Story(
        f"{asked.penalty} fit of {Path(asked.data).name}",
        f"{said[1].capitalize()}; {scores.name} {found}; {end}.",
        features_table(fitted), scores_table(fitted, left_out, sets), tuple(prediction_panels(fitted, sets[0])),
        journal.along, model.solver_.method, model.measure, tol, list(model.trace_), settings, loading(asked.out),
        notices,
    )  # fmt: skip
