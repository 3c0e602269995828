"""A path of MCP fits, each started from the one before: python examples/sparse_path.py [figure.png]

Each λ is one problem of least squares through the same Gram matrix. The lasso shrinks what it selects; MCP does not.
"""

from __future__ import annotations

import sys

import numpy as np

import dcopt
from dcopt.regularizers import L1, MCP


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X, x = draw.normal(size=(300, 60)), np.zeros(60)
    x[:5] = 2.0, -1.5, 1.0, 0.75, -0.5
    return X, X @ x + draw.normal(size=300), x


def path(X: np.ndarray, y: np.ndarray, penalty, points: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """λ and one row of coefficients for each."""
    P = dcopt.problems.sparse_regression(X, y, "zero")
    top, x, rows = dcopt.problems.largest_lam(P), None, []
    lams = np.geomspace(top, top / 50, points)
    for lam in lams:
        x = dcopt.solve(dcopt.Problem(P.G, P.H, penalty(lam)), "dca", steps=50, x0=x, seed=0, trace=None).x
        rows.append(x)
    return lams, np.array(rows)


def main(figure_path: str | None = None) -> None:
    X, y, true = data()
    paths = {"lasso": path(X, y, L1), "MCP, γ = 3": path(X, y, lambda lam: MCP(lam, gamma=3.0))}
    for name, (lams, rows) in paths.items():
        right = [k for k, x in enumerate(rows) if np.array_equal(x != 0, true != 0)]
        error = min(float(np.linalg.norm(x - true)) for x in rows)
        print(f"{name:11} right support at {len(right):2d} of {len(lams)} λ, least error {error:.3f}")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
        for axis, (name, (lams, rows)) in zip(axes, paths.items(), strict=True):
            axis.semilogx(lams, rows[:, true == 0], "0.75", lw=0.7)
            axis.semilogx(lams, rows[:, true != 0], lw=1.4)
            axis.invert_xaxis()
            for value in true[true != 0]:
                axis.axhline(value, color="k", lw=0.5, ls=":")
            axis.set(title=name, xlabel="λ")
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
