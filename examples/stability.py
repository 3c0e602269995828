"""Which features of a model are there by chance? python examples/stability.py [figure.png]

Ten measurements of 442 patients, and forty columns of noise beside them. A path that is cut by cross-validation keeps
some of the noise. Stability selection states how many false features are expected, and the bootstrap shows how often
each feature is chosen.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

import dcopt


def data(seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    noise = np.random.default_rng(seed).normal(size=(len(X), 40)) * float(X.std().mean())
    return X.join(pd.DataFrame(noise, index=X.index).add_prefix("noise ")), y


def main(figure_path: str | None = None) -> None:
    X, y = data()
    lasso = dcopt.DCRegressorCV(penalty="l1", n_lams=30, cv=5).fit(X, y)
    kept = X.columns[lasso.coef_ != 0.0]
    print(f"cross-validation keeps {len(kept)} features, {sum(kept.str.startswith('noise'))} of them noise")
    stable = dcopt.stability_selection(dcopt.DCRegressor(penalty="l1"), X, y, n_jobs=2, random_state=0)
    print(stable)
    model = dcopt.DCRegressorCV(penalty="mcp", rule="bic", n_lams=20)
    often = dcopt.bootstrap_inclusion(model, X, y, n_samples=50, n_jobs=2, random_state=0)
    print(often)
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        stable.plot(axes[0])
        often.plot(axes[1])
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
