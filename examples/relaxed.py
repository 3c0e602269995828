"""What a lasso shrinks, and three ways not to: python examples/relaxed.py [figure.png]

Twelve of 100 features have an effect. The lasso chooses a small λ, because a larger one shrinks them too much, and so
keeps many others. A refit without a penalty, weights from a first fit, and MCP do without that.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    coef = np.zeros(100)
    coef[:12] = np.linspace(2.0, 0.6, 12) * draw.choice([-1.0, 1.0], 12)
    X = draw.normal(size=(200, 100))
    return X, X @ coef + draw.normal(size=200), coef


def fits(X: np.ndarray, y: np.ndarray) -> dict[str, dcopt.DCRegressorCV]:
    def by_folds(penalty: str, **options: bool) -> dcopt.DCRegressorCV:
        return dcopt.DCRegressorCV(penalty=penalty, n_lams=20, cv=5, **options)

    lasso = by_folds("l1").fit(X, y)
    weights = dcopt.adaptive_weights(lasso).tolist()
    return {
        "lasso": lasso,
        "relaxed lasso": by_folds("l1", relaxed=True).fit(X, y),
        "adaptive lasso": by_folds("l1").set_params(penalty__weights=weights).fit(X, y),
        "MCP": by_folds("mcp").fit(X, y),
    }


def main(figure_path: str | None = None) -> None:
    X, y, true = data()
    models = fits(X, y)
    for name, model in models.items():
        away = np.linalg.norm(model.coef_ - true)
        print(f"{name}: {np.count_nonzero(model.coef_)} features, distance to the true coefficients {away:.2f}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained", sharex=True, sharey=True)
        for axis, (name, model) in zip(axes, models.items(), strict=True):
            axis.axline((0.0, 0.0), slope=1.0, color="0.8", lw=1)
            axis.plot(true, model.coef_, ".", ms=5)
            axis.set(title=name, xlabel="true coefficient")
        axes[0].set_ylabel("fitted coefficient")
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
