"""The paper's problems on all rows: rows of length 1, no intercept, λ = 1/N, α = 5."""

from __future__ import annotations

from dataclasses import dataclass

from dcopt import Problem, erm, load_dataset
from dcopt.regularizers import Exponential


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
