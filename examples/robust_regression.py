"""A line through points of which 30 % belong to another: python examples/robust_regression.py [figure.png]"""

from __future__ import annotations

import sys

import numpy as np

import dcopt


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    x = draw.uniform(-3, 3, 200)
    y = 1.0 + 2.0 * x + 0.3 * draw.normal(size=200)
    y[:60] = 8.0 - 3.0 * x[:60] + draw.normal(size=60)
    return x[:, None], y


def fit(X: np.ndarray, y: np.ndarray, loss: str = "tukey", rounds: int = 20) -> np.ndarray:
    """(slope, intercept): solve, estimate the scale from the residuals again, and so on."""
    A = np.column_stack([X, np.ones(len(y))])
    x = np.linalg.lstsq(A, y)[0]
    for _ in range(rounds):
        scale = dcopt.problems.scale_of(A @ x - y, loss)
        P = dcopt.problems.robust_regression(X, y, loss, scale=scale, intercept=True)
        x = dcopt.solve(P, "dca", tol=1e-10, x0=x, trace=None).x
    return x


def main(figure_path: str | None = None) -> None:
    X, y = data()
    lines = {"least squares": np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y)[0], "Tukey": fit(X, y)}
    for name, (slope, intercept) in lines.items():
        print(f"{name:14} y = {intercept:5.2f} + {slope:5.2f} x      (without the others: 1 + 2 x)")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
        axis.plot(X[60:, 0], y[60:], ".", color="0.4", ms=4)
        axis.plot(X[:60, 0], y[:60], "x", color="0.7", ms=4)
        ends = np.array([-3.0, 3.0])
        for (name, (slope, intercept)), color in zip(lines.items(), ("C0", "C3"), strict=True):
            axis.plot(ends, intercept + slope * ends, color, label=name)
        axis.legend(frameon=False)
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
