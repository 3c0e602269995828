"""Robust regression with gross errors: python benchmarks/problems/robust_regression.py [first seed] [seeds]

N = 20000, d = 50, noise 0.1, and gross errors in 30 % of the rows, of four kinds:
"another model"     y = −10 ⟨a, x⟩ + noise: errors that go with the rows, as a second population makes them
"and rows × 1.25"   the same, these rows 1.25 times as long as the others: a bounded slope does not bound their pull
"and rows × 2"      the same, twice as long
"symmetric noise"   y + 50 · normal: errors that have nothing to do with the rows
The fit starts from `robust_start`, takes its scale from the residuals there, and again from those of the first solve.
All settings are defaults, tol = 1e-10. "from least squares" starts there instead and estimates the scale 30 times.
"good rows only" is least squares by one who knows which rows are wrong.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
from sklearn.linear_model import HuberRegressor

import dcopt
from dcopt.problems import robust_regression, robust_start, scale_of

N, D, BAD = 20_000, 50, 0.3
KINDS = {"another model": 1.0, "and rows × 1.25": 1.25, "and rows × 2": 2.0, "symmetric noise": 1.0}


def data(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X, x = draw.normal(size=(N, D)), draw.normal(size=D)
    bad = draw.permutation(N)[: int(BAD * N)]
    X[bad] *= KINDS[kind]
    y = X @ x + 0.1 * draw.normal(size=N)
    y[bad] = y[bad] + 50.0 * draw.normal(size=len(bad)) if kind == "symmetric noise" else -10.0 * y[bad]
    return X, y, x, np.delete(np.arange(N), bad)


def least_squares(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(X, y)[0]


def huber(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return HuberRegressor(fit_intercept=False, alpha=0.0, max_iter=1000).fit(X, y).coef_


def robust(X: np.ndarray, y: np.ndarray, loss: str, method: str, start=robust_start, rounds: int = 2) -> np.ndarray:
    x = start(X, y)
    for _ in range(rounds):
        P = robust_regression(X, y, loss, scale=scale_of(X @ x - y, loss))
        x = dcopt.solve(P, method, passes=200, tol=1e-10, x0=x, seed=0, trace=None).x
    return x


FITS = {
    "least squares": least_squares,
    "Huber (scikit-learn)": huber,
    "tukey, dca-page": lambda X, y: robust(X, y, "tukey", "dca-page"),
    "welsch, dca-page": lambda X, y: robust(X, y, "welsch", "dca-page"),
    "tukey, dca": lambda X, y: robust(X, y, "tukey", "dca"),
    "tukey, dca, from least squares": lambda X, y: robust(X, y, "tukey", "dca", least_squares, 30),
}


def main(first: int = 200, seeds: int = 10) -> None:
    print("| errors | estimate | median error | worst | vs least squares | vs Huber | ten times smaller | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        error: dict[str, list[float]] = {name: [] for name in (*FITS, "good rows only")}
        seconds: dict[str, list[float]] = {name: [] for name in error}
        for seed in range(first, first + seeds):
            X, y, true, good = data(seed, kind)
            for name in error:
                began = perf_counter()
                x = FITS[name](X, y) if name in FITS else least_squares(X[good], y[good])
                seconds[name].append(perf_counter() - began)
                error[name].append(float(np.linalg.norm(x - true)))
        least, hub = (np.array(error[name]) for name in ("least squares", "Huber (scikit-learn)"))
        for name, values in error.items():
            e = np.array(values)
            ten = int(np.sum((least >= 10 * e) & (hub >= 10 * e)))
            print(
                f"| {kind} | {name} | {np.median(e):.4g} | {e.max():.4g} | {(least / e).min():.3g} | "
                f"{(hub / e).min():.3g} | {ten} of {seeds} | {np.median(seconds[name]):.2f} |"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
