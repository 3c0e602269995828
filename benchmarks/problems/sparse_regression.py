"""SCAD and MCP paths: python benchmarks/problems/sparse_regression.py [seeds]

N = 10000, d = 500, 20 true features of size 0.5 to 1.5 and either sign, neighbours correlated by 0.5, noise for a
signal to noise ratio of 5. 30 values of λ from λ_max down to λ_max/100, each started from the solution before, method
dca with coordinate descent on the Gram matrix. Where skglm is installed, it solves the same objective from 0, at a λ
where the support was right and at the last λ, and the values of F are compared: (F ours − F theirs) / F.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

import dcopt
from dcopt.regularizers import MCP, SCAD

N, D, TRUE = 10_000, 500, 20
PENALTIES = {"SCAD": lambda lam: SCAD(lam, a=3.7), "MCP": lambda lam: MCP(lam, gamma=3.0)}


def data(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(N, D))
    for j in range(1, D):  # corr(x_i, x_j) = 0.5^|i − j|
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    x = np.zeros(D)
    x[draw.permutation(D)[:TRUE]] = draw.choice([-1.0, 1.0], TRUE) * draw.uniform(0.5, 1.5, TRUE)
    z = X @ x
    return X, z + np.sqrt(z.var() / 5.0) * draw.normal(size=N), x


def path(X: np.ndarray, y: np.ndarray, penalty) -> list[tuple[float, np.ndarray, dcopt.Problem, float]]:
    """λ, x, the problem and the critical distance along the path; the Gram matrix is formed once."""
    P0 = dcopt.problems.sparse_regression(X, y, "zero")
    top, x, found = dcopt.problems.largest_lam(P0), None, []
    for lam in np.geomspace(top, top / 100, 30):
        P = dcopt.Problem(P0.G, P0.H, penalty(lam))
        res = dcopt.solve(P, "dca", steps=100, tol=1e-9, measure="criticality", x0=x, seed=0, trace=None)
        x = res.x
        found.append((lam, x, P, res.certificate.value))
    return found


def by_skglm(X: np.ndarray, y: np.ndarray, name: str, lam: float) -> np.ndarray:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Quadratic
    from skglm.penalties import SCAD as TheirSCAD
    from skglm.penalties import MCPenalty
    from skglm.solvers import AndersonCD

    theirs = TheirSCAD(lam, 3.7) if name == "SCAD" else MCPenalty(lam, 3.0)
    solver = AndersonCD(max_iter=500, max_epochs=100_000, tol=1e-10, fit_intercept=False)
    return GeneralizedLinearEstimator(Quadratic(), theirs, solver).fit(X, y).coef_


def main(seeds: int = 10) -> None:
    try:
        import skglm  # noqa: F401

        peer = True
    except ImportError:
        peer = False
    print("| penalty | support right for some λ | λs with it right | worst critical distance | path, s |", end="")
    print(" F vs skglm, right support | F vs skglm, last λ |")
    print("|---|---|---|---|---|---|---|")
    for name, penalty in PENALTIES.items():
        right, counts, worst, seconds, there, last = 0, [], 0.0, [], [], []
        for seed in range(seeds):
            X, y, true = data(seed)
            began = perf_counter()
            found = path(X, y, penalty)
            seconds.append(perf_counter() - began)
            good = [k for k, (_, x, _, _) in enumerate(found) if np.array_equal(x != 0.0, true != 0.0)]
            right, worst = right + bool(good), max(worst, *(row[3] for row in found))
            counts.append(len(good))
            if peer:
                for k, out in ((good[len(good) // 2] if good else 15, there), (29, last)):
                    lam, x, P, _ = found[k]
                    F = P.value(x)
                    out.append((F - P.value(by_skglm(np.asfortranarray(X), y, name, lam))) / F)
        row = [name, f"{right} of {seeds}", f"{min(counts)} to {max(counts)}", f"{worst:.1e}"]
        row += [f"{np.median(seconds):.2f}"]
        row += [f"{min(out):+.1e} to {max(out):+.1e}" if out else "not installed" for out in (there, last)]
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
