"""15 clusters of 3000 points: python examples/clustering.py [figure.png]

From a start in one corner the method ends where it is led. A falling temperature helps, swaps of one centre more.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt
from dcopt.problems import clustering, clustering_start, clustering_swap


def data(seed: int = 0) -> np.ndarray:
    """15 clusters of 200 points in the plane"""
    draw = np.random.default_rng(seed)
    centres = np.array([[i, j] for i in range(5) for j in range(3)]) * 3.0 + 0.6 * draw.normal(size=(15, 2))
    return np.repeat(centres, 200, axis=0) + 0.5 * draw.normal(size=(3000, 2))


def fit(P: dcopt.Problem, x0: np.ndarray) -> np.ndarray:
    return dcopt.solve(P, "dca", kappa="adaptive", x0=x0, tol=1e-6, measure="criticality", trace=None, seed=0).x


def smoothed(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Three temperatures, in units of the variance of a coordinate about the nearest centre, and 0"""
    scale = 2.0 * clustering(A, len(x)).value(x) / A.shape[1]
    for T in (2.0 * scale, scale, 0.5 * scale, 0.0):
        x = fit(clustering(A, len(x), smoothing=T), x)
    return x


def swapped(P: dcopt.Problem, x: np.ndarray, trials: int = 30) -> np.ndarray:
    """The best of so many runs, each from the best x so far with one centre moved"""
    for seed in range(trials):
        other = fit(P, clustering_swap(P, x, seed=seed))
        x = other if P.value(other) < P.value(x) else x
    return x


def main(figure_path: str | None = None) -> None:
    A = data()
    P, x0 = clustering(A, 15), A[:15]  # a bad start: all in one cluster
    fits = {"one bad start": fit(P, x0), "falling temperature": smoothed(A, x0), "30 swaps": swapped(P, fit(P, x0))}
    fits["k-means++ start"] = fit(P, clustering_start(A, 15, seed=0))
    for name, x in fits.items():
        print(f"{name:20} mean squared distance {2 * P.value(x):.4f}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 4, figsize=(10, 2.4), layout="constrained", sharey=True)
        for axis, (name, x) in zip(axes, fits.items(), strict=True):
            axis.scatter(*A.T, c=dcopt.problems.clusters_of(P, x), s=0.5, cmap="tab20")
            axis.plot(*x.T, "k+", ms=7)
            axis.set_title(f"{name}: {2 * P.value(x):.3f}", fontsize=9)
            axis.set_xticks([])
            axis.set_yticks([])
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
