"""Sums of squares against scikit-learn's KMeans: python benchmarks/problems/clustering.py [seeds]

KMeans makes 10 starts (and 100) by k-means++ and runs Lloyd's algorithm from each. Ours get the same processor time and
make starts of their own by k-means++ until it is over; a run that is not at its end is cut. The least F is kept.
Excess: F / that of KMeans − 1; equal: within 1e-4. "smoothed": three runs with falling temperature from each start, and
one without. "swaps": every run after the first is from the best x with one centre moved (`clustering_swap`).
"pendigits-like": 10992 points of dimension 16 from 30 normal clusters in 10 groups, since scikit-learn has no such set.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import dcopt
from dcopt.problems import clustering, clustering_start, clustering_swap

PASSES, TOL = 200, 1e-3  # of one run; KMeans has 300 iterations, and ends where centres move by 1 % of a deviation
FALL = (2.0, 1.0, 0.5)  # temperatures, in units of the variance of a coordinate about its centre at the start
Way = tuple[str, str | None, str]  # a method, its κ, and how its runs start


def pendigits_like(seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    centres = 50.0 + 18.0 * draw.normal(size=(10, 3, 16))
    which = draw.integers(10, size=10992), draw.integers(3, size=10992)
    return centres[which] + 12.0 * draw.normal(size=(10992, 16))


def one(P: dcopt.Problem, x0: np.ndarray, seed: int, method: str, kappa: str | None, until: float) -> dcopt.Result:
    """A run; the time may be over before its end."""
    stop: list[Callable[[Any], bool]] = [lambda state: process_time() >= until]
    how = {"passes": PASSES, "tol": TOL, "measure": "criticality", "trace": None, "callbacks": stop}
    return dcopt.solve(P, method, x0=x0, seed=seed, kappa=kappa, **how)


def ours(A: np.ndarray, k: int, seed: int, seconds: float, way: Way) -> tuple[float, int]:
    """The least F of the runs that the time allows, and their number"""
    method, kappa, how = way
    until, best, runs = process_time() + seconds, np.inf, 0
    kept, P = clustering_start(A, k, seed=1000 * seed), clustering(A, k)
    while process_time() < until:
        if runs == 0:
            x = kept
        else:
            x = (
                clustering_swap(P, kept, seed=runs)
                if how == "swaps"
                else clustering_start(A, k, seed=1000 * seed + runs)
            )
        if how == "smoothed":
            scale = 2.0 * P.value(x) / A.shape[1]
            for T in FALL:
                x = one(clustering(A, k, smoothing=T * scale), x, seed, method, kappa, until).x
        res = one(P, x, seed, method, kappa, until)
        if res.certificate.F < best:
            best, kept = res.certificate.F, res.x
        runs += 1
    return best, runs


OURS: dict[str, Way] = {
    "dca, κ = 1": ("dca", None, "starts"),
    "dca, adaptive κ": ("dca", "adaptive", "starts"),
    "dca-svrg, adaptive κ": ("dca-svrg", "adaptive", "starts"),
    "dca-page, adaptive κ": ("dca-page", "adaptive", "starts"),
    "dca, adaptive κ, smoothed": ("dca", "adaptive", "smoothed"),
    "dca-page, adaptive κ, smoothed": ("dca-page", "adaptive", "smoothed"),
    "dca, adaptive κ, swaps": ("dca", "adaptive", "swaps"),
    "dca-svrg, adaptive κ, swaps": ("dca-svrg", "adaptive", "swaps"),
}

LONG = ("dca, adaptive κ", "dca, adaptive κ, swaps")  # also in the time of 100 starts of KMeans


def main(seeds: int = 10) -> None:
    print("| data | k | method | mean squared distance (median) | median excess | least | largest ", end="")
    print("| less, equal, more | runs | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, A in (("digits", load_digits().data), ("pendigits-like", pendigits_like())):
        for k in (10, 30):
            KMeans(k, n_init=1, random_state=0).fit(A)
            for starts, methods in ((10, OURS), (100, {label: OURS[label] for label in LONG})):
                compare(name, A, k, seeds, starts, methods)


def compare(name: str, A: np.ndarray, k: int, seeds: int, starts: int, methods: dict[str, Way]) -> None:
    """The rows of one set of points, one k and one time"""
    theirs, seconds = np.empty(seeds), np.empty(seeds)
    for seed in range(seeds):
        began = process_time()
        theirs[seed] = KMeans(k, n_init=starts, random_state=seed).fit(A).inertia_ / len(A)
        seconds[seed] = process_time() - began
    middle = np.median(theirs), np.median(seconds)
    print(f"| {name} | {k} | KMeans | {middle[0]:.6g} | | | | | {starts} | {middle[1]:.3f} |", flush=True)
    for label, how in methods.items():
        F, runs = np.array([ours(A, k, seed, seconds[seed], how) for seed in range(seeds)]).T
        excess = 2.0 * F / theirs - 1.0
        less, more = int(np.sum(excess < -1e-4)), int(np.sum(excess > 1e-4))
        print(
            f"| {name} | {k} | {label} | {np.median(2 * F):.6g} | {np.median(excess):+.2%} | {excess.min():+.2%} | "
            f"{excess.max():+.2%} | {less}, {seeds - less - more}, {more} | {np.median(runs):.0f} | the same |",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
