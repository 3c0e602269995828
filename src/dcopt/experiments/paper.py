"""The paper's problems, and F against passes for every method.

Protocol: rows scaled to norm 1, no intercept, λ = 1/N, α = 5, x0 = 0, passes honestly counted (a correction at two
points costs two gradients), independent draws; every method sees the same data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..data.datasets import available, load_dataset
from ..errors import CannotSolve
from ..methods import METHODS
from ..problem import Problem, erm
from ..regularizers import Exponential
from ..solve import solve
from ..state import Result
from ..watch import Trace


@dataclass(frozen=True)
class Experiment:
    """A data set with the paper's loss for it."""

    dataset: str
    loss: str
    groups: str | None = None

    def problem(self) -> Problem:
        """F(x) = (1/N) Σ φ(⟨a_i, x⟩, y_i) + λ Σ (1 − exp(−α |x_j|)), λ = 1/N, α = 5"""
        X, y = load_dataset(self.dataset, normalize=True)
        return erm(X, y, self.loss, Exponential(lam=1.0 / len(y), alpha=5.0, groups=self.groups))


PAPER = (
    Experiment("a9a", "squared-sigmoid"),
    Experiment("w8a", "squared-sigmoid"),
    Experiment("dna.scale", "softmax", "rows"),
)
BUNDLED = (Experiment("breast_cancer", "squared-sigmoid"), Experiment("digits", "softmax", "rows"))


def at_hand() -> tuple[Experiment, ...]:
    """The paper's data sets where they can be found, else those that ship with scikit-learn."""
    return tuple(e for e in PAPER if available(e.dataset)) or BUNDLED


def runs(P: Problem, passes: float, seed: int, methods: Sequence[str] = tuple(METHODS)) -> Iterator[Result]:
    """Every method that takes the problem, with the same budget and seed."""
    for name in methods:
        with suppress(CannotSolve):  # pdcae, where f is not convex
            yield solve(P, name, passes=passes, seed=seed)


def F_at(trace: Trace, passes: float) -> float:
    """F at the last traced point within so many passes."""
    return [r.F for r in trace if r.passes <= passes + 1e-9][-1]
