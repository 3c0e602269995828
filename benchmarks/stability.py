"""Stability selection keeps its bound: python benchmarks/stability.py [--runs 200] [--jobs 2] [--only NAME]

Every run draws new data, selects, and counts the false features among the selected ones. The mean over the runs is
compared with the bound q² / ((2π − 1) p) that the selection states. A setting is kept if the mean is at most the bound;
the table has the standard error of the mean as well.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

import dcopt

TRUE = 5  # The number of features that have an effect: the first ones.


class Setting(NamedTuple):
    name: str
    penalty: str
    classes: bool = False
    correlation: float = 0.0  # between neighbouring columns; |i − j| apart it is this to the power |i − j|
    effect: float = 0.8
    q: int | None = None
    max_false: float | None = None
    threshold: float = 0.75
    n: int = 100
    d: int = 50


SETTINGS = (
    Setting("lasso, a low threshold", "l1", q=7, threshold=0.6),
    Setting("lasso, no feature has an effect", "l1", effect=0.0, q=7, threshold=0.6),
    Setting("lasso, correlated columns", "l1", correlation=0.6, q=7, threshold=0.6),
    Setting("lasso, d > N", "l1", max_false=1.0, d=200),
    Setting("MCP", "mcp", correlation=0.6, q=7, threshold=0.6),
    Setting("logistic lasso", "l1", classes=True, effect=1.5, max_false=1.0),
)


def data(setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng((seed, 7))
    X = draw.normal(size=(setting.n, setting.d))
    a = setting.correlation
    for j in range(1, setting.d):
        X[:, j] = a * X[:, j - 1] + np.sqrt(1.0 - a * a) * X[:, j]
    z = setting.effect * X[:, :TRUE].sum(axis=1) + draw.normal(size=setting.n)
    return X, (z > 0.0).astype(int) if setting.classes else z


def one(setting: Setting, seed: int, halves: int) -> tuple[int, int, float, float]:
    """How many false and how many true features are selected, the bound, and the mean size of a half's set."""
    X, y = data(setting, seed)
    make = dcopt.DCClassifier if setting.classes else dcopt.DCRegressor
    found = dcopt.stability_selection(
        make(penalty=setting.penalty), X, y, q=setting.q, max_false=setting.max_false, threshold=setting.threshold,
        n_halves=halves, n_lams=30, random_state=seed,
    )  # fmt: skip
    true = TRUE if setting.effect else 0
    false = sum(j >= true for j in found.selected)
    return false, len(found.selected) - false, found.bound, float(found.sizes.mean())


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--runs", type=int, default=200)
    asked.add_argument("--halves", type=int, default=50)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--only", default="")
    given = asked.parse_args()
    print("| setting | bound | mean number of false ones | its standard error | of 5 true ones | features of a half |")
    print("|---|---|---|---|---|---|")
    for setting in SETTINGS:
        if given.only not in setting.name:
            continue
        work = (delayed(one)(setting, seed, given.halves) for seed in range(given.runs))
        runs = np.array(Parallel(n_jobs=given.jobs)(work))
        false, true, bound, size = runs.T
        error = false.std(ddof=1) / np.sqrt(len(false))
        found = f"{true.mean():.2f}" if setting.effect else "–"
        row = setting.name, f"{bound[0]:.3g}", f"{false.mean():.3f}", f"{error:.3f}", found, f"{size.mean():.1f}"
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
