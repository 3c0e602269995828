"""A two-layer network that separates two spirals: python examples/two_layer.py [figure.png]

The network is a difference of convex functions of its weights; DCA-PAGE takes no rate and no other number to tune.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt
from dcopt.problems import two_layer, two_layer_output, two_layer_start


def data(seed: int = 0, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Two spirals of half a turn and a quarter, with noise"""
    draw = np.random.default_rng(seed)
    t, side = 0.5 + 4.0 * draw.random(n), np.arange(n) % 2
    points = np.stack([t * np.cos(t + np.pi * side), t * np.sin(t + np.pi * side)], axis=1)
    return points / 2.0 + 0.08 * draw.normal(size=(n, 2)), side


def fit(X: np.ndarray, y: np.ndarray, passes: int = 300) -> tuple[dcopt.Problem, np.ndarray, np.ndarray]:
    """The problem, the weights, and F after passes"""
    P = two_layer(X, y, hidden=24, mu=1e-4)
    res = dcopt.solve(P, "dca-page", kappa="adaptive", x0=two_layer_start(P, seed=0), passes=passes, seed=0)
    return P, res.x, np.array([(row.gradients / len(X), row.F) for row in res.trace])


def main(figure_path: str | None = None) -> None:
    X, y = data()
    P, x, trace = fit(X, y)
    new, labels = data(1)
    right = np.mean((two_layer_output(P, x, new) > 0) == labels)
    print(f"F = {P.value(x):.4f}; {right:.1%} of new points are right")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, (left, axis) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
        side = np.linspace(-2.8, 2.8, 200)
        grid = np.stack(np.meshgrid(side, side), axis=-1)
        out = two_layer_output(P, x, grid.reshape(-1, 2)).reshape(200, 200)
        left.contourf(side, side, out, levels=[-1e9, 0.0, 1e9], colors=["C0", "C1"], alpha=0.25)
        left.scatter(*X.T, c=np.where(y == 1, "C1", "C0"), s=4)
        left.set_title("the sign of u − v", fontsize=10)
        axis.semilogy(*trace.T)
        axis.set_xlabel("passes")
        axis.set_title("F", fontsize=10)
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
