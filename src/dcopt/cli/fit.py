"""`dcopt fit` and `dcopt resume`: from data to a model, by way of λ, with a checkpoint and a report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadModel, pick, require_count
from ..experiments.fit_report import MOST_LINES, Along
from ..learn.penalties import with_lam
from ..learn.steps import Tuning
from ..learn.task import Done, Progress
from ..status import Status
from ..store import peek
from .bench import Bench, bench_of, refusing
from .ends import NotConverged
from .journal import Asked, Journal, read_journal
from .outcome import again, not_written, tell
from .outputs import beside, distinct, free, is_page, of_checkpoint, set_aside
from .terminal import Terminal

_RATIO = 0.01  # of the last λ to the first


def run(terminal: Terminal, asked: Asked, force: bool) -> None:
    """Fit, say what came out, and write it down."""
    inputs = {"the data": asked.data, "--test": asked.test}
    distinct({"--out": asked.out, "--report": asked.report, **of_checkpoint(asked.checkpoint)}, inputs)
    is_page(asked.report)
    free([asked.out, asked.report], force)
    if asked.checkpoint is not None:
        free([asked.checkpoint], force, "; dcopt resume continues it")
        free([str(beside(asked.checkpoint))], force, "; dcopt resume continues it")
    bench = bench_of(terminal, asked)
    tuning = _tuning(asked, bench)
    for moved in () if asked.checkpoint is None else set_aside(asked.checkpoint):
        terminal.note(moved)
    _fit(terminal, asked, Journal(asked, tuning, note=terminal.note), bench, go_on=False)


def resume(terminal: Terminal, checkpoint: str, data: str, changes: dict[str, Any], force: bool) -> None:
    """Go on where a fit stopped. Budgets count from its beginning.

    The model and the report are written where this command line says so. The journal keeps the paths of the fit, in
    order to show them.
    """
    journal = read_journal(checkpoint)
    journal.note = terminal.note
    given = {key: value for key, value in changes.items() if value is not None}
    inputs = {"the data": data, "--test": journal.asked.test, **of_checkpoint(checkpoint)}
    distinct({"--out": given.get("out"), "--report": given.get("report")}, inputs)
    is_page(given.get("report"))
    free([given.get("out"), given.get("report")], force)
    journal.asked = replace(journal.asked, data=data, checkpoint=checkpoint, **given)
    asked = replace(journal.asked, out=given.get("out"), report=given.get("report"))
    if left := not_written(asked, journal):
        terminal.note(f"{' and '.join(left)}: written only if named here, as in {again(journal)}")
    bench = bench_of(terminal, asked)
    there = journal.at is not None and _is_of(checkpoint, bench.fit.ways[journal.at.way].method)
    terminal.note(f"{checkpoint}: " + ("the run goes on" if there else "begins again what it was at"))
    _fit(terminal, asked, journal, bench, go_on=there)


def _is_of(checkpoint: str, method: str) -> bool:
    """Whether it is of the run at hand, and not of the one before, which was about to be removed."""
    if not Path(checkpoint).exists():
        return False
    try:
        said = peek(checkpoint).header["origin"]["method"]["name"]
    except (BadModel, KeyError, TypeError):
        return True  # a damaged one: the generation before it may do
    return bool(said == method)


def _fit(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench, go_on: bool) -> None:
    with _told_how_to_go_on(terminal, journal):
        done = _run(terminal, asked, journal, bench, go_on)
    x = np.asarray(done.x, np.float64)
    model = bench.fit.keep(done, x if bench.scaling is None else bench.scaling.fold(x))
    if bench.data.names is not None:
        model.feature_names_in_ = np.array(bench.data.names, object)
    tell(terminal, asked, journal, bench, done.seen.passes)
    if done.result.status is not Status.CONVERGED:
        raise NotConverged(f"{done.result.status.name}, {done.result.certificate}")


def _run(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench, go_on: bool) -> Done:
    """λ, and the run to its end; KeyboardInterrupt if a signal ends it."""
    fit = bench.fit
    if journal.at is None:
        journal.write()
        with refusing():
            journal.at = Progress(_choose(terminal, asked, journal, bench))
    elif journal.lam is not None:
        fit.r = with_lam(fit.r, journal.lam)
    with refusing():
        done = fit.run(journal.at, asked.checkpoint, journal.turn, go_on)
    if done.result.status is Status.INTERRUPTED:
        terminal.note(f"interrupted at step {done.seen.steps}")
        raise KeyboardInterrupt
    return done


@contextmanager
def _told_how_to_go_on(terminal: Terminal, journal: Journal) -> Iterator[None]:
    """An interrupted fit shows the command that goes on with it."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if journal.asked.checkpoint is None:
            terminal.note("nothing is kept of it: --checkpoint FILE keeps what is done")
        elif journal.path.exists():
            terminal.note(f"to go on: {again(journal)}")
        raise


def _tuning(asked: Asked, bench: Bench) -> Tuning | None:
    """The grid of λ, None where λ is given; refuses options that do not fit the data."""
    pick("select", asked.select, ("cv", "ebic"))
    if asked.lam != "auto" or not hasattr(bench.fit.r, "lam"):
        return None
    require_count("lams", asked.lams)
    with refusing():
        return bench.fit.tuning(asked.lams, _RATIO, asked.folds if asked.select == "cv" else 0, asked.seed)


def _choose(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench) -> Any:
    """λ, as asked for, and the x to start from."""
    fit = bench.fit
    if asked.lam != "auto" or not hasattr(fit.r, "lam"):
        journal.lam = getattr(fit.r, "lam", None)
        return fit.start()
    folds = asked.folds if asked.select == "cv" else 0
    tuning = journal.tuning or _tuning(asked, bench)
    assert tuning is not None
    say = f"{folds}-fold cross-validation" if folds else "EBIC"
    terminal.note(f"lam: {say} over {len(tuning.lams)} values from {tuning.lams[0]:.4g} to {tuning.lams[-1]:.4g}")
    with terminal.watch() as watch:
        watch.begin("lam", folds + 1, len(tuning.losses))

        def fold(now: Tuning) -> None:
            journal.folds(now)
            watch.advance(f"fold {len(now.losses)}")

        x0 = fit.tune(tuning, folds, asked.seed, fold)
        watch.advance("all rows")
    journal.tuning, journal.lam = tuning, tuning.lam
    journal.along = _along(bench, tuning)
    return x0


def _along(bench: Bench, tuning: Tuning) -> Along:
    """What the report shows of the path."""
    path, losses = tuning.path, np.array(tuning.losses)
    assert path is not None
    if len(losses):
        error = losses.std(axis=0, ddof=1) / math.sqrt(len(losses))
        middle, what = losses.mean(axis=0), "loss on the rows left out: mean over the folds of a cross-validation"
    else:
        middle, what = path.ebic, "EBIC"
        error = np.zeros_like(middle)
    coefs = path.coefs.reshape(len(path.lams), -1, path.coefs.shape[-1])  # λ, classes, features
    effects = coefs * (bench.deviations if bench.scaling is None else bench.deviations / bench.scaling.scale)
    effect = np.abs(effects[tuning.index]).max(axis=0)
    first = np.argsort(-effect, kind="stable")[: min(MOST_LINES, int((effect > 0).sum()))]
    one = coefs.shape[1] == 1
    lines = [effects[:, 0, j] if one else np.abs(effects[:, :, j]).max(axis=1) for j in first]
    curves = path.lams, middle, middle - error, middle + error
    lams, middles, low, high = (tuple(map(float, curve)) for curve in curves)
    return Along(
        what, lams, middles, low, high, tuple(map(int, path.nnz)), tuple(bench.name(int(j)) for j in first),
        tuple(tuple(map(float, line)) for line in lines), tuning.lam,
    )  # fmt: skip
