"""Regression where the test rows come from another place: python examples/domain_adaptation.py [figure.png]

A straight line is fitted to a curve. Which line is best depends on where it is used, so that the source rows are
weighted to have the second moments of the target rows: the least discrepancy. No target label is used.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt

RIDGES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)


def truth(X: np.ndarray) -> np.ndarray:
    """A curve in every feature, which no linear function fits everywhere."""
    return np.sum(np.sin(1.5 * X) + 0.3 * X**2, axis=1)


def data(seed: int, d: int = 4, n: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Source rows and labels, target rows and labels, and the ratio of the two densities at the source rows."""
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(n, d)), 0.8 + 0.6 * rng.normal(size=(n, d))
    ratio = np.exp(np.sum(X**2 / 2 - (X - 0.8) ** 2 / (2 * 0.6**2), axis=1)) / 0.6**d
    y, t = (truth(rows) + 0.3 * rng.normal(size=n) for rows in (X, Z))
    return X, y, Z, t, ratio


def with_ones(X: np.ndarray) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))])


def error(X: np.ndarray, y: np.ndarray, Z: np.ndarray, t: np.ndarray, w: np.ndarray | None) -> float:
    """The mean squared error on the target rows of least squares on the weighted source rows."""
    P = dcopt.erm(with_ones(X), y, "squared", sample_weight=w)
    x = dcopt.solve(P, tol=1e-8, trace=None).x
    return float(np.mean((with_ones(Z) @ x - t) ** 2))


def compare(seed: int, ridges: tuple[float, ...] = RIDGES) -> dict[str, float]:
    """Errors on the target: equal weights, the least discrepancy, the true density ratio, and labels of the target."""
    X, y, Z, t, ratio = data(seed)
    errors = {"equal": error(X, y, Z, t, None), "ratio": error(X, y, Z, t, ratio), "target": error(Z, t, Z, t, None)}
    for ridge in ridges:
        w = dcopt.problems.discrepancy_weights(with_ones(X), with_ones(Z), ridge=ridge).weights
        errors[f"ridge {ridge:g}"] = error(X, y, Z, t, w)
    return errors


def discrepancies(seed: int = 0) -> tuple[float, float, float]:
    """Before, after, and before again by DCA-PAGE on the rows: −2 min F for the larger of both signs."""
    X, _, Z, _, _ = data(seed)
    A, B = with_ones(X), with_ones(Z)
    found, worst = dcopt.problems.discrepancy_weights(A, B), 0.0
    for larger in ("target", "source"):
        P = dcopt.problems.discrepancy(A, B, larger=larger)
        x0 = dcopt.problems.pca_start(B, nonnegative=False, steps=1)
        res = dcopt.solve(P, "dca-page", tol=1e-8, x0=x0, seed=0, trace=None)
        worst = max(worst, -2.0 * res.certificate.F)
    return found.before, found.discrepancy, worst


def main(figure_path: str | None = None, seeds: int = 20) -> None:
    before, after, again = discrepancies()
    print(f"discrepancy with equal weights {before:.4f} (DCA-PAGE on the rows: {again:.4f}), with the best {after:.4f}")
    every = [compare(seed) for seed in range(seeds)]
    names = list(every[0])
    columns = {name: np.array([errors[name] for errors in every]) for name in names}
    for name, column in columns.items():
        better = int(np.sum(column < columns["equal"]))
        print(f"{name:12} mean error {column.mean():.3f} ({column.min():.3f} to {column.max():.3f}), "
              f"better than equal weights in {better} of {seeds}")  # fmt: skip
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        X, y, Z, t, _ = data(1, d=1, n=150)
        w = dcopt.problems.discrepancy_weights(with_ones(X), with_ones(Z)).weights
        left.scatter(X, y, s=4 + 1500 * w, color="#0072B2", alpha=0.5, lw=0, label="source, size: weight")
        left.scatter(Z, np.full(len(Z), -2.3), s=30, marker="|", color="#D55E00", lw=0.6, label="target, no labels")
        grid = np.linspace(-2.5, 2.5, 100)[:, None]
        left.plot(grid, truth(grid), color="0.6", lw=1)
        for weights, style, name in ((None, "--", "equal weights"), (w, "-", "least discrepancy")):
            x = dcopt.solve(dcopt.erm(with_ones(X), y, "squared", sample_weight=weights), tol=1e-8).x
            left.plot(grid, with_ones(grid) @ x, style, color="black", lw=1.3, label=name)
        left.set(ylim=(-2.6, 4.2), xlabel="feature", ylabel="label")
        left.legend(fontsize=7, frameon=False, loc="upper left")
        shown = ["equal", *(name for name in names if name.startswith("ridge")), "ratio", "target"]
        ridges = [name.removeprefix("ridge ") for name in shown[1:-2]]
        labels = ["equal\nweights", *ridges, "density\nratio", "labels of\ntarget"]
        right.boxplot([columns[name] for name in shown], tick_labels=labels, medianprops={"color": "#0072B2"})
        right.set(ylabel="squared error on the target", xlabel="least discrepancy, by ridge")
        right.set_ylim(bottom=0.0)
        right.tick_params(labelsize=7)
        figure.savefig(figure_path, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:2])
