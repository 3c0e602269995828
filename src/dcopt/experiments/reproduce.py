"""`dcopt reproduce`: recipes -> traces -> panels and claims -> figures, tables and one report."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..errors import BadInput, BadSettings, require_count
from ..report import html_page
from ..report.panels import MEANING, Claim, Paper, Report
from . import export, recipe, source
from .campaign import Silent, Watch, Workers
from .parts import Noted, Part, Way

EXPERIMENTS = recipe.KINDS
PAPER = Paper(
    "Improved Rates for Stochastic Variance-Reduced Difference-of-Convex Algorithms",
    "Anh Duc Nguyen, Alp Yurtsever, Suvrit Sra and Kim-Chuan Toh",
    "https://arxiv.org/abs/2509.11657",
)
_MAIN = {  # The axes of the figures.
    "binary": ("paper", "excess"),
    "multiclass": ("paper", "excess"),
    "multiclass-kappa": ("paper", "excess"),
    "gap": ("paper", "gap"),
    "online": ("passes", "gap"),
}
_PAPER = {  # The figures of the paper, each of the panels of its experiments side by side, and their y axis.
    "figure-1": (("binary",), "F"),
    "figure-2": (("multiclass", "multiclass-kappa"), "F"),
    "table-1": (("scaling",), "honest"),
    "table-1-general": (("general",), "honest"),
}


class Outcome(NamedTuple):
    """The files that were written, and their summary."""

    report: Path
    files: tuple[Path, ...]
    claims: tuple[Claim, ...]
    summary: str


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
        way = Way(out, quick, force, recipe, workers, notes, lack)
        parts = [way.part(name) for name in names]
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
        tuple(lack.why.values()), tables=tuple(t for part in parts for t in part.tables), paper=PAPER,
        ran=_date(max(part.files[0].stat().st_mtime for part in parts)),
    )  # fmt: skip
    html_page.write(about, page)
    return Outcome(page, (*files, page), said, summary)


def _figures(parts: Sequence[Part], folder: Path, watch: Noted) -> list[Path]:
    """The paper's two figures, and one for every panel, from the panels alone."""
    if find_spec("matplotlib") is None:
        watch.note('no PNG, SVG and PDF figures: they need matplotlib, pip install "dcopt[plot]"')
        return []
    from ..report.figures import panel_figure, paper_figure

    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []

    def draw(make: Callable[[], list[Path]]) -> None:
        try:
            written.extend(make())
        except BadInput as why:  # No finite value can be drawn.
            watch.note(f"no figure: {why}")

    for name, (kinds, y) in _PAPER.items():
        mine = [panel for part in parts if part.kind in kinds for panel in part.panels]
        x = _MAIN.get(kinds[0], ("N", y))[0]
        if mine:
            draw(partial(paper_figure, mine, folder / name, x, y))
    for part in parts:
        for panel in part.panels:
            x, y = _MAIN.get(part.kind, ("N", "honest"))
            draw(partial(panel_figure, panel, folder / panel.id, x, y, every=True))
    return written


_COMMON = (
    "In the experiments with curves: rows scaled to length 1, no intercept, x⁰ = 0, form (S) with G = "
    "κ/2 ‖x‖². Each run keeps a random part of all rows for testing (in the code that the experiments follow, run"
    " r trained on 0.9^(r+1) of the data); all methods of a run see the same rows and draw independent batches "
    "(there: consecutive blocks). The paper counts a correction at two points as one gradient; honestly it costs "
    "two. Looking at a run is neither counted nor timed. Critical distance and gap are those of G = L_f/2 ‖x‖² "
    "for every method. Best known: the least F of all methods of a run and of a long run of SAGA with b = ⌈√N⌉."
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
