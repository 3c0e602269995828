"""Phase retrieval: python benchmarks/problems/phase_retrieval.py [figure.png]

n = 100, m = 600 Gaussian measurements without noise, seeds 200 to 209, all from the spectral start. "quartic": G is the
mean of the quartics, so that a step is a convex program over all rows (Newton-CG), whose passes are counted. "bregman":
G = c/4 |x|⁴ + η/2 |x|², a closed form. Methods have their default sizes, and dca-page its own shift. "larger batches"
are p = 0.1, b' = 100, chosen on seeds 0 and 1.
"""

from __future__ import annotations

import sys
from itertools import islice
from time import perf_counter

import numpy as np

import dcopt
from dcopt.estimators import PAGE

N, M, SEEDS = 100, 600, range(200, 210)
LARGER = PAGE(p=0.1, b_small=100)
RUNS = {  # name: form, method, steps
    "quartic, dca": ("quartic", "dca", 60),
    "quartic, dca-page": ("quartic", "dca-page", 4000),
    "quartic, dca-page, larger batches": ("quartic", LARGER, 1000),
    "bregman, dca": ("bregman", "dca", 5000),
    "bregman, dca-page": ("bregman", "dca-page", 12_000),
}


def error(x: np.ndarray, true: np.ndarray) -> float:
    return float(min(np.linalg.norm(x - true), np.linalg.norm(x + true)) / np.linalg.norm(true))


def run(seed: int, name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Passes and errors along a run, and its seconds."""
    draw = np.random.default_rng(seed)
    A, true = draw.normal(size=(M, N)), draw.normal(size=N)
    b = (A @ true) ** 2
    form, method, steps = RUNS[name]
    P = dcopt.problems.phase_retrieval(A, b, form=form)
    x0 = dcopt.problems.spectral_start(A, b)
    began = perf_counter()
    states = list(islice(dcopt.iterate(P, method, x0=x0, seed=seed), steps))
    seconds = perf_counter() - began
    passes = np.array([0.0] + [s.spent.gradients / M for s in states])
    return passes, np.array([error(x0, true)] + [error(s.x, true) for s in states]), seconds


def main(path: str | None = None) -> None:
    curves = {name: [run(seed, name) for seed in SEEDS] for name in RUNS}
    print("| form, method | error <= 1e-4 | passes until 1e-4 | steps until 1e-4 | worst last error | seconds |")
    print("|---|---|---|---|---|---|")
    for name, runs in curves.items():
        hit = [np.flatnonzero(e <= 1e-4) for _, e, _ in runs]
        passes = [p[h[0]] if h.size else np.inf for (p, _, _), h in zip(runs, hit, strict=True)]
        steps = [h[0] if h.size else np.inf for h in hit]
        last = max(e[-1] for _, e, _ in runs)
        print(
            f"| {name} | {sum(h.size > 0 for h in hit)} of {len(SEEDS)} | {np.median(passes):.0f} | "
            f"{np.median(steps):.0f} | {last:.1e} | {np.median([s for _, _, s in runs]):.2f} |"
        )
    if path:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
        for name, runs in curves.items():
            axis, label = axes[0 if name.startswith("quartic") else 1], name.split(", ", 1)[1]
            colour = "C0" if label == "dca" else "C1" if label == "dca-page" else "C2"
            for k, (p, e, _) in enumerate(runs[:5]):
                axis.semilogy(p, e, colour, lw=0.9, label=label if k == 0 else None)
        for axis, form, right in zip(axes, ("quartic", "bregman"), (16_000, 4000), strict=True):
            axis.axhline(1e-4, color="0.7", lw=0.8)
            axis.set(xlabel="passes (inner ones counted)", title=form, xlim=(0, right), ylim=(1e-9, 2))
            axis.legend(frameon=False)
        axes[0].set(ylabel="relative error up to sign")
        figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:2])
