"""Data as it comes, columns far from zero and of many scales: seconds, and how far above the least F, of fits.

    python benchmarks/raw.py

Every model has an intercept, nothing is standardised; warm, the least of three; saga ends after 1000 epochs. F is
evaluated here, at the coefficients as they are; l1 over entries. First 1000 × 20 with means of 0, 100, 10⁴ and variance
1, λ = .05 λ_max: the least F is that of any solver at any shift, as the problem is the same. Then scikit-learn's own
sets; for penalties over rows, all classes of a feature together, the steps, and the status if it is not CONVERGED.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import Lasso, LogisticRegression

import dcopt

SHIFTS = (0.0, 1e2, 1e4)
SETS = {"iris": load_iris, "wine": load_wine, "digits": load_digits, "breast cancer": load_breast_cancer}
SHARES = (0.1, 0.01, 0.001)  # of λ_max
ROWS = ("l1", "mcp", "scad", "exponential", "capped-l1")


def problems(n: int = 1000, d: int = 20) -> dict[str, tuple[Any, Any, float]]:
    """X without a shift, y and λ, for either loss"""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(n, d))
    X -= X.mean(axis=0)
    z = X[:, :5].sum(axis=1) + draw.logistic(size=n)
    y, c = z - z.mean(), np.where(z > 0.0, 1, 0)
    return {"squared": (X, y, 0.05 * float(np.abs(X.T @ y).max()) / n), "logistic": (X, c, 0.05 * most(X, c))}


def most(X: Any, c: Any) -> float:
    """λ_max of l1 over entries: the largest |∂f| where only the intercepts are not 0"""
    Y = (c[:, None] == np.unique(c)).astype(float)
    return float(np.abs((X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0))).max()) / len(c)


def solvers(loss: str, n: int, lam: float) -> dict[str, Callable[[], Any]]:
    if loss == "squared":
        return {
            "DCRegressor": lambda: dcopt.DCRegressor(penalty="l1", lam=lam),
            "Lasso": lambda: Lasso(lam, tol=1e-8, max_iter=10**5),
        }
    settings: dict[str, Any] = {"C": 1.0 / (n * lam), "l1_ratio": 1.0, "tol": 1e-6, "max_iter": 1000, "random_state": 0}
    return {
        "DCClassifier": lambda: dcopt.DCClassifier(penalty="l1", lam=lam, groups="entries"),
        "saga": lambda: LogisticRegression(solver="saga", **settings),
    }


def value(X: Any, y: Any, lam: float, model: Any) -> float:
    """F(coefficients, intercepts)"""
    W = np.atleast_2d(model.coef_)
    Z = X @ W.T + model.intercept_
    if not hasattr(model, "classes_"):
        f = 0.5 * np.mean((Z[:, 0] - y) ** 2)
    else:
        Z = np.hstack((np.zeros_like(Z), Z)) if Z.shape[1] == 1 else Z
        own = Z[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        f = np.mean(np.logaddexp.reduce(Z, axis=1) - own)
    return float(f + lam * np.abs(W).sum())


def fitted(make: Callable[[], Any], X: Any, y: Any) -> tuple[float, Any]:
    seconds = np.inf
    for _ in range(3):
        start = time.perf_counter()
        model = make().fit(X, y)
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, model


def rows_of(cells: dict[str, list[tuple[float, float]]], least: list[float], what: str) -> None:
    for name, row in cells.items():
        shown = (f"{seconds:.4f}, {F / low - 1.0:.0e}" for (seconds, F), low in zip(row, least, strict=True))
        print(f"| {what} | {name} | " + " | ".join(shown) + " |", flush=True)


def shifted() -> None:
    print("| loss | solver | " + " | ".join(f"means {shift:g}: s, F above the least" for shift in SHIFTS) + " |")
    print("|---|---|" + "---|" * len(SHIFTS))
    for loss, (X, y, lam) in problems().items():
        found: dict[str, list[tuple[float, float]]] = {}
        for name, make in solvers(loss, len(y), lam).items():
            for shift in SHIFTS:
                seconds, model = fitted(make, X + shift, y)
                found.setdefault(name, []).append((seconds, value(X + shift, y, lam, model)))
        least = min(F for row in found.values() for _, F in row)
        rows_of(found, [least] * len(SHIFTS), loss)


def as_they_come() -> None:
    print("\n| data | solver | " + " | ".join(f"λ = {share:g} λ_max: s, F above the least" for share in SHARES) + " |")
    print("|---|---|" + "---|" * len(SHARES))
    for data, load in SETS.items():
        X, y = load(return_X_y=True)
        found: dict[str, list[tuple[float, float]]] = {}
        for share in SHARES:
            lam = share * most(X, y)
            for name, make in solvers("logistic", len(y), lam).items():
                seconds, model = fitted(make, X, y)
                found.setdefault(name, []).append((seconds, value(X, y, lam, model)))
        rows_of(found, [min(F for _, F in column) for column in zip(*found.values(), strict=True)], data)
    print("\n| data | penalty over rows | " + " | ".join(f"{share:g} λ_max: s, steps" for share in SHARES) + " |")
    print("|---|---|" + "---|" * len(SHARES))
    for data, load in SETS.items():
        X, y = load(return_X_y=True)
        for penalty in ROWS:
            cells = []
            for share in SHARES:
                lam = share * most(X, y)
                seconds, model = fitted(lambda lam=lam, p=penalty: dcopt.DCClassifier(penalty=p, lam=lam), X, y)
                said = "" if model.status_ == "CONVERGED" else f" {model.status_}"
                cells.append(f"{seconds:.3f}, {model.n_iter_}{said}")
            print(f"| {data} | {penalty} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")  # who does not converge is seen below
    shifted()
    as_they_come()


if __name__ == "__main__":
    main()
