"""The best k features, for k = 1, 2, …: python examples/best_subset.py [figure.png]

Column 5 is nearly the sum of columns 0 and 1, on which the response depends. Alone it is the best feature, so that
greedy selection keeps it. An exchange of one feature for another finds the pair.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression

import dcopt


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(200, 10))
    X[:, 5] = X[:, 0] + X[:, 1] + 0.5 * draw.normal(size=200)
    return X, X[:, 0] + X[:, 1] + 0.3 * draw.normal(size=200)


def loss(X: np.ndarray, y: np.ndarray, features: np.ndarray) -> float:
    return float(np.mean((LinearRegression().fit(X[:, features], y).predict(X[:, features]) - y) ** 2) / 2)


def main(figure_path: str | None = None) -> None:
    X, y = data()
    sizes, losses, bics = range(1, 7), {"greedy": [], "l0": []}, []
    for k in sizes:
        greedy = SequentialFeatureSelector(LinearRegression(), n_features_to_select=k, cv=5).fit(X, y).get_support(True)
        model = dcopt.DCRegressor(penalty=f"l0(k={k})").fit(X, y)
        best = np.flatnonzero(model.coef_)
        losses["greedy"].append(loss(X, y, greedy))
        losses["l0"].append(loss(X, y, best))
        bics.append(model.criteria(X, y).bic)
        if k == 2:
            print(f"greedy: features {greedy.tolist()}, loss {losses['greedy'][-1]:.4f}")
            print(f"l0: features {best.tolist()}, loss {losses['l0'][-1]:.4f}")
    print(f"the least BIC is that of k = {sizes[int(np.argmin(bics))]}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
        for name, values in losses.items():
            axis.semilogy(sizes, values, "o-", ms=4, label=name)
        axis.set(xlabel="features k", ylabel="mean loss")
        axis.legend()
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
