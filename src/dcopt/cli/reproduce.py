"""`dcopt reproduce`: run the experiments, then the claims beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import BadSettings
from ..experiments.reproduce import reproduce
from .names import chosen
from .terminal import Terminal


def run(
    terminal: Terminal, names: Sequence[str], out: Path, quick: bool, jobs: int, force: bool, recipe: Path | None
) -> None:
    """Finished runs are kept in `out`, so that a run that was cut off continues."""
    asked = chosen(names)
    if recipe is not None and len(asked) != 1:
        raise BadSettings("recipe", str(recipe), "one experiment to go with, as in: dcopt reproduce binary --recipe …")
    with terminal.watch() as watch:
        outcome = reproduce(asked, out, quick=quick, jobs=jobs, force=force, recipe=recipe, watch=watch)
    data = {
        "experiments": asked,
        "report": outcome.report,
        "files": outcome.files,
        "summary": outcome.summary,
        "claims": outcome.claims,
    }
    rows = [(f"{c.says} ({c.where})", c.data, c.measured, c.verdict) for c in outcome.claims]
    table = terminal.table(("claim", "data", "measured", "verdict"), rows)
    terminal.result(data, *([table, ""] if rows else []), outcome.summary, f"report: {outcome.report}")
