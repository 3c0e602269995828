"""Columns far from zero: seconds, and how far above the least F, of fits of raw data with an intercept.

    python benchmarks/shifted.py

l1 at .05 λ_max, 1000 × 20, means of 0, 100, 10⁴ with variance 1; warm, the least of three; saga ends
after 1000 epochs. F is evaluated here, at the
coefficients as they are; the least is that of any solver at any shift, as the problem is the same.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import Lasso, LogisticRegression

import dcopt

SHIFTS = (0.0, 1e2, 1e4)


def problems(n: int = 1000, d: int = 20) -> dict[str, tuple[Any, Any, float]]:
    """X without a shift, y and λ, for either loss"""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d))
    X -= X.mean(axis=0)
    z = X[:, :5].sum(axis=1) + draw.logistic(size=n)
    y, c = z - z.mean(), np.where(z > 0.0, 1.0, -1.0)
    slope = X.T @ (c - c.mean()) / (2 * n)
    most = float(np.abs(X.T @ y).max()) / n, float(np.abs(slope).max())
    return {"squared": (X, y, 0.05 * most[0]), "logistic": (X, c, 0.05 * most[1])}


def solvers(loss: str, n: int, lam: float) -> dict[str, Callable[[], Any]]:
    if loss == "squared":
        return {
            "DCRegressor": lambda: dcopt.DCRegressor(penalty="l1", lam=lam),
            "Lasso": lambda: Lasso(lam, tol=1e-8, max_iter=10**5),
        }
    settings: dict[str, Any] = {"C": 1.0 / (n * lam), "l1_ratio": 1.0, "tol": 1e-6, "max_iter": 1000, "random_state": 0}
    return {
        "DCClassifier": lambda: dcopt.DCClassifier(penalty="l1", lam=lam),
        "saga": lambda: LogisticRegression(solver="saga", **settings),
    }


def value(loss: str, X: Any, y: Any, lam: float, model: Any) -> float:
    """F(coefficients, intercept)"""
    w = np.asarray(model.coef_).ravel()
    z = X @ w + float(np.ravel(model.intercept_)[0])
    f = 0.5 * np.mean((z - y) ** 2) if loss == "squared" else np.mean(np.logaddexp(0.0, -y * z))
    return float(f + lam * np.abs(w).sum())


def main() -> None:
    warnings.simplefilter("ignore")  # who does not converge is seen below
    print("| loss | solver | " + " | ".join(f"means {shift:g}: s, F above the least" for shift in SHIFTS) + " |")
    print("|---|---|" + "---|" * len(SHIFTS))
    for loss, (X, y, lam) in problems().items():
        found: dict[str, list[tuple[float, float]]] = {}
        for name, make in solvers(loss, len(y), lam).items():
            for shift in SHIFTS:
                A, seconds = X + shift, np.inf
                for _ in range(3):
                    start = time.perf_counter()
                    model = make().fit(A, y)
                    seconds = min(seconds, time.perf_counter() - start)
                found.setdefault(name, []).append((seconds, value(loss, A, y, lam, model)))
        least = min(F for row in found.values() for _, F in row)
        for name, row in found.items():
            cells = (f"{seconds:.4f}, {F / least - 1.0:.0e}" for seconds, F in row)
            print(f"| {loss} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
