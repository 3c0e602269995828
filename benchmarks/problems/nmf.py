"""NMF of rank 10: python benchmarks/problems/nmf.py [starts]

scikit-learn's coordinate descent runs 200 iterations (its default) and 2000; ours get the same start, and the same
number of steps or the same processor time (that of building the problem included), on one thread. "blocks":
`problems.nmf_blocks`, U and V by turns. "joint": dca on `problems.nmf`, U and V at once. Excess: F / its F − 1.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

import dcopt

RANK, MOST = 10, 10**6


def timed(run: Callable[..., np.ndarray], *given: Any, **more: Any) -> tuple[np.ndarray, float]:
    began = process_time()
    return run(*given, **more), process_time() - began


def theirs(X: np.ndarray, Z: np.ndarray, iterations: int) -> np.ndarray:
    model = NMF(RANK, init="custom", max_iter=iterations, tol=0.0)
    U = model.fit_transform(X, W=Z[: len(X)].copy(), H=np.ascontiguousarray(Z[len(X) :].T))
    return np.concatenate([U, model.components_.T])


def blocks(X: np.ndarray, Z: np.ndarray, sweeps: int = 1, steps: int = MOST, seconds: float = np.inf) -> np.ndarray:
    stop = [after(seconds)]
    return dcopt.problems.nmf_blocks(dcopt.problems.nmf(X, RANK), steps=steps, sweeps=sweeps, x0=Z, callbacks=stop).x


def joint(X: np.ndarray, Z: np.ndarray, seconds: float) -> np.ndarray:
    stop, P = [after(seconds)], dcopt.problems.nmf(X, RANK)
    return dcopt.solve(P, "dca", steps=MOST, x0=Z, measure="criticality", trace=None, callbacks=stop).x


def after(seconds: float) -> Callable[[Any], bool]:
    """An observer that ends a run when so much processor time has passed from now on."""
    began = process_time()
    return lambda state: process_time() - began >= seconds


def main(starts: int = 10) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| data | scikit-learn | its F (median) | its s | blocks, same steps: median excess, worst | s |", end="")
    print(" same time: median, worst | 3 sweeps, same time: median, worst | joint dca, same time: median |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ("digits", "dna.scale"):
        X = dcopt.load_dataset(name)[0]
        X = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        P = dcopt.problems.nmf(X, RANK)
        blocks(X, dcopt.problems.nmf_start(X, RANK), steps=1)  # compiles
        for iterations in (200, 2000):
            rows = []
            for seed in range(starts):
                Z = dcopt.problems.nmf_start(X, RANK, seed)
                one, seconds = timed(theirs, X, Z, iterations)
                two, took = timed(blocks, X, Z, steps=iterations)
                others = [blocks(X, Z, sweeps, seconds=seconds) for sweeps in (1, 3)]
                F, found = P.value(one), (two, *others, joint(X, Z, seconds))
                rows.append((F, seconds, took, *(P.value(Z) / F - 1 for Z in found)))
            F, seconds, took, *excess = np.array(rows).T
            same, time, three, slow = (f"{np.median(e):+.2%}, {e.max():+.2%}" for e in excess)
            print(
                f"| {name} | {iterations} iterations | {np.median(F):.5g} | {np.median(seconds):.2f} | {same} | "
                f"{np.median(took):.2f} | {time} | {three} | {slow.split(',')[0]} |"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
