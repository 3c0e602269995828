"""A feature is in or out for all classes: python examples/row_sparsity.py [figure.png]

dna.scale has 180 features, 60 positions of three bits each, and three classes; digits where it is not at hand. With
three or more classes the penalty acts on whole rows of x, so that the same few features serve all classes.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt


def data():
    """(X, y, test X, test y, name)"""
    try:
        X, y = dcopt.load_dataset("dna.scale")
        return X, y, *dcopt.load_dataset("dna.scale.t"), "dna.scale"
    except dcopt.CannotFetch:
        print("dna.scale is not at hand (its file belongs into the folder DCOPT_DATA): digits instead")
        X, y = dcopt.load_dataset("digits")
        X = X / 16.0
        return X[::2], y[::2], X[1::2], y[1::2], "digits"


def fit(X, y, lam: float) -> dcopt.DCClassifier:
    """MCP over rows; `lam` is a share of the one that leaves no feature."""
    return dcopt.DCClassifier(penalty="mcp", lam=lam, lam_scale="max", tol=1e-3, random_state=0).fit(X, y)


def main(figure_path: str | None = None) -> None:
    X, y, X_test, y_test, name = data()
    for lam in (0.3, 0.15):
        model = fit(X, y, lam)
        rows = np.flatnonzero((model.coef_ != 0).any(axis=0))
        score = f"{model.score(X_test, y_test):.1%} of the test rows correct"
        print(f"{name}, lam = {lam} lam_max: {len(rows)} of {X.shape[1]} features for all classes, {score}")
    print("features:", (rows + 1).tolist())
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(8, 1.9), layout="constrained")
        most = np.abs(model.coef_).max()
        image = axis.imshow(model.coef_, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto", interpolation="nearest")
        axis.set_yticks(range(len(model.classes_)), [f"class {c:g}" for c in model.classes_])
        axis.set_xlabel(f"feature of {name}: {len(rows)} are in, each of them for all classes")
        figure.colorbar(image, label="coefficient")
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
