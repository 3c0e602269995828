"""`dcopt reproduce`: recipes -> traces -> panels and claims -> figures, tables and one report."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadInput, BadSettings, require_count
from ..report import html_page
from ..report.panels import MEANING, Claim, Panel, Paper, Report
from ..store import atomic
from . import claims, curves, export, orders, recipe, records, scaling, source, views
from .campaign import Silent, Watch, Workers, campaign
from .ledger import Ledger
from .scaling_report import Findings
from .typed import build

EXPERIMENTS = recipe.KINDS
PAPER = Paper(
    "Improved Rates for Stochastic Variance-Reduced Difference-of-Convex Algorithms",
    "Anh Duc Nguyen, Alp Yurtsever, Suvrit Sra and Kim-Chuan Toh",
    "https://arxiv.org/abs/2509.11657",
)
_MAIN = {  # The axes of the figures.
    "binary": ("paper", "excess"),
    "multiclass": ("paper", "excess"),
    "gap": ("paper", "gap"),
    "online": ("passes", "gap"),
}
_PAPER = {"binary": ("figure-1", "F"), "multiclass": ("figure-2", "F"), "scaling": ("table-1", "honest")}


class Outcome(NamedTuple):
    """The files that were written, and their summary."""

    report: Path
    files: tuple[Path, ...]
    claims: tuple[Claim, ...]
    summary: str


class Part(NamedTuple):
    """One experiment, finished."""

    kind: str
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    protocol: str
    remarks: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()  # The files, the ledger first.
    head: tuple[str, ...] = ()
    rows: tuple[export.Row, ...] = ()


def reproduce(
    names: Sequence[str],
    out: Path,
    *,
    quick: bool = False,
    jobs: int = 1,
    force: bool = False,
    recipe: Path | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Run what is missing of the named experiments, then write report.html, figures and tables to `out`.

    Runs that a killed process had finished are kept. A finished report is not overwritten without `force`.
    """
    require_count("jobs", jobs)
    page = out / "report.html"
    if page.exists() and not force:
        other = "a folder without report.html; --force starts over; with it removed, it is made from the traces"
        raise BadSettings("out", str(page), other)
    page.unlink(missing_ok=True)
    notes = Noted(watch or Silent())
    lack = source.Missing(watch or Silent())
    with Workers(jobs) as workers:
        parts = [_part(name, out, quick, workers, force, recipe, notes, lack) for name in names]
    files = [path for part in parts for path in part.files]
    looks = [row for part in parts if part.head == export.HEAD for row in part.rows]
    if looks:
        files += export.save(export.HEAD, looks, out / "traces")
    said = tuple(claim for part in parts for claim in part.claims)
    files += export.save(tuple(Claim.__dataclass_fields__), [_flat(c) for c in said], out / "claims")[:1]
    files += _figures(parts, out / "figures", notes)
    panels = tuple(panel for part in parts for panel in part.panels)
    title, summary = "DCA-PAGE, reproduced", _summary(said, quick, [text for part in parts for text in part.remarks])
    protocol = (_COMMON, *(part.protocol for part in parts))
    about = Report(
        title, summary, said, panels, protocol, _made(jobs), (*([lack.sentence()] if lack.why else []), *notes.kept),
        tuple(lack.why.values()), paper=PAPER, ran=_date(max(part.files[0].stat().st_mtime for part in parts)),
    )  # fmt: skip
    html_page.write(about, page)
    return Outcome(page, (*files, page), said, summary)


class Noted:
    """A Watch that also keeps the notes, for the report."""

    def __init__(self, watch: Watch) -> None:
        self.kept: list[str] = []
        self.begin, self.advance, self.end, self._note = watch.begin, watch.advance, watch.end, watch.note

    def note(self, text: str) -> None:
        self.kept.append(text)
        self._note(text)


def _part(
    kind: str, out: Path, quick: bool, workers: Workers, force: bool, path: Path | None, watch: Noted,
    lack: source.Missing,
) -> Part:  # fmt: skip
    table = recipe.read(kind, quick, path)
    where = f"recipe {path or kind}"
    place = out / "traces" / f"{kind}.jsonl"
    if kind == "scaling":
        complexity = build(scaling.Recipe, table, where)
        return _scaling(complexity, Ledger(place, _head(table), force, records.check_line), workers, watch, lack)
    chosen = build(curves.Recipe, table, where)
    ledger = Ledger(place, _head(table), force, curves.check_line)
    sets = lack.at_hand(chosen.data, chosen.instead)
    lines = campaign(chosen.title, list(curves.jobs(chosen, sets)), ledger, workers, watch)
    runs = views.runs(chosen, lines)
    said = claims.of(kind, runs)
    rows = tuple(export.looks(kind, lines))
    panels = tuple(views.panel(kind, here) for here in runs)
    remarks = tuple(orders.field_remarks(runs)) if kind in ("binary", "multiclass") else ()
    return Part(kind, panels, tuple(said), _protocol(chosen), remarks, (ledger.path,), export.HEAD, rows)


def _scaling(
    chosen: scaling.Recipe, ledger: Ledger, workers: Workers, watch: Noted, lack: source.Missing
) -> Part:
    sets = lack.at_hand(tuple(f.data for f in chosen.families), None)
    lines = campaign(chosen.title, list(scaling.jobs(chosen, sets)), ledger, workers, watch)
    found = Findings(chosen, records.records(lines))
    stem = ledger.path.parent.parent / "scaling"
    atomic.write(stem.with_suffix(".md"), [found.markdown().encode()])
    files = export.save(records.Record._fields, found.records, stem)
    panels = tuple(views.scaling_panels(found))
    said = tuple(orders.order_claims(found))
    return Part("scaling", panels, said, found.protocol(), (), (ledger.path, stem.with_suffix(".md"), *files))


def _head(table: dict[str, Any]) -> dict[str, Any]:
    return {"dcopt": version("dcopt"), "digest": recipe.digest(table), "recipe": table}


def _figures(parts: Sequence[Part], folder: Path, watch: Noted) -> list[Path]:
    """The paper's two figures, and one for every panel, from the panels alone."""
    if find_spec("matplotlib") is None:
        watch.note('no PNG, SVG and PDF figures: they need matplotlib, pip install "dcopt[plot]"')
        return []
    from ..report.figures import panel_figure, paper_figure

    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for part in parts:
        x, y = _MAIN.get(part.kind, ("N", "honest"))
        try:
            if part.kind in _PAPER:  # The figure of the paper, with data sets side by side.
                name, shown = _PAPER[part.kind]
                written += paper_figure(part.panels, folder / name, x, shown)
            for panel in part.panels:
                written += panel_figure(panel, folder / panel.id, x, y, every=True)
        except BadInput as why:  # No finite value can be drawn.
            watch.note(f"no figure: {why}")
    return written


_COMMON = (
    "In all experiments but that on complexity: rows scaled to length 1, no intercept, x⁰ = 0, form (S) with G = "
    "κ/2 ‖x‖². Each run keeps a random part of all rows for testing (in the code that the experiments follow, run"
    " r trained on 0.9^(r+1) of the data); all methods of a run see the same rows and draw independent batches "
    "(there: consecutive blocks). The paper counts a correction at two points as one gradient; honestly it costs "
    "two. Looking at a run is neither counted nor timed. Critical distance and gap are those of G = L_f/2 ‖x‖² "
    "for every method. Best known: the least F of all methods of a run and of a long run of SAGA with b = ⌈√N⌉."
)


def _protocol(chosen: curves.Recipe) -> str:
    how = ", samples drawn with replacement" if chosen.online else ""
    return (
        f"{chosen.title}: {', '.join(chosen.data)}{how}; loss {chosen.loss}, penalty {views.penalty(chosen)}; "
        f"{chosen.runs} runs, seeds 0 to {chosen.runs - 1}, {100 * chosen.test:g} % of the rows for testing; budget "
        f"{views.passes(chosen.passes)} in the paper's count, {views.passes(chosen.every)} of the honest count between "
        f"two looks; the long run has {views.passes(chosen.reference)}."
    )


def _made(jobs: int) -> dict[str, str]:
    packages = ("dcopt", "numpy", "scipy", "numba", "scikit-learn")
    made = {name: version(name) for name in packages}
    made |= {"Python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    return made | {
        "cores": str(os.cpu_count()),
        "processes": f"{jobs} at a time" if jobs > 1 else "one: seconds are undisturbed",
    }


def _date(seconds: float) -> str:
    """The day of a time since 1970."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _flat(claim: Claim) -> export.Row:
    return tuple(str(v) if isinstance(v, tuple) else v for v in claim.__dict__.values())


def _summary(said: Sequence[Claim], quick: bool, remarks: Sequence[str]) -> str:
    counts = Counter(claim.verdict for claim in said)
    start = "A quick look, with few runs: " if quick else ""
    tally = f"{len(said)} claims: " + ", ".join(f"{counts[v]} {v}" for v in MEANING if counts[v]) + "."
    more = f" Outside of the paper's field, a lower F than DCA-PAGE's: {'; '.join(remarks)}." if remarks else ""
    return start + tally + more
