"""Passes to a fixed gap against N, with "auto" and without growing samples: N = 10^4 … 10^7 rows, d = 20.

    python benchmarks/rows.py [largest N] [figure.png]

Squared sigmoid + exponential penalty on synthetic rows of one distribution; the same λ for every N.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import dcopt
from dcopt.regularizers import Exponential

D, TOL, SEEDS = 20, 1e-6, 5
METHODS = ("auto", "dca-local", "dca-page")


def rows(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    X /= np.sqrt(D)
    z = X[:, :5].sum(axis=1) * 4 + rng.logistic(size=n)
    return X, np.where(z > 0, 1.0, -1.0)


def main(largest: float = 1e7, path: str | None = None) -> None:
    print("| N | " + " | ".join(f"{m}: passes (least, most), s" for m in METHODS) + " | auto took |")
    print("|---|" + "---|" * (len(METHODS) + 1))
    sizes, lines = [int(n) for n in (1e4, 1e5, 1e6, 1e7) if n <= largest], {m: [] for m in METHODS}
    for n in sizes:
        X, y = rows(n)
        P = dcopt.erm(X, y, "squared-sigmoid", Exponential(lam=1e-3, alpha=5.0))
        cells, took = [], ""
        for method in METHODS:
            runs = []
            for seed in range(1 if method == "dca-local" else 2 if n > 10**6 else SEEDS):
                trace = 0.2 if method != "dca-page" or n <= 10**5 else 1.0
                r = dcopt.solve(P, method, passes=30, seed=seed, measure="gap", tol=TOL, trace=trace)
                hit = next(((q.passes, q.seconds) for q in r.trace if q.measure <= TOL), (np.inf, np.inf))
                runs.append(hit)
                took = r.method if method == "auto" else took
            passes, seconds = np.array(runs).T
            lines[method].append(float(np.median(passes)))
            cells.append(f"{np.median(passes):.2f} ({passes.min():.2f}, {passes.max():.2f}), {np.median(seconds):.3g}")
        print(f"| {n:,} | " + " | ".join(cells) + f" | {took} |", flush=True)
    if path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
        for method, values in lines.items():
            axis.loglog(sizes, values, "o-", label=method)
        axis.set(xlabel="N", ylabel=f"passes until the gap is {TOL:g}")
        axis.legend(frameon=False)
        figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*(float(a) for a in sys.argv[1:2]), *sys.argv[2:3])
