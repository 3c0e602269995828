"""The kept lines as Markdown: seconds to the criterion, ours over the fastest peer's, and where each one ended."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from .measure import CLOSE, CRITICAL, GAMMA, SHARES
from .problems import DATA
from .solvers import SOLVERS

Row = dict[str, Any]
OWN = "dcopt"


class Ending(NamedTuple):
    """The cheapest run that meets the criterion (seconds None: none does), else the best one."""

    seconds: float | None
    F: float
    distance: float
    tol: float
    why: str


def cells(rows: Iterable[Row]) -> dict[tuple, dict[str, list[Row]]]:
    """(threads, loss, penalty, data, share) → solver → its lines."""
    found: dict[tuple, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        key = tuple(row[k] for k in ("threads", "loss", "penalty", "data", "share"))
        found[key][row["solver"]].append(row)
    return found


def endings(penalty: str, lines: dict[str, list[Row]], event: str = "run") -> dict[str, Ending]:
    """How each solver ended in one cell."""
    least = min((r["F"] for rows in lines.values() for r in rows if "F" in r), default=math.inf)
    found = {}
    for solver, rows in lines.items():
        runs = [r for r in rows if r["event"] == event and "seconds" in r]
        why = next((r["why"] for r in rows if "why" in r), "")
        if not runs:
            found[solver] = Ending(None, math.nan, math.nan, math.nan, why)
            continue
        met = [r for r in runs if _meets(penalty, r, least)]
        best = min(met, key=lambda r: r["seconds"]) if met else min(runs, key=lambda r: r["distance"])
        seconds = best["seconds"] if met else None
        found[solver] = Ending(seconds, best["F"], best["distance"], best["tol"], why)
    return found


def _meets(penalty: str, row: Row, least: float) -> bool:
    if penalty == "l1":
        return row["F"] <= least + CLOSE * abs(least)
    return row["distance"] <= CRITICAL * row["d0"]


def report(rows: list[Row], full: bool = False) -> list[str]:
    """A table for each number of threads, loss and penalty; then the cold times."""
    found, lines = cells(rows), []
    groups = sorted({key[:3] for key in found}, key=lambda g: (g[0], g[1], list(GAMMA).index(g[2])))
    for many, loss, penalty in groups:
        every = ((data, share) for data in DATA[loss] for share in SHARES)
        order = [key for key in every if (many, loss, penalty, *key) in found]
        title = f"### {loss}, {penalty}, {many} thread{'s' if many > 1 else ''} for all"
        group = {key: endings(penalty, found[many, loss, penalty, *key]) for key in order}
        warm = {key: ends for key, ends in group.items() if any(e.seconds is not None or e.why for e in ends.values())}
        lines += [title, "", *(_full(warm) if full else _table(warm)), ""]
        cold = {key: endings(penalty, found[many, loss, penalty, *key], "cold") for key in order}
        cold = {key: ends for key, ends in cold.items() if any(e.F == e.F for e in ends.values())}
        lines += _cold(cold) if cold else []
    return lines


def _table(group: dict[tuple, dict[str, Ending]]) -> list[str]:
    lines = ["| data | λ/λ_max | dcopt, s | fastest peer, s | ratio | skglm, s | F dcopt | F fastest peer | did not |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    ratios: dict[str, list[float]] = {"all peers": [], "skglm, scikit-learn, celer, pycasso": [], "skglm": []}
    alone, beaten = 0, 0
    for (data, share), ends in group.items():
        own = ends.get(OWN, Ending(None, math.nan, math.nan, math.nan, "not run"))
        peers = {name: e for name, e in ends.items() if name != OWN and not e.why.startswith("not asked")}
        named = {name: e for name, e in peers.items() if SOLVERS[name].named}
        skglm = {name: e for name, e in peers.items() if SOLVERS[name].package == "skglm"}
        fastest = _fastest(peers)
        for values, among in zip(ratios.values(), (peers, named, skglm), strict=True):
            first = _fastest(among)
            if own.seconds is not None and first is not None:
                values.append(own.seconds / among[first].seconds)
        alone += own.seconds is not None and bool(peers) and fastest is None
        beaten += own.seconds is None and fastest is not None
        quick = _fastest(skglm)
        no = ", ".join(f"{name} ({_why(e)})" for name, e in peers.items() if e.seconds is None)
        ratio = "" if own.seconds is None or fastest is None else f"{own.seconds / peers[fastest].seconds:.2f}"
        theirs = ("no" if peers else "not run") if fastest is None else f"{_s(peers[fastest])} {fastest}"
        F = peers[fastest].F if fastest else min((e.F for e in peers.values() if e.F == e.F), default=math.nan)
        with_skglm = _s(skglm[quick]) if quick else "no" if skglm else "not run"
        lines.append(f"| {data} | {share:g} | {_s(own)} | {theirs} | {ratio} | {with_skglm} "
                     f"| {own.F:.8g} | {F:.8g} | {no} |")  # fmt: skip
    lines.append("")
    for against, values in ratios.items():
        if values:
            mean = math.exp(sum(map(math.log, values)) / len(values))
            lines.append(f"dcopt / fastest of {against}: geometric mean {mean:.3f}, worst {max(values):.2f}, "
                         f"{len(values)} of {len(group)} cells.")  # fmt: skip
    lines.append(f"Only dcopt got there: {alone} cells; only a peer: {beaten}.")
    return lines


def _full(group: dict[tuple, dict[str, Ending]]) -> list[str]:
    """Every solver: seconds, F and critical distance."""
    lines = ["| data | λ/λ_max | solver | s | F | critical distance | tol | end |", "|---|---|---|---|---|---|---|---|"]
    for (data, share), ends in group.items():
        for name, e in sorted(ends.items(), key=lambda one: one[1].seconds or math.inf):
            lines.append(f"| {data} | {share:g} | {name} | {_s(e)} | {e.F:.10g} | {e.distance:.1e} | {e.tol:.0e} "
                         f"| {e.why} |")  # fmt: skip
    return lines


def _cold(group: dict[tuple, dict[str, Ending]]) -> list[str]:
    lines = ["Cold, a fresh process:", "", "| data | λ/λ_max | dcopt, s | skglm, s | ratio |", "|---|---|---|---|---|"]
    ratios = []
    for (data, share), ends in group.items():
        own, first = ends.get(OWN), _fastest({n: e for n, e in ends.items() if n != OWN})
        ratio = ""
        if own and own.seconds and first:
            ratios.append(own.seconds / ends[first].seconds)
            ratio = f"{ratios[-1]:.3f}"
        theirs = f"{_s(ends[first])} {first}" if first else "no"
        lines.append(f"| {data} | {share:g} | {_s(own) if own else ''} | {theirs} | {ratio} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"dcopt / skglm, cold: geometric mean {mean:.3f}, worst {max(ratios):.3f}."]
    return [*lines, ""]


def _fastest(ends: dict[str, Ending]) -> str | None:
    met = {name: e.seconds for name, e in ends.items() if e.seconds is not None}
    return min(met, key=met.__getitem__) if met else None


def _s(e: Ending) -> str:
    return "no" if e.seconds is None else f"{e.seconds:.3g}"


def _why(e: Ending) -> str:
    return e.why if math.isnan(e.distance) else f"{e.why}, distance {e.distance:.0e}"
