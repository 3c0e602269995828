"""Which peaks is a spectrum made of? python examples/peaks.py [figure.png]

A spectrum is a sum of peaks at unknown places, with amounts that are not negative. Peaks at 120 places are the columns.
Neighbours are nearly equal, so that a lasso adds and subtracts them. With positive=True it cannot; MCP, which does not
shrink what it keeps, needs fewer of them.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt

PLACES = {20: 1.0, 27: 0.6, 60: 0.8, 66: 0.9, 95: 0.5}


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    grid, places = np.linspace(0.0, 119.0, 400), np.arange(120)
    X = np.exp(-0.5 * ((grid[:, None] - places) / 2.5) ** 2)
    return X, sum(X[:, j] * a for j, a in PLACES.items()) + 0.03 * np.random.default_rng(seed).normal(size=400)


def fits(X: np.ndarray, y: np.ndarray) -> dict[str, dcopt.DCRegressor]:
    options = {"tol": 1e-6, "lam": 0.001}
    return {
        "lasso": dcopt.DCRegressor(penalty="l1", **options).fit(X, y),
        "lasso, positive": dcopt.DCRegressor(penalty="l1", positive=True, **options).fit(X, y),
        "MCP, positive": dcopt.DCRegressor(penalty="mcp", positive=True, search=False, **options).fit(X, y),
    }


def main(figure_path: str | None = None) -> None:
    X, y = data()
    models = fits(X, y)
    for name, model in models.items():
        print(f"{name}: {np.count_nonzero(model.coef_)} peaks, {np.sum(model.coef_ < 0)} of them negative")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained", sharey=True)
        for axis, (name, model) in zip(axes, models.items(), strict=True):
            some = np.flatnonzero(model.coef_)
            axis.plot(np.linspace(0.0, 119.0, 400), y, "0.8", lw=1)
            axis.vlines(some, 0.0, model.coef_[some])
            axis.plot(list(PLACES), list(PLACES.values()), "k_", ms=9, label="true amounts")
            axis.set(title=name, xlabel="place")
        axes[0].legend(fontsize="small")
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
