"""Many classes and many columns: l1 over single coefficients, seconds and F of `DCClassifier` and scikit-learn's saga.

    DCOPT_DATA=... python benchmarks/classes.py [epochs of saga, 30 if not said]

news20 (20 classes, 62,061 columns) and sector.scale (105, 55,197), an intercept. F is evaluated here. saga has so many
epochs, DCClassifier its own certificate.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import dcopt

SETS, SHARES = ("news20", "sector.scale"), (0.1, 0.01)


def value(X: Any, y: Any, lam: float, model: Any) -> float:
    """F(coefficients, intercepts)"""
    Z = np.asarray(X @ model.coef_.T) + model.intercept_
    own = Z[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.mean(np.logaddexp.reduce(Z, axis=1) - own) + lam * np.abs(model.coef_).sum())


def main() -> None:
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    warnings.simplefilter("ignore")
    print("| data | λ/λ_max | DCClassifier: s, F, status, passes, non-zeros | saga: epochs, s, F, non-zeros |")
    print("|---|---|---|---|")
    for data in SETS:
        X, y = dcopt.load_dataset(data)
        Y = (y[:, None] == np.unique(y)).astype(float)
        most = float(np.abs(np.asarray(X.T @ (Y - Y.mean(axis=0)))).max()) / len(y)
        for share in SHARES:
            lam = share * most
            start = time.perf_counter()
            ours = dcopt.DCClassifier(penalty="l1", lam=lam, groups="entries", tol=1e-3).fit(X, y)
            mine = time.perf_counter() - start
            settings: dict[str, Any] = {"C": 1.0 / (len(y) * lam), "l1_ratio": 1.0, "max_iter": epochs, "tol": 0.0}
            start = time.perf_counter()
            saga = LogisticRegression(solver="saga", random_state=0, **settings).fit(X, y)
            other = time.perf_counter() - start
            said = f"{mine:.1f}, {value(X, y, lam, ours):.5f}, {ours.status_}, {ours.trace_['passes'][-1]:.0f}, "
            theirs = f"{epochs}, {other:.1f}, {value(X, y, lam, saga):.5f}, {np.count_nonzero(saga.coef_)}"
            print(f"| {data} | {share} | {said}{np.count_nonzero(ours.coef_)} | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
