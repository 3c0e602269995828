"""NMF of rank 10: python benchmarks/problems/nmf.py

scikit-learn's coordinate descent runs 200 iterations (its default) and 2000; ours get the same start and the time
that it took. "alternating": U and V by turns, each a convex program (H = 0) for our coordinate descent. "joint": dca on
`problems.nmf`, U and V at once.
"""

from __future__ import annotations

import warnings
from time import perf_counter

import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

import dcopt
from dcopt.convex import Quadratic
from dcopt.regularizers import Nonnegative
from dcopt.subproblems import cd

RANK, SEEDS = 10, 5


def alternating(X: np.ndarray, Z: np.ndarray, seconds: float, share: float = 0.1) -> np.ndarray:
    """argmin_U |X − UVᵀ|² over U >= 0, then V, …; each until its distance from critical has fallen to a share."""
    began, r, n = perf_counter(), Nonnegative(), len(X)
    U, V, Xt = Z[:n].T.copy(), Z[n:].T.copy(), np.ascontiguousarray(X.T)

    def best(other: np.ndarray, data: np.ndarray, warm: np.ndarray) -> np.ndarray:
        G = Quadratic(other @ other.T, other @ data)
        zero = np.zeros_like(warm)
        return cd(G, r, zero, warm, share * r.distance(-G.grad(warm), warm)).x

    while perf_counter() - began < seconds:
        U = best(V, Xt, U)
        V = best(U, X, V)
    return np.concatenate([U.T, V.T])


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| data | scikit-learn | seconds | its F (median) | alternating, median excess | worst |", end="")
    print(" joint dca, median excess |")
    print("|---|---|---|---|---|---|---|")
    for name in ("digits", "dna.scale"):
        X = dcopt.load_dataset(name)[0]
        X = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        P = dcopt.problems.nmf(X, RANK)
        alternating(X, dcopt.problems.nmf_start(X, RANK), 0.01)  # compiles
        for iterations in (200, 2000):
            rows = []
            for seed in range(SEEDS):
                Z = dcopt.problems.nmf_start(X, RANK, seed)
                began = perf_counter()
                model = NMF(RANK, init="custom", max_iter=iterations, tol=0.0)
                U = model.fit_transform(X, W=Z[: len(X)].copy(), H=np.ascontiguousarray(Z[len(X) :].T))
                seconds = perf_counter() - began
                theirs = P.value(np.concatenate([U, model.components_.T]))
                ours = P.value(alternating(X, Z, seconds))
                joint = dcopt.solve(P, "dca", seconds=seconds, x0=Z, measure="criticality", trace=None).certificate.F
                rows.append((seconds, theirs, ours / theirs - 1, joint / theirs - 1))
            seconds, theirs, ours, joint = np.array(rows).T
            print(
                f"| {name} | {iterations} iterations | {np.median(seconds):.2f} | {np.median(theirs):.5g} | "
                f"{np.median(ours):+.2%} | {ours.max():+.2%} | {np.median(joint):+.2%} |"
            )


if __name__ == "__main__":
    main()
