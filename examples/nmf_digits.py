"""Parts of digits: python examples/nmf_digits.py [figure.png]

Ten nonnegative parts by NMF, and the one nonnegative direction of most variance.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt


def parts(X: np.ndarray, rank: int = 10, steps: int = 200) -> tuple[np.ndarray, float]:
    """V (d, rank) and F, the factors taken by turns."""
    P = dcopt.problems.nmf(X, rank)
    res = dcopt.problems.nmf_blocks(P, steps=steps, x0=dcopt.problems.nmf_start(X, rank))
    return res.x[len(X) :], res.certificate.F


def direction(X: np.ndarray) -> tuple[np.ndarray, float]:
    """The nonnegative direction of most variance, and the variance."""
    X = X - X.mean(axis=0)
    P = dcopt.problems.pca(X)
    res = dcopt.solve(P, "dca", tol=1e-8, measure="criticality", x0=dcopt.problems.pca_start(X), trace=None)
    return res.x, -2.0 * res.certificate.F


def main(figure_path: str | None = None) -> None:
    X, _ = dcopt.load_dataset("digits")
    V, F = parts(X)
    v, variance = direction(X)
    total = float(X.var(axis=0).sum())
    print(f"NMF: squared error of a digit {2 * F:.1f}, of the mean digit {total:.1f}; {(V == 0).mean():.0%} of V is 0")
    print(f"nonnegative PCA: one direction, {np.count_nonzero(v)} of 64 pixels, {variance / total:.1%} of the variance")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 11, figsize=(9, 1.1), layout="constrained")
        for axis, column in zip(axes, [*V.T, v], strict=True):
            axis.imshow(column.reshape(8, 8), cmap="gray_r")
            axis.set_axis_off()
        axes[0].set_title("NMF, rank 10", loc="left", fontsize=8)
        axes[10].set_title("PCA", fontsize=8)
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
