"""The same small problems for DCCP and for dcopt: python benchmarks/problems/against_dccp.py   (pip install dccp)

Nonnegative PCA (200 × 30) and Boolean least squares (60 × 20), both from the same start, one thread; median of 5 seeds.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import dcopt
from dcopt.convex import least_squares
from dcopt.data.dense import DenseRows
from dcopt.losses import Squared
from dcopt.regularizers import Box
from dcopt.sums import LinearSum


def pca_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(200, 30)) @ np.random.default_rng(seed + 1).normal(size=(30, 30))
    return X, dcopt.problems.pca_start(X)


def pca_dcopt(X: np.ndarray, x0: np.ndarray) -> np.ndarray:
    P = dcopt.problems.pca(X)
    return dcopt.solve(P, "dca", tol=1e-8, measure="criticality", x0=x0, trace=None).x


def pca_dccp(X: np.ndarray, x0: np.ndarray) -> np.ndarray:
    import cvxpy as cp
    import dccp  # noqa: F401  # registers the method

    x = cp.Variable(X.shape[1])
    x.value = x0
    program = cp.Problem(cp.Maximize(cp.sum_squares(X @ x) / (2 * len(X))), [cp.norm(x) <= 1, x >= 0])
    program.solve(method="dccp", **SETTINGS)
    return np.asarray(x.value)


def pca_value(X: np.ndarray, x: np.ndarray) -> float:
    x = np.maximum(x, 0.0)
    x = x / max(1.0, np.linalg.norm(x))  # a solver's x may be outside by its tolerance
    return -float(np.sum((X @ x) ** 2)) / (2 * len(X))


def boolean_data(seed: int) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(60, 20))
    b = A @ draw.choice([-1.0, 1.0], 20) + 0.5 * draw.normal(size=60)
    return (A, b), np.zeros(20) + 0.01 * draw.normal(size=20)


def boolean_dcopt(data: tuple[np.ndarray, np.ndarray], x0: np.ndarray) -> np.ndarray:
    A, b = data
    d = A.shape[1]
    H = LinearSum(DenseRows(np.eye(d)), Squared(), np.zeros(d), np.full(d, d * LAM))  # λ/2 |x|²
    P = dcopt.Problem(least_squares(A, b), H, Box(-1.0, 1.0))
    return dcopt.solve(P, "dca", tol=1e-8, measure="criticality", x0=x0, trace=None).x


def boolean_dccp(data: tuple[np.ndarray, np.ndarray], x0: np.ndarray) -> np.ndarray:
    import cvxpy as cp
    import dccp  # noqa: F401

    A, b = data
    x = cp.Variable(A.shape[1])
    x.value = x0
    t = cp.Variable()  # DCCP wants the difference as a constraint: G(x) − t <= H(x)
    t.value = float(np.sum((A @ x0 - b) ** 2)) / (2 * len(b))
    convex = cp.sum_squares(A @ x - b) / (2 * len(b))
    program = cp.Problem(cp.Minimize(t), [convex - t <= LAM / 2 * cp.sum_squares(x), x >= -1, x <= 1])
    program.solve(method="dccp", tau_ini=10.0, tau_max=10.0, **SETTINGS)  # its default is unbounded here
    return np.asarray(x.value)


def boolean_value(data: tuple[np.ndarray, np.ndarray], x: np.ndarray) -> float:
    A, b = data
    x = np.clip(x, -1.0, 1.0)
    return float(np.sum((A @ x - b) ** 2)) / (2 * len(b)) - LAM / 2 * float(x @ x)


LAM = 0.5
SETTINGS = {"max_iter": 500, "ep": 1e-7}  # the default ep, 1e-5, stops a little earlier
PROBLEMS = {
    "nonnegative PCA": (pca_data, pca_dcopt, pca_dccp, pca_value),
    "Boolean least squares": (boolean_data, boolean_dcopt, boolean_dccp, boolean_value),
}


def main(seeds: int = 5) -> None:
    print("| problem | F dcopt | F DCCP | largest relative difference | dcopt, ms | DCCP, ms | times faster |")
    print("|---|---|---|---|---|---|---|")
    for name, (data, ours, theirs, value) in PROBLEMS.items():
        ours(*data(0)), theirs(*data(0))  # compiles, imports
        rows = []
        for seed in range(seeds):
            given, x0 = data(seed)
            took, F = [], []
            for solve in (ours, theirs):
                began = perf_counter()
                x = solve(given, x0)
                took.append(perf_counter() - began)
                F.append(value(given, x))
            rows.append((*F, *took))
        one, two, fast, slow = np.array(rows).T
        gap = float(np.max(np.abs(one - two) / np.abs(two)))
        print(
            f"| {name} | {np.median(one):.8g} | {np.median(two):.8g} | {gap:.1e} | {1e3 * np.median(fast):.2f} | "
            f"{1e3 * np.median(slow):.0f} | {np.median(slow / fast):.0f} |"
        )
        for seed, (a, b, *_) in enumerate(rows):
            if abs(a - b) > 1e-6 * abs(b):
                print(f"| {name}, seed {seed} | {a:.8g} | {b:.8g} | {abs(a - b) / abs(b):.1e} | | | |")


if __name__ == "__main__":
    main()
