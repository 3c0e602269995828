"""Total variation and MCP of differences on a piecewise constant signal: python examples/trend.py [figure.png]"""

from __future__ import annotations

import sys

import numpy as np

import dcopt
from dcopt.regularizers import MCP

LAMS = np.geomspace(1e-3, 1e-1, 21)


def data(seed: int = 0, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """y and the signal"""
    draw = np.random.default_rng(seed)
    true = np.repeat([0.0, 2.0, 1.2, -1.0, 3.0, 3.5, 0.0, 0.0], n // 8)
    return true + 0.4 * draw.normal(size=n), true


def fit(y: np.ndarray, lam: float, concave: bool) -> np.ndarray:
    """Concave: jumps above 1 are not penalised further (γλ = 1)."""
    P = dcopt.problems.trend(y, MCP(lam, gamma=1.0 / lam) if concave else lam)
    start = dcopt.problems.trend(y, lam)
    x0 = dcopt.solve(start, "dca", tol=1e-8, trace=None).x
    res = dcopt.solve(P, "dca", tol=1e-8, x0=x0, steps=20_000, trace=None)
    assert res.success, res.message
    return res.x


def best(y: np.ndarray, true: np.ndarray, concave: bool) -> tuple[float, np.ndarray]:
    """The λ of the grid whose x is nearest to the signal: each penalty at its best"""
    fits = [(lam, fit(y, float(lam), concave)) for lam in LAMS]
    return min(fits, key=lambda pair: float(np.linalg.norm(pair[1] - true)))


def bias(x: np.ndarray, y: np.ndarray, true: np.ndarray) -> float:
    """The mean, over the pieces of the signal, of how far x is from the mean of y there"""
    ends = np.flatnonzero(np.diff(true)) + 1
    return float(np.mean([abs(a.mean() - b.mean()) for a, b in zip(np.split(x, ends), np.split(y, ends), strict=True)]))


def main(figure_path: str | None = None) -> None:
    y, true = data()
    fits = {"total variation": best(y, true, False), "MCP of the differences": best(y, true, True)}
    for name, (lam, x) in fits.items():
        error, jumps = np.linalg.norm(x - true) / len(y) ** 0.5, np.count_nonzero(np.diff(x))
        print(f"{name:24} λ = {lam:.4f}   error {error:.3f}   bias {bias(x, y, true):.3f}   jumps {jumps} (true: 6)")
    if figure_path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
        for axis, (name, (_, x)), color in zip(axes, fits.items(), ("C0", "C3"), strict=True):
            axis.plot(y, ".", color="0.75", ms=3)
            axis.plot(true, "k", lw=1)
            axis.plot(x, color, lw=2)
            axis.set_title(name, fontsize=10)
        figure.savefig(figure_path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
