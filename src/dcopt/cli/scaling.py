"""`dcopt reproduce scaling`: run what is missing, then the table and the figure."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from ..errors import BadSettings, require_count
from ..experiments import ledger
from ..experiments.scaling import FULL, QUICK, Recipe, Record, Task, at_hand, run, tasks
from ..experiments.scaling_report import Findings


def scaling(out: Path, quick: bool, force: bool, jobs: int) -> None:
    """scaling.csv line by line as runs end, then scaling.md and the figure."""
    require_count("jobs", jobs)
    console, recipe = Console(), QUICK if quick else FULL
    stem = out / ("scaling-quick" if quick else "scaling")
    missing = [f.data for f in recipe.families if f not in at_hand(recipe)]
    if missing:
        console.print(f"not in DCOPT_DATA, and left out: {', '.join(missing)}")
    records = measure(recipe, stem, force, jobs, console)
    found = Findings(recipe, records)
    written = [stem.with_suffix(".csv"), stem.with_suffix(".md")]
    if find_spec("matplotlib") is None:
        console.print('no figure: it needs matplotlib, pip install "dcopt\\[plot]"')
    else:
        from ..experiments.figures import scaling_figure

        written += scaling_figure(found, stem)
    stem.with_suffix(".md").write_text(found.markdown(), encoding="utf-8")  # last: it marks a finished result
    console.print(found.says(), markup=False, highlight=False)
    for path in written:
        console.print(f"[dim]{path}[/dim]", soft_wrap=True)


def measure(recipe: Recipe, stem: Path, force: bool, jobs: int, console: Console) -> list[Record]:
    """All records of the recipe: those that are in the CSV already, and the others as they come."""
    table, report = stem.with_suffix(".csv"), stem.with_suffix(".md")
    if force:
        for path in (report, table):
            path.unlink(missing_ok=True)
    elif report.exists():
        said = "a folder without it; --force starts over; without the .md alone, it is made again from the .csv"
        raise BadSettings("out", str(report), said)
    stem.parent.mkdir(parents=True, exist_ok=True)
    records = ledger.read(table)
    if any(r.recipe != recipe.digest for r in records):
        raise BadSettings("out", str(table), "lines of the same recipe; --force starts over")
    known = {r.key for r in records}
    todo = [task for task in tasks(recipe) if not _done(task, known)]
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("runs", total=len(todo))
        for fresh in _results(todo, jobs):
            fresh = [r for r in fresh if r.key not in known]  # a run cut off between its lines
            ledger.append(table, fresh)
            records += fresh
            progress.update(bar, advance=1, description=f"{fresh[0].data} {fresh[0].n} {fresh[0].method}")
    return records


def _done(task: Task, known: set[tuple[str, str, int, str, int, float]]) -> bool:
    head = task.recipe.digest, task.family.data, task.n, task.method, task.seed
    return all((*head, eps) in known for _, eps in task.eps)


def _results(todo: list[Task], jobs: int) -> Iterator[list[Record]]:
    if jobs == 1:
        yield from map(run, todo)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(run, task) for task in todo]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)
