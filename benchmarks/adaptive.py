"""Passes of κ="adaptive" until F is what the best of 12 constant κ has after 20 passes, with `dca-page`.

    python benchmarks/adaptive.py [seeds] [problem ...]
    python benchmarks/adaptive.py --methods [seeds] [problem ...]
    python benchmarks/adaptive.py --shift [seeds]

The constant κ are 12 powers of 2 around L_f, such that the best is not at an end; each has the median F of the seeds
after 20 passes. An adaptive run is told nothing: no constant, and no κ to begin with; "× 1000" and "/ 1000" begin the
search for the first κ at 1000 times the best constant and at a thousandth of it. It has reached F when F(x_t), looked
at every quarter of a pass (which is not counted), is at most that; the runs go on for 40 passes. A cell has the median
of the seeds (least to most), how many were there within 30 passes, and how many ended higher than F(x0) or not finite.

a9a, w8a, dna.scale: the paper's losses, rows of length 1, exponential penalty with λ = 1/N, α = 5, from 0. welsch and
cauchy: these losses on cadata, columns and targets of variance 1, the same penalty. phase: the mean of
(⟨a_i, x⟩² − b_i)²/4 over 5000 Gaussian rows in 50 dimensions, from the spectral start, where L_f is the largest
curvature of a component at the start.

--methods: the other estimators, against the best of the same 12 constants with the same method.
--shift: a general G; F after so many passes with an adaptive shift η, with 12 constant shifts (2^-8 to 2^3 times 1, or
times the mean intensity), and with the shift that `dca-page` takes from the theory.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import normalize, scale

import dcopt
from dcopt.adaptive import Adaptive
from dcopt.data.check import as_rows
from dcopt.loop import dca
from dcopt.problems.phase_retrieval import Intensity
from dcopt.regularizers import Exponential
from dcopt.solve import first_state
from dcopt.subproblems import choose
from dcopt.sums import LinearSum

NAMES = ("a9a", "w8a", "dna.scale", "welsch", "cauchy", "phase")
LEAST = {"welsch": -12, "cauchy": -12, "phase": -9}  # the exponent of the least constant κ in units of L_f; else −8
BUDGET, SHARE, HORIZON = 20.0, 1.5, 40.0
METHODS = ("dca", "dca-svrg", "mm-svrg", "mm-sarah", "mm-saga", "dca-saga", "sdca")


class Given(NamedTuple):
    P: dcopt.Problem  # without any constant of f
    x0: Any
    L_f: float


def problem(name: str) -> Given:
    if name == "phase":
        draw = np.random.default_rng(5)
        A, true = draw.normal(size=(5000, 50)), draw.normal(size=50)
        b = (A @ true) ** 2
        x0 = dcopt.problems.spectral_start(A, b)
        f = LinearSum(as_rows(A), Intensity(float(b.max())), b)
        return Given(dcopt.Problem(f=f, r="zero"), x0, float(np.max(np.sum(A**2, axis=1) * (3 * (A @ x0) ** 2 - b))))
    X, y = dcopt.load_dataset("cadata" if name in dcopt.losses.LOSSES else name)
    r = Exponential(lam=1 / X.shape[0], alpha=5.0, groups="rows" if name == "dna.scale" else None)
    if name in dcopt.losses.LOSSES:
        P = dcopt.erm(scale(X.toarray()), scale(y), name, r)
    else:
        P = dcopt.erm(normalize(X), y, "softmax" if name == "dna.scale" else "squared-sigmoid", r)
    return Given(dcopt.Problem(f=P.f, r=r), np.zeros(P.shape), P.G.L)


def last(states: Iterator[dcopt.State], n: int, passes: float, seen: Callable[[float, Any], None] | None = None) -> Any:
    """The last x within the passes, None if there is none; `seen` is told passes and x every quarter of a pass."""
    x, told = None, -1.0
    for state in states:
        spent = state.spent.gradients / n
        if spent > passes or not np.isfinite(state.x).all():
            return state.memory.good.x if hasattr(state.memory, "good") else x
        x = state.x
        if seen is not None and spent >= told + 0.25:
            told = spent
            seen(spent, x)
    return x


def level(F: float) -> float:
    return F if math.isfinite(F) else math.inf


def constant(P: dcopt.Problem, x0: Any, method: str, seeds: int) -> float:
    """The median F after 20 passes"""
    ends = []
    for seed in range(1 if method == "dca" else seeds):
        x = last(dcopt.iterate(P, method, seed=seed, x0=x0), P.n or 1, BUDGET)
        ends.append(level(P.value(x0 if x is None else x)))
    return float(np.median(ends))


def adaptive(given: Given, method: str, seeds: int, target: float, first: float | None) -> str:
    """Passes until F is at most the target, in words"""
    P, x0, _ = given
    how, hits, rose = Adaptive() if first is None else Adaptive(first=first), [], 0
    for seed in range(1 if method == "dca" else seeds):
        hit = [math.inf]

        def seen(spent: float, x: Any, hit: list[float] = hit) -> None:
            if P.value(x) <= target:
                hit[0] = min(hit[0], spent)

        x = last(dcopt.iterate(P, method, seed=seed, x0=x0, kappa=how), P.n or 1, HORIZON, seen)
        hits.append(hit[0])
        rose += not level(P.value(x)) <= P.value(x0)
    within = sum(hit <= SHARE * BUDGET for hit in hits)
    return f"{np.median(hits):.1f} ({min(hits):.1f} to {max(hits):.1f}), {within} of {len(hits)}, {rose}"


def compare(name: str, method: str, seeds: int, starts: bool = True) -> None:
    given, least = problem(name), LEAST.get(name, -8)
    kappas = {k: given.L_f * 2.0**k for k in range(least, least + 12)}
    tried = {k: constant(given.P.with_kappa(kappa), given.x0, method, seeds) for k, kappa in kappas.items()}
    best = min(tried, key=lambda k: tried[k])
    firsts = (None, 1e3 * kappas[best], 1e-3 * kappas[best]) if starts else (None,)
    cells = [adaptive(given, method, seeds, tried[best], first) for first in firsts]
    end = "" if least < best < least + 11 else " (an end)"
    print(f"| {name} | `{method}` | 2^{best} L_f{end} | {tried[best]:.7g} | " + " | ".join(cells) + " |", flush=True)


def main(seeds: int, names: list[str]) -> None:
    heads = "problem | method | best constant κ | its F | adaptive | begun × 1000 | begun / 1000"
    print(f"| {heads} |\n" + "|---" * 7 + "|")
    for name in names:
        compare(name, "dca-page", seeds)


def methods(seeds: int, names: list[str]) -> None:
    print("| problem | method | best constant κ | its F | adaptive |\n" + "|---" * 5 + "|")
    for name in names:
        for method in METHODS:
            compare(name, method, seeds, starts=False)


def shift(seeds: int) -> None:
    """Problem (M): robust regression with the square as G, phase retrieval with the quartics as G"""
    X, y = dcopt.load_dataset("cadata")
    draw = np.random.default_rng(5)
    A, true = draw.normal(size=(2000, 20)), draw.normal(size=20)
    b = (A @ true) ** 2
    robust = dcopt.problems.robust_regression(scale(X.toarray()), scale(y), "welsch", scale=1.0)
    given = {
        "cadata, Welsch, G the square": (robust, np.zeros(robust.shape), 1.0, BUDGET),
        "phase retrieval, G the quartics": (
            dcopt.problems.phase_retrieval(A, b), dcopt.problems.spectral_start(A, b), float(b.mean()), 100 * BUDGET,
        ),
    }  # fmt: skip
    print("| problem | passes | the best of 12 constant η: F | η of the theory: F | adaptive: F |\n" + "|---" * 5 + "|")
    for name, (P, x0, unit, passes) in given.items():
        n = P.n or 1
        estimator, tried = dcopt.METHODS["dca-page"].estimator(n), {}
        for k in range(-8, 4):
            Q = P.shift(unit * 2.0**k)
            runs = (dca(Q, estimator, choose(Q.G, Q.r), first_state(Q, x0), s) for s in range(seeds))
            tried[k] = float(np.median([level(P.value(last(run, n, passes))) for run in runs]))
        best = min(tried, key=lambda k: tried[k])
        ends = [
            float(np.median([
                level(P.value(last(dcopt.iterate(P, "dca-page", seed=s, x0=x0, kappa=how), n, passes)))
                for s in range(seeds)
            ]))
            for how in (None, "adaptive")
        ]  # fmt: skip
        found = f"η = {unit * 2.0**best:.3g}: {tried[best]:.7g}"
        print(f"| {name} | {passes:.0f} | {found} | {ends[0]:.7g} | {ends[1]:.7g} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--methods"]:
        methods(int((sys.argv[2:] or [3])[0]), sys.argv[3:] or ["a9a", "dna.scale"])
    elif sys.argv[1:2] == ["--shift"]:
        shift(int((sys.argv[2:] or [10])[0]))
    else:
        main(int((sys.argv[1:] or [10])[0]), sys.argv[2:] or list(NAMES))
