"""Seconds until F is within 10⁻⁶ of the best (l1), or the critical distance within 10⁻⁵ of that at 0 (MCP, SCAD).

    python benchmarks/peers/table.py --out times.jsonl [--loss logistic] [--data a9a w8a] [--penalty l1 mcp]
        [--share 0.1] [--solver dcopt celer] [--threads 1] [--limit 60] [--repeats 3] [--quick]
    python benchmarks/peers/table.py --out times.jsonl --cold --data colon-cancer a9a w8a
    python benchmarks/peers/table.py --out times.jsonl --report [--full]

Every finished job is in the file, and is not done again: a campaign can be cut into pieces and continued.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import signal
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmark_utils import race
from benchmark_utils.measure import GAMMA, SHARES, Cell, agree
from benchmark_utils.problems import DATA, load
from benchmark_utils.report import OWN
from benchmark_utils.solvers import SOLVERS

KEY = ("threads", "quick", "loss", "data", "penalty", "share", "solver")
NAMES = {"sklearn": "scikit-learn", "glmnet": "python-glmnet"}  # as they are installed


def kept(path: Path) -> list[dict[str, Any]]:
    """The lines of the file; one that was cut off is not one."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def installed() -> list[str]:
    """The solvers whose package is here."""
    return [name for name, peer in SOLVERS.items() if importlib.util.find_spec(peer.package) is not None]


def versions() -> str:
    """What the times belong to."""
    packages = dict.fromkeys(["numpy", "scipy", "numba", *(SOLVERS[name].package for name in installed())])
    said = ", ".join(f"{p} {importlib.metadata.version(NAMES.get(p, p))}" for p in packages)
    return f"{datetime.date.today()}, Python {platform.python_version()}, {platform.machine()}, " \
           f"{os.cpu_count()} cores, {said}"  # fmt: skip


FAR = 20.0  # times the fastest peer so far: a peer that has spent so much in a cell is not asked to go on


class Fastest(defaultdict[tuple, float]):
    """The seconds of the fastest peer so far that met the criterion of a cell. (dcopt cuts nobody's time short.)"""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__(lambda: math.inf)
        self._last: dict[str, Any] = {}
        for row in rows:
            self.note(row)

    def note(self, row: dict[str, Any]) -> None:
        if row["event"] == "end" and row["why"] == "done" and row["solver"] != OWN:
            key = tuple(row[k] for k in KEY[:-1])
            self[key] = min(self[key], self._last["seconds"])
        self._last = row

    def limit(self, key: tuple, most: float) -> float:
        return min(most, max(1.0, FAR * self[key]))


class Below(defaultdict[tuple, float]):
    """What F of a cell cannot be less than, by the duality gaps (l1): a solver that is near enough need not go on."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        super().__init__(lambda: -math.inf)
        for row in rows:
            self.note(row)

    def note(self, row: dict[str, Any]) -> None:
        if "gap" in row:
            key = tuple(row[k] for k in KEY[1:-1])
            self[key] = max(self[key], row["F"] - row["gap"])


def campaign(told: argparse.Namespace) -> None:
    """The warm times that are not in the file yet."""
    agree()
    rows = kept(told.out)
    had = {tuple(r[k] for k in KEY) for r in rows if r["event"] == "end"}
    below, fastest = Below(rows), Fastest(rows)
    with told.out.open("a") as out:
        for loss in told.loss:
            for data in (d for d in DATA[loss] if not told.data or d in told.data):
                X, y = load(data, loss, told.quick)
                for solver in told.solver:
                    jobs = [(p, s, below[told.quick, loss, data, p, s],
                             fastest.limit((told.threads, told.quick, loss, data, p, s), told.limit))
                            for p in told.penalty if SOLVERS[solver].solves(loss, p) for s in told.share
                            if (told.threads, told.quick, loss, data, p, s, solver) not in had]  # fmt: skip
                    if not jobs:
                        continue
                    task = {"data": data, "loss": loss, "solver": solver, "quick": told.quick, "jobs": jobs,
                            "repeats": told.repeats, "memory": told.memory}  # fmt: skip
                    for row in race.race(task, told.threads):
                        below.note(row)
                        fastest.note(row)
                        d0 = Cell(X, y, loss, row["penalty"], row["share"]).distance0
                        _keep(out, row | {"d0": d0})


def cold(told: argparse.Namespace) -> None:
    """The cold times, with the tolerances that were enough when warm (10⁻⁶ where that is not known)."""
    from benchmark_utils.cold import cold as measure
    from benchmark_utils.report import cells, endings

    rows = [r for r in kept(told.out) if r["quick"] == told.quick]
    warm, had = cells(rows), {tuple(r[k] for k in KEY) for r in rows if r["event"] == "cold"}
    with told.out.open("a") as out:
        for loss in told.loss:
            for data in (d for d in DATA[loss] if d in (told.data or ("colon-cancer", "a9a", "w8a"))):
                for penalty in told.penalty:
                    for share in told.share:
                        ends = endings(penalty, warm[told.threads, loss, penalty, data, share])
                        met = {n: e for n, e in ends.items() if n.startswith("skglm") and e.seconds is not None}
                        usual = "skglm-newton" if loss == "logistic" else "skglm-anderson"
                        peer = min(met, key=lambda name: met[name].seconds) if met else usual
                        for solver in ("dcopt", peer):
                            key = dict(zip(KEY, (told.threads, told.quick, loss, data, penalty, share, solver),
                                           strict=True))  # fmt: skip
                            if tuple(key.values()) not in had:
                                end = ends.get(solver)
                                tol = end.tol if end and end.seconds is not None else 1e-6
                                task = key | {"repeats": told.repeats, "limit": 5 * told.limit}
                                _keep(out, key | measure(task, tol, told.threads))


def _keep(out: Any, row: dict[str, Any]) -> None:
    out.write(json.dumps(row) + "\n")
    out.flush()
    said = {k: row[k] for k in ("loss", "data", "penalty", "share", "solver")}
    rest = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items() if k in (
        "tol", "seconds", "F", "distance", "gap", "nonzeros", "why")}  # fmt: skip
    print(*said.values(), *(f"{k} {v}" for k, v in rest.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required="--child" not in sys.argv)
    parser.add_argument("--loss", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--data", nargs="+", default=[], help="default: all that belong to the loss")
    parser.add_argument("--penalty", nargs="+", default=list(GAMMA), choices=list(GAMMA))
    parser.add_argument("--share", nargs="+", type=float, default=list(SHARES))
    parser.add_argument("--solver", nargs="+", default=installed(), choices=list(SOLVERS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of all runs of a job before the last one")
    parser.add_argument("--memory", type=float, default=10.0, help="GiB of addresses that a child may use")
    parser.add_argument("--repeats", type=int, default=3, help="of a run of less than 2 s; the least time counts")
    for name in ("quick", "cold", "report", "full", "child"):
        parser.add_argument(f"--{name}", action="store_true")
    told = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the child is ended too
    if told.child:
        race.main_child()
    elif told.report:
        from benchmark_utils.report import report

        chosen = [r for r in kept(told.out) if r["quick"] == told.quick]
        print("\n".join([versions(), "", *report(chosen, told.full)]))
    else:
        cold(told) if told.cold else campaign(told)


if __name__ == "__main__":
    main()
