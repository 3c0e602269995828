"""The times: every solver in a child process of its own, which is ended when it takes too long.

A child gets a data set, a solver and jobs (penalty, share, a lower bound on F, seconds), and writes one JSON line for
every run, so that what it has found is there when it has to be ended. For each job it makes one run that is not counted
(compilation, caches), then runs with tolerances 10⁻¹, 10⁻², … until the benchmark sees that a smaller one is no use.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any

from .measure import Cell
from .problems import load
from .solvers import METHOD, SOLVERS, Peer, quietly

HERE = Path(__file__).resolve().parents[1]
TOLERANCES = tuple(10.0**-k for k in range(1, 13))
_SETTING_UP = 300.0  # seconds for imports, data and compilation, beside the limit
_SHORT = 2.0  # seconds: a run longer than this is not repeated
_NOISE, _MOST = 0.1, 20  # seconds to fill with repetitions of a short run, but not more than so many
Row = dict[str, Any]


def threads(many: int) -> dict[str, str]:
    """The environment in which every library uses so many threads."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS", "VECLIB")
    return os.environ | {f"{name}_NUM_THREADS": str(many) for name in names} | {"DCOPT_THREADS": str(many)}


def child(task: Row, say: Callable[[Row], None]) -> None:
    """All jobs of one data set and one solver."""
    solver = SOLVERS[task["solver"]]
    X, y = load(task["data"], task["loss"], task["quick"])
    for penalty, share, below, limit in task["jobs"]:
        say({"event": "start", "limit": limit})
        why = _job(task["repeats"], solver, Cell(X, y, task["loss"], penalty, share), below, limit, say)
        say({"event": "end", "why": why, "limit": limit})


def _job(repeats: int, solver: Peer, cell: Cell, below: float, limit: float, say: Callable[[Row], None]) -> str:
    why = solver.refuses(cell)
    if why is not None:
        return f"not asked: {why}"
    try:
        at = solver.make(cell)
        quietly(at(TOLERANCES[0]))
    except Exception as error:
        return _said(error)
    say({"event": "warm"})
    spent, failed = 0.0, ""
    for tol in TOLERANCES:
        best, x, used = float("inf"), None, 0.0
        for turn in range(_MOST):
            try:
                run = at(tol)
                began = perf_counter()
                x = quietly(run)
            except Exception as error:  # a smaller tolerance may be too small for it, a larger one was not
                failed = _said(error)
                break
            took = perf_counter() - began
            best, used = min(best, took), used + took
            if used > _SHORT or (turn + 1 >= repeats and used > _NOISE):
                break
        if x is None:
            break
        look = cell.look(x)
        say({"event": "run", "tol": tol, "seconds": best, **look})
        spent += best
        if cell.done(look, below):
            return "done"
        if spent > limit:
            return f"not in {limit:.3g} s"
    return failed or "no smaller tolerance"


def _said(error: Exception) -> str:
    return f"failed: {type(error).__name__} {str(error)[:100]}"


def race(task: Row, many: int) -> Iterator[Row]:
    """The rows of a task; its child is started again after a job at which it had to be ended."""
    jobs = list(task["jobs"])
    key = {k: task[k] for k in ("data", "loss", "solver", "quick")} | {"threads": many}
    if task["solver"] == "dcopt":
        key["method"] = METHOD
    while jobs:
        done = 0
        for row in _watched(task | {"jobs": jobs}, many):
            penalty, share, *_ = jobs[done]
            done += row["event"] == "end"
            yield key | {"penalty": penalty, "share": share} | row
        jobs = jobs[done:]


def _watched(task: Row, many: int) -> Iterator[Row]:
    """Runs and ends that a child tells of, in order; one that says nothing for too long is ended. At least one end."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "table.py"), "--child"], env=threads(many), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(task))
        process.stdin.close()
        lines: SimpleQueue[str | None] = SimpleQueue()
        Thread(target=_copy, args=(process.stdout, lines), daemon=True).start()
        ended, limit, more, why = 0, 0.0, _SETTING_UP, ""
        try:
            while (line := lines.get(timeout=limit + more)) is not None:
                row = json.loads(line)
                limit, more = row.get("limit", limit), _SETTING_UP if row["event"] in ("start", "end") else _SHORT
                ended += row["event"] == "end"
                if row["event"] in ("run", "end"):
                    yield row
            process.wait()
        except Empty:
            why = f"no answer in {limit:.3g} s"
        finally:
            process.kill()  # also where the table itself is ended; nothing happens to a child that is gone
            process.wait()
        if ended < len(task["jobs"]):
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().rsplit("\n", 1)[-1]
            yield {"event": "end", "why": why or f"crashed ({process.returncode}): {last[:120]}"}


def _copy(stream: Iterable[str], lines: SimpleQueue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def main_child() -> None:
    """What a child does: its task is on stdin, its lines go to stdout, and what solvers print goes nowhere."""
    task, parent = json.load(sys.stdin), os.getppid()
    most = int(task["memory"] * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))  # a MemoryError here, not an end to someone else's process
    Thread(target=_leave_with, args=(parent,), daemon=True).start()
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(row: Row) -> None:
        out.write(json.dumps(row) + "\n")

    child(task, say)


def _leave_with(parent: int) -> None:
    """A child whose parent is gone ends, also where the parent could not end it."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)

