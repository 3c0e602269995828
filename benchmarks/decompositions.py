"""Passes and seconds until F is what `dca-page` with the paper's G has after 40 passes, and until the best F known.

    python benchmarks/decompositions.py [seeds] [data set ...]
    python benchmarks/decompositions.py --ends [seeds] [data set ...]
    python benchmarks/decompositions.py --least [seeds]
    python benchmarks/decompositions.py --estimators [seeds] [data set ...]

Squared sigmoid + exponential penalty, λ = 1/N, α = 5, rows of length 1, from 0 (auto: no x0); connect-4 is one class
against rest; dna.scale is softmax. The best F is the least that any method had at the end of any run here (local and
nested to a distance of 1e-8, dca-page for 400 passes). Seconds are the methods' own, as in traces: looking at F is not
counted.

--ends: where `dca-page`, `dca-local` and `auto` end after 100 passes, on every data set (1, or the first half of many
classes, against the rest; least squares for targets, columns and targets of variance 1).

--least: how often they end at the least critical point that DCA reaches from the least squares of any subset of the
columns, on synthetic problems with 7 columns that stand for each other.

--estimators: F of every method after 12 passes with every decomposition, and its seconds (medians), from x0 = 0.
"""

from __future__ import annotations

import sys
from itertools import chain, combinations
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize, scale

import dcopt
from dcopt.regularizers import MCP, SCAD, Exponential

NAMES = ("a9a", "w8a", "connect-4", "mushrooms", "dna.scale")
TARGETS = ("cadata", "abalone_scale", "housing_scale")
MORE = ("a1a", "w1a", "heart_scale", "breast-cancer", "german.numer_scale", "splice_scale", "madelon", "colon-cancer",
        "news20", "sector.scale")  # fmt: skip


def problem(name: str, **options: Any) -> dcopt.Problem:
    X, y = dcopt.load_dataset(name)
    r = Exponential(lam=1 / X.shape[0], alpha=5.0)
    if name in TARGETS:
        return dcopt.erm(scale(X.toarray()), scale(y), "squared", r)
    classes, loss = np.unique(y), "softmax" if name == "dna.scale" else "squared-sigmoid"
    if len(classes) > 2 and loss != "softmax":
        some = [1.0] if name == "connect-4" else classes[: len(classes) // 2]
        y = np.where(np.isin(y, some), 1, -1)
    return dcopt.erm(normalize(X), y, loss, r, **options)


def first(trace: Any, F: float) -> tuple[float, float]:
    """Passes and seconds until F, or infinity."""
    return next(((r.passes, r.seconds) for r in trace if r.F <= F), (np.inf, np.inf))


def best(P: dcopt.Problem, seeds: int) -> tuple[float, str]:
    """The least F that anyone ends with, and who."""
    found = [(dcopt.solve(P, "dca-page", passes=400, seed=0, trace=None).certificate.F, "dca-page")]
    for method in ("dca-local", "dca-nested"):
        for seed in range(seeds if method == "dca-nested" else 1):
            end = dcopt.solve(P, method, tol=1e-8, measure="criticality", passes=300, seed=seed, trace=None)
            found.append((end.certificate.F, method))
    return min(found)


def ends(seeds: int, names: list[str]) -> None:
    """Where they end with the same seeds and passes, and how often above dca-page."""
    print("| data | dca-page: least, median F | dca-local | auto: median, most | auto took | local, auto above it |")
    print("|---|---|---|---|---|---|")
    for name in names:
        P = problem(name)
        settings: dict[str, Any] = {"passes": 100, "tol": 1e-8, "measure": "criticality", "trace": None}
        page, local, auto = (
            [dcopt.solve(P, method, seed=s, **settings) for s in range(seeds if method != "dca-local" else 1)]
            for method in ("dca-page", "dca-local", "auto")
        )
        F, mine = (np.array([r.certificate.F for r in runs]) for runs in (page, auto))
        one = local[0].certificate.F
        above = [int(np.sum(Fs > F * (1 + 1e-9))) for Fs in (np.full_like(F, one), mine)]
        print(f"| {name} | {F.min():.6g}, {np.median(F):.6g} | {one:.6g} | {np.median(mine):.6g}, {mine.max():.6g} "
              f"| {auto[0].method} | {above[0]}, {above[1]} of {seeds} |", flush=True)  # fmt: skip


def least(seeds: int, d: int = 7, n: int = 80) -> None:
    """Against enumeration."""
    settings: dict[str, Any] = {"tol": 1e-9, "measure": "criticality", "trace": None, "seed": 0}
    heads = "auto", "dca-local from the same starts", "from 0", "DCRegressor", "with search=True"
    print("| penalty | problems | " + " | ".join(heads) + " |\n|---|" + "---|" * (1 + len(heads)))
    for r in (MCP(lam=0.1), SCAD(lam=0.08), Exponential(lam=0.04, alpha=4.0)):
        hits = np.zeros(5, np.int64)
        for seed in range(seeds):
            draw = np.random.default_rng(seed)
            X = 0.3 * (draw.normal(size=(n, d)) + draw.normal(size=(n, 1)))
            y = X @ np.where(np.arange(d) % 3 == 0, 1.0, 0.0) + draw.normal(size=n)
            P, starts = dcopt.erm(X, y, "squared", r), [np.zeros(d)]
            for S in chain.from_iterable(combinations(range(d), k) for k in range(1, d + 1)):
                x = np.zeros(d)
                x[list(S)] = np.linalg.lstsq(X[:, S], y, rcond=None)[0]
                starts.append(x)
            ends = [dcopt.solve(P, "dca-local", x0=x, **settings).certificate.F for x in starts]
            mine = [dcopt.solve(P, method, **settings).certificate.F for method in ("auto", "dca-local")]
            model = dcopt.DCRegressor(penalty=r, fit_intercept=False, tol=1e-9)
            fits = [model.set_params(search=search).fit(X, y).objective_ for search in (False, True)]
            hits += np.array([*mine, ends[0], *fits]) <= min(ends) + 1e-9
        print(f"| {type(r).__name__} | {seeds} | " + " | ".join(map(str, hits)) + " |", flush=True)


def estimators(seeds: int, names: list[str], passes: float = 12.0) -> None:
    """What each estimator makes of each G: F at the last line of the trace within the budget."""
    kinds = ("scalar", "diagonal", "gram", "local")
    methods = ("dca", "dca-page", "dca-svrg", "dca-saga", "sdca", "mm-saga", "mm-svrg", "mm-sarah", "online-dca")
    for name in names:
        print(f"| {name} | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds))
        problems = [problem(name, decomposition=kind) for kind in kinds]
        for method in methods:
            cells = []
            for P in problems:
                settings: dict[str, Any] = {"passes": passes, "trace": 0.25, "x0": np.zeros(P.shape)}
                dcopt.solve(P, method, seed=0, steps=2, trace=None)  # compiles
                runs = [dcopt.solve(P, method, seed=s, **settings) for s in range(1 if method == "dca" else seeds)]
                ends = [[(r.F, r.seconds) for r in run.trace if r.passes <= passes][-1] for run in runs]
                F, seconds = np.median(ends, axis=0)
                cells.append(f"{F:.5f}, {seconds:.2f}")
            print(f"| `{method}` | " + " | ".join(cells) + " |", flush=True)
        print()


def main(seeds: int, names: list[str]) -> None:
    print(
        "| data | dca-page, 40 passes: F | s | auto took | passes to that F: median, worst | s | share of its s | "
        "best F, of | auto ends at | passes to within .1 % of it | of its own end |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    hits = []
    for name in names:
        P = problem(name)
        dcopt.solve(P, "auto", passes=3, seed=0, trace=None)  # compiles
        page = [dcopt.solve(P, "dca-page", passes=40, seed=s, trace=None) for s in range(seeds)]
        auto = [dcopt.solve(problem(name), "auto", passes=100, tol=1e-8, measure="criticality", seed=s, trace=1e-9)
                for s in range(seeds)]  # fmt: skip
        target, took = np.median([(r.certificate.F, r.seconds) for r in page], axis=0)
        passes, seconds = np.array([first(r.trace, target) for r in auto]).T
        ends = np.array([r.certificate.F for r in auto])
        least, who = min(best(P, seeds), (float(ends.min()), "auto"))
        near = np.array([first(r.trace, 1.001 * least)[0] for r in auto])
        own = np.array([first(r.trace, 1.001 * r.certificate.F)[0] for r in auto])
        hits.append(np.median(passes))
        print(
            f"| {name} | {target:.5f} | {took:.3f} | {auto[0].method} | {np.median(passes):.2f}, {passes.max():.2f} | "
            f"{np.median(seconds):.3f} | {np.median(seconds) / took:.2f} | {least:.5f} {who} | "
            f"{ends.min():.5f} to {ends.max():.5f} | {np.median(near):.1f}, {near.max():.1f} | "
            f"{np.median(own):.1f}, {own.max():.1f} |",
            flush=True,
        )
    print(f"\nGeometric mean of the median passes: {np.exp(np.mean(np.log(hits))):.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ends"]:
        ends(int((sys.argv[2:] or [10])[0]), sys.argv[3:] or [*NAMES, *MORE, *TARGETS])
    elif sys.argv[1:2] == ["--estimators"]:
        estimators(int((sys.argv[2:] or [3])[0]), sys.argv[3:] or ["a9a", "w8a"])
    elif sys.argv[1:2] == ["--least"]:
        least(int((sys.argv[2:] or [30])[0]))
    else:
        main(int((sys.argv[1:] or [5])[0]), sys.argv[2:] or list(NAMES))
