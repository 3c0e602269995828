"""Four ways to choose λ on one path: python examples/choose_lam.py [figure.png]

Ten measurements of 442 patients, and their products and squares: 65 features, of which few matter. The criteria need
one path; cross-validation needs one for each fold.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

import dcopt


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows to choose with, and rows to judge the choice by."""
    X, y = load_diabetes(return_X_y=True)
    X = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    X = X[:, X.std(axis=0) > 0.0]
    at = np.random.default_rng(0).permutation(len(y))
    return X[at[:300]], y[at[:300]], X[at[300:]], y[at[300:]]


def choices(X: np.ndarray, y: np.ndarray) -> dict[str, dcopt.DCRegressorCV]:
    folds = [(np.flatnonzero(np.arange(len(y)) % 5 != k), np.flatnonzero(np.arange(len(y)) % 5 == k)) for k in range(5)]
    return {
        rule: dcopt.DCRegressorCV(penalty="l1", standardize=True, n_lams=40, rule=rule, cv=folds).fit(X, y)
        for rule in ("best", "1se", "aic", "bic", "ebic")
    }


def main(figure_path: str | None = None) -> None:
    X, y, X_new, y_new = data()
    models = choices(X, y)
    for rule, model in models.items():
        k = model.index_
        score = model.score(X_new, y_new)
        print(f"{rule:5} λ = {model.lam_:7.3f}  {model.path_.nnz[k]:2} features  R² on new rows {score:.3f}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        path, folds = models["aic"].path_, models["best"].cv_loss_
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        for colour, name in enumerate(("aic", "bic", "ebic")):
            values = getattr(path, name)
            axes[0].semilogx(path.lams, values, color=f"C{colour}", label=name.upper())
            axes[0].plot(path.lams[np.argmin(values)], values.min(), "o", color=f"C{colour}")
        axes[0].set(title="criteria on all rows", xlabel="λ")
        axes[0].legend()
        error = folds.std(axis=1, ddof=1) / np.sqrt(folds.shape[1])
        axes[1].errorbar(path.lams, folds.mean(axis=1), error, lw=1, elinewidth=0.6)
        axes[1].set(title="loss on the rows left out", xlabel="λ", xscale="log")
        for rule, style in (("best", ":"), ("1se", "--")):
            axes[1].axvline(models[rule].lam_, color="0.4", ls=style, lw=1, label=rule)
        axes[1].legend()
        for axis in axes:
            axis.invert_xaxis()
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
