"""Groups, and single features within them: python examples/sparse_groups.py [figure.png]

Thirty groups of eight features; in three groups, half of the features have an effect. The lasso does not know the
groups, and the group lasso keeps whole ones. A sparse group penalty does both. Each λ has the least error on new rows.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt

GROUPS = [list(range(8 * g, 8 * g + 8)) for g in range(30)]
PENALTIES = {"lasso": 1.0, "sparse group": 0.5, "group lasso": 0.0}


def data(seed: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    coef = np.zeros(240)
    for g in (2, 7, 11):
        coef[GROUPS[g][:4]] = draw.choice([-1.0, 1.0], 4)
    X = draw.normal(size=(200, 240))
    return X, X @ coef + draw.normal(size=200), coef


def best(share: float, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The coefficients of the λ with the least error on the last 100 rows."""
    model = dcopt.DCRegressor(penalty=f"sparse-group(share={share})", groups=GROUPS)
    path = model.path(X[:100], y[:100], n_lams=20, ratio=0.03)
    errors = [np.mean((X[100:] @ c + b - y[100:]) ** 2) for c, b in zip(path.coefs, path.intercepts, strict=True)]
    return path.coefs[int(np.argmin(errors))]


def main(figure_path: str | None = None) -> None:
    X, y, true = data()
    coefs = {name: best(share, X, y) for name, share in PENALTIES.items()}
    for name, coef in coefs.items():
        groups = sum(bool(coef[g].any()) for g in GROUPS)
        error = np.linalg.norm(coef - true)
        print(f"{name}: {groups} groups, {np.count_nonzero(coef)} features, distance to the true ones {error:.2f}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained", sharey=True)
        for axis, (name, coef) in zip(axes, coefs.items(), strict=True):
            axis.plot(true, "k_", ms=5, label="true")
            axis.vlines(np.flatnonzero(coef), 0.0, coef[coef != 0.0], lw=1.5)
            for g in GROUPS[::2]:
                axis.axvspan(g[0] - 0.5, g[-1] + 0.5, color="0.93")
            axis.set(title=name, xlabel="feature")
        axes[0].legend(fontsize="small")
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
