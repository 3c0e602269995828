"""Accuracy and features kept: four nonconvex penalties and l1 against scikit-learn's l1, λ by CV on both sides.

    python benchmarks/selection.py [--quick] [data set ...]

a9a, w8a and madelon have a test part of their own; colon-cancer and mushrooms are split in five, twice (--quick: once).
Rows are used as they are, but for madelon and colon-cancer, whose columns are standardised on the training part.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import dcopt

HELD_OUT = {"a9a": "a9a.t", "w8a": "w8a.t", "madelon": "madelon.t"}
DENSE = ("madelon", "colon-cancer")
PENALTIES: dict[str, Any] = {
    "scad": "scad",
    "mcp": "mcp",
    "exponential": dcopt.regularizers.Exponential(lam=1.0, alpha=5.0),
    "capped-l1": dcopt.regularizers.CappedL1(lam=1.0, theta=0.5),
    "l1": "l1",
}
FOLDS, GRID, RATIO = StratifiedKFold(5, shuffle=True, random_state=0), 30, 1e-3  # mushrooms is in order


def parts(name: str, repeats: int) -> Iterator[tuple[Any, Any, Any, Any]]:
    """(X, y, X_test, y_test), labels ±1."""
    X, y = dcopt.load_dataset(name)
    y = np.where(y == np.max(y), 1, -1)
    if name in HELD_OUT:
        other, z = dcopt.load_dataset(HELD_OUT[name])
        yield _scaled(name, X, y, other, np.where(z == np.max(z), 1, -1))
        return
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    for train, test in folds.split(np.zeros(len(y)), y):
        yield _scaled(name, X[train], y[train], X[test], y[test])


def _scaled(name: str, X: Any, y: Any, other: Any, z: Any) -> tuple[Any, Any, Any, Any]:
    if name not in DENSE:
        return X, y, other, z
    scale = StandardScaler().fit(X.toarray())
    return scale.transform(X.toarray()), y, scale.transform(other.toarray()), z


def ours(penalty: Any, X: Any, y: Any) -> Any:
    return dcopt.DCClassifierCV(
        penalty=penalty, n_lams=GRID, ratio=RATIO, cv=FOLDS, tol=1e-4, random_state=0, max_passes=500
    ).fit(X, y)


def theirs(X: Any, y: Any) -> Any:
    """λ on the same grid: C = 1/(N λ)."""
    top = float(np.max(np.abs(np.asarray(X.T @ (y - np.mean(y)))))) / 2 / len(y)
    lams = top * np.logspace(0, np.log10(RATIO), GRID)
    settings: Any = {"Cs": 1 / (len(y) * lams), "cv": FOLDS, "solver": "liblinear", "scoring": "neg_log_loss"}
    return LogisticRegressionCV(**settings, l1_ratios=(1.0,), use_legacy_attributes=False).fit(X, y)


def main(names: list[str], repeats: int) -> None:
    print("| data | penalty | test accuracy | features | not converged | seconds |\n|---|---|---|---|---|---|")
    for name in names:
        splits = list(parts(name, repeats))
        for label in (*PENALTIES, "scikit-learn l1"):
            scores, kept, late, began = [], [], 0, perf_counter()
            for X, y, other, z in splits:
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    model = ours(PENALTIES[label], X, y) if label in PENALTIES else theirs(X, y)
                late += any(issubclass(w.category, ConvergenceWarning) for w in said)
                scores.append(np.mean(model.predict(other) == z))
                kept.append(np.count_nonzero(model.coef_))
            spread = f" ± {np.std(scores, ddof=1):.4f}" if len(scores) > 1 else ""
            middle = f"{np.mean(kept):.1f} of {splits[0][0].shape[1]}"
            line = f"| {name} | {label} | {np.mean(scores):.4f}{spread} | {middle} | {late} of {len(splits)} |"
            print(f"{line} {(perf_counter() - began) / len(splits):.1f} |", flush=True)


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    main(words or ["a9a", "w8a", "madelon", "colon-cancer", "mushrooms"], 1 if "--quick" in sys.argv else 2)
