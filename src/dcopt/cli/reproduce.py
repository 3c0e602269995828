"""The tables of `dcopt reproduce`."""

from __future__ import annotations

from ..experiments.paper import PAPER, F_at, at_hand, runs
from ..methods import METHODS
from ..state import Result


def tables(passes: float, seed: int) -> None:
    """One table a data set, 79 columns: F at quarters of the budget; gap, non-zeros and seconds at the end."""
    marks = [passes * quarter / 4 for quarter in range(5)]
    experiments = at_hand()
    if experiments[0] not in PAPER:
        print("a9a, w8a, dna.scale are not in DCOPT_DATA: sets of scikit-learn instead.\n")
    for experiment in experiments:
        P = experiment.problem()
        shape = f"N = {P.n}, x {P.shape}"
        print(f"{experiment.dataset}: {shape}, {experiment.loss}, exponential λ = 1/N, α = 5, seed {seed}")
        print("F after so many honestly counted passes; gap, non-zeros and seconds at the end\n")
        print("method    " + "".join(f"{mark:9g}" for mark in marks) + "      gap   nnz     s")
        done = set()
        for result in runs(P, passes, seed):
            print(_line(result, marks), flush=True)
            done.add(result.method)
        left = ", ".join(sorted(set(METHODS) - done))
        print(f"left out, because f is not convex: {left}\n" if left else "")


def _line(result: Result, marks: list[float]) -> str:
    end = result.certificate
    values = [F_at(result.trace, mark) for mark in marks[:-1]] + [end.F]
    last = f"  {end.value:.1e} {end.nnz:5d} {result.seconds:5.2f}"
    return f"{result.method:10}" + "".join(f"{F:9.5f}" for F in values) + last
