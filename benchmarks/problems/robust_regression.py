"""Robust regression with gross errors: python benchmarks/problems/robust_regression.py [seeds]

N = 20000, d = 50, noise 0.1, and gross errors in 30 % of the rows, of four kinds:
"another model"    y = −10 ⟨a, x⟩ + noise: errors that go with the rows, as a second population makes them
"and longer rows"  the same, these rows 1.25 times as long as the others: a bounded slope does not bound their pull
"and long rows"    the same, twice as long: beyond what a start at least squares survives every time
"symmetric noise"  y + 50 · normal: errors that have nothing to do with the rows. Huber is hurt only in its variance,
                   and no estimate can be ten times better
The fit starts from least squares; the scale is estimated again from the residuals after every solve. dca-page here has
b' = N/40, p = 1/20 and the shift η that theory asks for.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
from common import safe_page
from sklearn.linear_model import HuberRegressor

import dcopt

N, D, BAD = 20_000, 50, 0.3


def data(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X, x = draw.normal(size=(N, D)), draw.normal(size=D)
    bad = draw.permutation(N)[: int(BAD * N)]
    X[bad] *= {"and longer rows": 1.25, "and long rows": 2.0}.get(kind, 1.0)
    y = X @ x + 0.1 * draw.normal(size=N)
    y[bad] = y[bad] + 50.0 * draw.normal(size=len(bad)) if kind == "symmetric noise" else -10.0 * y[bad]
    return X, y, x


def robust(X: np.ndarray, y: np.ndarray, loss: str, method: str, rounds: int = 30) -> tuple[np.ndarray, float]:
    """Solve, estimate the scale again, until it settles: x and the passes."""
    x, passes, scale = np.linalg.lstsq(X, y)[0], 0.0, np.inf
    for _ in range(rounds):
        new = dcopt.problems.scale_of(X @ x - y, loss)
        if abs(new - scale) < 1e-3 * scale:
            break
        scale = new
        P = dcopt.problems.robust_regression(X, y, loss, scale=scale)
        P, how = safe_page(P) if method == "dca-page" else (P, method)
        res = dcopt.solve(P, how, passes=20, x0=x, seed=0, trace=None)
        x, passes = res.x, passes + res.spent.gradients / N
    return x, passes


def main(seeds: int = 10) -> None:
    print("| errors | estimate | median error | worst | vs least squares | vs Huber | passes | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ("another model", "and longer rows", "and long rows", "symmetric noise"):
        table: dict[str, list[tuple[float, float, float]]] = {}
        for seed in range(seeds):
            X, y, true = data(seed, kind)
            fits = {
                "least squares": lambda X=X, y=y: (np.linalg.lstsq(X, y)[0], 1.0),
                "Huber (scikit-learn)": lambda X=X, y=y: (huber(X, y), np.nan),
            }
            for loss in ("tukey", "welsch"):
                fits[f"{loss}, dca-page"] = lambda X=X, y=y, loss=loss: robust(X, y, loss, "dca-page")
            fits["tukey, dca"] = lambda X=X, y=y: robust(X, y, "tukey", "dca")
            for name, fit in fits.items():
                began = perf_counter()
                x, passes = fit()
                table.setdefault(name, []).append((float(np.linalg.norm(x - true)), passes, perf_counter() - began))
        least, hub = (np.array([row[0] for row in table[k]]) for k in ("least squares", "Huber (scikit-learn)"))
        for name, rows in table.items():
            error, passes, seconds = (np.array(column) for column in zip(*rows, strict=True))
            print(
                f"| {kind} | {name} | {np.median(error):.4g} | {error.max():.4g} | {(least / error).min():.3g} | "
                f"{(hub / error).min():.3g} | {np.median(passes):.0f} | {np.median(seconds):.2f} |"
            )


def huber(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return HuberRegressor(fit_intercept=False, alpha=0.0, max_iter=1000).fit(X, y).coef_


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
