"""A penalty of one's own in fifteen lines: python examples/own_penalty.py [figure.png]

r(x) = Σ ψ(|x_j|) with a concave ψ: its value, its slope, the slope at 0 and the largest curvature are all that is
needed. `dcopt.check` runs the laws on it, and DCClassifier takes it like any other.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

import dcopt


@dataclass(frozen=True)
class Arctan(dcopt.regularizers.Profiled):
    """ψ(a) = λ θ arctan(a/θ): slope λ at 0 like the lasso, and bounded."""

    lam: float
    theta: float = 1.0

    slope0 = property(lambda self: self.lam)
    profile_L2 = property(lambda self: 3.0 * math.sqrt(3.0) / 8.0 * self.lam / self.theta)  # at a = θ/√3

    def psi(self, a):
        return self.lam * self.theta * np.arctan(a / self.theta)

    def dpsi(self, a):
        return self.lam / (1.0 + (a / self.theta) ** 2)


def fit(penalty, X: np.ndarray, y: np.ndarray, lam: float = 0.05) -> dcopt.DCClassifier:
    return dcopt.DCClassifier(penalty=penalty, lam=lam, random_state=0).fit(X, y)


def main(figure_path: str | None = None) -> None:
    print(f"{len(dcopt.check(Arctan(lam=0.1, theta=0.5)))} laws hold")
    X, y = dcopt.load_dataset("breast_cancer")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    penalties = {"l1": "l1", "scad": "scad", "arctan": Arctan(lam=0.1, theta=0.5)}
    models = {name: fit(penalty, X, y) for name, penalty in penalties.items()}
    for name, model in models.items():
        kept = int(np.count_nonzero(model.coef_))
        print(f"{name:7} {model.status_}, {kept:2} of 30 features, {model.score(X, y):.1%} of the rows correct")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        a = np.linspace(0.0, 3.0, 301)
        figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
        for k, (name, model) in enumerate(models.items()):
            r = Arctan(1.0, 0.5) if name == "arctan" else type(dcopt.regularizers.regularizer(name))(lam=1.0)
            axes[0].plot(a, [r.value(np.array([v])) for v in a], label=name)
            axes[1].bar(np.arange(30) + 0.27 * (k - 1), model.coef_[0], 0.27, label=name)
        axes[0].set(xlabel="|x|", ylabel="penalty, λ = 1")
        axes[1].set(xlabel="feature of breast_cancer", ylabel="coefficient")
        axes[0].legend()
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
