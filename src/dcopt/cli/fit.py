"""`dcopt fit` and `dcopt resume`: from data to λ and a model, with a checkpoint and a report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import BadModel
from ..fit.penalties import with_lam
from ..fit.task import Done, Progress
from ..status import Status
from ..store import peek
from .exit_codes import NotConverged
from .fit_output import again, not_written, tell
from .fit_setup import Bench, bench_of, refusing
from .journal import Asked, Journal, read_journal
from .lam import begun, choose
from .outputs import beside, distinct, free, is_page, of_checkpoint, set_aside
from .sources import is_shards
from .terminal import Terminal

BUDGETS = {"tol", "max_passes", "max_seconds"}  # These options of dcopt resume continue a fit that has ended.


def run(terminal: Terminal, asked: Asked, force: bool) -> None:
    """Fit, report the result, and write it."""
    inputs = {"the data": asked.data, "--test": asked.test}
    distinct({"--out": asked.out, "--report": asked.report, **of_checkpoint(asked.checkpoint)}, inputs)
    is_page(asked.report)
    free([asked.out, asked.report], force)
    if asked.checkpoint is not None:
        free([asked.checkpoint], force, "; dcopt resume continues it")
        free([str(beside(asked.checkpoint))], force, "; dcopt resume continues it")
    if asked.standardize and is_shards(asked.data):
        asked = replace(asked, standardize=False)
        terminal.note(f"{asked.data}: columns are fitted as they were packed, and not standardised")
    bench = bench_of(terminal, asked)
    tuning = begun(asked, bench)
    for moved in () if asked.checkpoint is None else set_aside(asked.checkpoint):
        terminal.note(moved)
    _fit(terminal, asked, Journal(asked, tuning, note=terminal.note), bench, go_on=False)


def resume(terminal: Terminal, checkpoint: str, data: str, changes: dict[str, Any], force: bool) -> None:
    """Continue a fit. Budgets count from its beginning.

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
    if journal.at is not None and not 0 <= journal.at.way < len(bench.fit.ways):
        raise BadModel(journal.path, f"names method {journal.at.way} as the present one, of {len(bench.fit.ways)}")
    there = journal.at is not None and _is_of(checkpoint, bench.fit.ways[journal.at.way].method)
    if there and journal.ended is not None and not given.keys() & BUDGETS:
        terminal.note(f"{checkpoint}: the fit is over ({journal.ended}), and this is its result")
    else:
        terminal.note(f"{checkpoint}: " + ("the run goes on" if there else "begins again what it was at"))
        journal.end(None)
    _fit(terminal, asked, journal, bench, go_on=there)


def _is_of(checkpoint: str, method: str) -> bool:
    """Whether the checkpoint is that of the present run, not of the one before, which was to be removed."""
    if not Path(checkpoint).exists():
        return False
    try:
        said = peek(checkpoint).header["origin"]["method"]["name"]
    except (BadModel, KeyError, TypeError):
        return True  # If the checkpoint is damaged, the version before it may be usable.
    return bool(said == method)


def _fit(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench, go_on: bool) -> None:
    with _told_how_to_go_on(terminal, journal):
        done = _run(terminal, asked, journal, bench, go_on)
    journal.end(done.result.status.name)
    bench.fit.keep(done)
    tell(terminal, asked, journal, bench, done)
    if done.result.status is not Status.CONVERGED:
        raise NotConverged(f"{done.result.status.name}, {done.result.certificate}")


def _run(terminal: Terminal, asked: Asked, journal: Journal, bench: Bench, go_on: bool) -> Done:
    """λ, and the run to its end; KeyboardInterrupt if a signal ends it."""
    fit = bench.fit
    if journal.at is None:
        journal.write()
        with refusing():
            journal.at = Progress(choose(terminal, asked, journal, bench))
    elif journal.lam is not None:
        fit.r = with_lam(fit.r, journal.lam)
    with refusing():
        done = fit.run(journal.at, asked.checkpoint, journal.turn, go_on)
    for note in done.result.notes:
        terminal.note(note)
    if done.result.status is Status.INTERRUPTED:
        terminal.note(f"interrupted at step {done.seen.steps}")
        raise KeyboardInterrupt
    return done


@contextmanager
def _told_how_to_go_on(terminal: Terminal, journal: Journal) -> Iterator[None]:
    """An interrupted fit shows the command that continues it."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if journal.asked.checkpoint is None:
            terminal.note("the run was not saved: --checkpoint FILE saves runs")
        elif journal.path.exists():
            terminal.note(f"to go on: {again(journal)}")
        raise
