"""The tables of `dcopt reproduce`."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from ..experiments.paper import PAPER, F_at, at_hand, runs


def tables(passes: float, seed: int) -> None:
    """One table a data set: F at quarters of the budget; gap, non-zeros and seconds at the end."""
    console = Console()
    marks = [passes * quarter / 4 for quarter in range(5)]
    experiments = at_hand()
    if experiments[0] not in PAPER:
        console.print("a9a, w8a and dna.scale are not in DCOPT_DATA: the sets that ship with scikit-learn instead.")
    for experiment in experiments:
        P = experiment.problem()
        title = f"{experiment.dataset}: N = {P.n}, x {P.shape}, {experiment.loss}, exponential λ = 1/N, α = 5"
        caption = f"F after so many honestly counted passes; gap, non-zeros and seconds at the end; seed {seed}"
        table = Table(title=title, caption=caption, title_justify="left", caption_justify="left", box=SIMPLE)
        table.add_column("method", no_wrap=True)
        for name in (*(f"{mark:g}" for mark in marks), "gap", "nnz", "s"):
            table.add_column(name, justify="right", no_wrap=True)
        for result in runs(P, passes, seed):
            values = [f"{F_at(result.trace, mark):.5f}" for mark in marks]
            gap, nnz = f"{result.certificate.value:.1e}", str(result.certificate.nnz)
            table.add_row(result.method, *values, gap, nnz, f"{result.seconds:.2f}")
        console.print(table)
