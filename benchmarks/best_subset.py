"""The best k features: dcopt's "l0(k=…)" beside abess and enumeration. python benchmarks/best_subset.py [--quick]

Least squares on normal columns with correlation ρ^|i − j|, k true features, and a signal to noise ratio. "Exact" is the
share of the data sets on which the loss is the least of all subsets of size k, by enumeration, where there are at most
30 features; otherwise the share on which it is the lower one of the two (both, where they are equal). Seconds are those
of one fit, the median, with one thread. abess fits with support_size=k and its default settings.

Needs abess beside dcopt: pip install abess.
"""

from __future__ import annotations

import argparse
import os
from itertools import combinations
from math import comb
from time import perf_counter
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # abess has its own threads.
os.environ.setdefault("DCOPT_THREADS", "1")

import numpy as np
from abess import LinearRegression

import dcopt

CHUNK = 20_000  # The number of subsets whose systems are solved at once.
SAME = 1e-8  # Two losses are equal up to this relative difference.


class Setting(NamedTuple):
    n: int
    d: int
    k: int
    rho: float
    snr: float


SETTINGS = [
    *(Setting(60, 20, 4, rho, snr) for rho in (0.0, 0.5, 0.9) for snr in (0.5, 2.0)),
    *(Setting(100, 30, 5, rho, snr) for rho in (0.5, 0.9) for snr in (0.5, 2.0)),
    *(Setting(200, 200, 8, rho, snr) for rho in (0.5, 0.9) for snr in (0.5, 2.0)),
    *(Setting(300, 2000, 10, rho, 2.0) for rho in (0.5, 0.9)),
]


def data(s: Setting, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng((seed, s.d))
    X = draw.normal(size=(s.n, s.d))
    for j in range(1, s.d):
        X[:, j] = s.rho * X[:, j - 1] + np.sqrt(1.0 - s.rho**2) * X[:, j]
    coef = np.zeros(s.d)
    coef[draw.choice(s.d, s.k, replace=False)] = draw.choice([-1.0, 1.0], s.k) * draw.uniform(0.5, 1.5, s.k)
    z = X @ coef
    return X, z + np.sqrt(z.var() / s.snr) * draw.normal(size=s.n)


def loss_of(X: np.ndarray, y: np.ndarray, features: np.ndarray) -> float:
    """The least mean of squares over these features and an intercept."""
    A = np.column_stack([X[:, features], np.ones(len(y))])
    return float(np.mean((A @ np.linalg.lstsq(A, y)[0] - y) ** 2))


def least(X: np.ndarray, y: np.ndarray, k: int) -> float:
    """The least loss of all subsets of size k."""
    X, y = X - X.mean(axis=0), y - y.mean()
    Q, c = X.T @ X, X.T @ y
    best = 0.0
    every = np.fromiter(combinations(range(X.shape[1]), k), np.dtype((np.int64, k)), comb(X.shape[1], k))
    for part in np.array_split(every, max(1, len(every) // CHUNK)):
        v = np.linalg.solve(Q[part[:, :, None], part[:, None, :]], c[part][..., None])[..., 0]
        best = max(best, float(np.max(np.sum(v * c[part], axis=1))))
    return float(y @ y - best) / len(y)


def ours(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return dcopt.DCRegressor(penalty=f"l0(k={k})").fit(X, y).coef_


def abess(X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    return LinearRegression(support_size=k, thread=1).fit(X, y).coef_


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true", help="5 data sets for each setting instead of 30")
    sets = 5 if asked.parse_args().quick else 30
    for method in (ours, abess):  # Compile, and load libraries.
        method(*data(SETTINGS[0], 0), 4)
    print("| N | d | k | ρ | signal/noise | dcopt exact | abess exact | dcopt s | abess s | enumeration s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    totals = np.zeros(3)
    for s in SETTINGS:
        hits, seconds, counted = np.zeros(2), np.zeros((sets, 3)), s.d <= 30
        for seed in range(sets):
            X, y = data(s, seed)
            losses = []
            for i, method in enumerate((ours, abess)):
                began = perf_counter()
                coef = method(X, y, s.k)
                seconds[seed, i] = perf_counter() - began
                losses.append(loss_of(X, y, np.flatnonzero(coef)))
            began = perf_counter()
            best = least(X, y, s.k) if counted else min(losses)
            seconds[seed, 2] = perf_counter() - began
            hits += np.array(losses) <= best * (1.0 + SAME)
        totals += (*hits, sets) if counted else (0, 0, 0)
        first, second = (f"{h:.0f}/{sets}" + ("" if counted else " lower") for h in hits)
        mine, theirs, all_of_them = (f"{t:.3g}" for t in np.median(seconds, axis=0))
        row = s.n, s.d, s.k, s.rho, s.snr, first, second, mine, theirs, all_of_them if counted else "–"
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(f"\nexact, of those enumerated: dcopt {totals[0]:.0f}, abess {totals[1]:.0f} of {totals[2]:.0f}")


if __name__ == "__main__":
    main()
