"""Labels that lie: python examples/label_noise.py [figure.png]

A share of the training labels far from the boundary is flipped. The logistic loss grows without end, so that each lie
pulls; the squared sigmoid is bounded and lets the worst of them go.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)


def sample(seed: int, n: int = 600, share: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Ten features of which two matter; one class is mislabelled at random, more often where it is plain to see."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    z = 2.0 * X[:, 0] - 1.0 * X[:, 1]
    y = z > 0
    lies = (z > 1.0) & (rng.random(n) < share)
    return X, np.where(lies, ~y, y).astype(int)


def accuracy(loss: str, share: float, seed: int = 0) -> float:
    """On clean labels, after training on others."""
    X, y = sample(seed, share=share)
    model = dcopt.DCClassifier(loss=loss, penalty="scad", lam=0.01, random_state=0).fit(X, y)
    return float(model.score(*sample(seed + 1000, n=4000)))


def main(figure_path: str | None = None, seeds: int = 5) -> None:
    losses = ("logistic", "squared-sigmoid")
    table = {loss: np.array([[accuracy(loss, s, k) for k in range(seeds)] for s in SHARES]) for loss in losses}
    print("flipped   " + "".join(f"{loss:>18}" for loss in losses))
    for i, share in enumerate(SHARES):
        print(f"{share:7.0%}   " + "".join(f"{table[loss][i].mean():18.1%}" for loss in losses))
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
        for loss, mark, colour in zip(losses, "os", ("#0072B2", "#D55E00"), strict=True):
            low, high = table[loss].min(axis=1), table[loss].max(axis=1)
            axis.fill_between(SHARES, low, high, color=colour, alpha=0.15, lw=0)
            axis.plot(SHARES, table[loss].mean(axis=1), marker=mark, color=colour, label=loss)
        axis.set(xlabel="share of flipped labels, one class, far from the boundary", ylabel="accuracy, clean labels")
        axis.legend()
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
