"""The same problem for DCCP and for dcopt: python examples/from_cvxpy.py   (DCCP: pip install dccp)

Nonnegative PCA: max |Xx|²/(2N) over |x| <= 1, x >= 0.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import dcopt


def data(seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(200, 30)) @ draw.normal(size=(30, 30))


def by_dcopt(X: np.ndarray, x0: np.ndarray) -> float:
    P = dcopt.problems.pca(X)
    res = dcopt.solve(P, "dca", tol=1e-8, measure="criticality", x0=x0, trace=None)
    return -res.certificate.F


def by_dccp(X: np.ndarray, x0: np.ndarray) -> float:
    import cvxpy as cp
    import dccp  # noqa: F401  # registers the method

    x = cp.Variable(X.shape[1])
    x.value = x0
    program = cp.Problem(cp.Maximize(cp.sum_squares(X @ x) / (2 * len(X))), [cp.norm(x) <= 1, x >= 0])
    program.solve(method="dccp", ep=1e-7)
    return float(np.sum((X @ x.value) ** 2)) / (2 * len(X))


def main() -> None:
    X = data()
    x0 = dcopt.problems.pca_start(X)
    for name, solve in (("dcopt", by_dcopt), ("DCCP", by_dccp)):
        try:
            solve(X, x0)  # imports
            began = perf_counter()
            value = solve(X, x0)
            print(f"{name:6} {value:.6f} in {1e3 * (perf_counter() - began):.0f} ms")
        except ImportError:
            print(f"{name:6} is not installed")


if __name__ == "__main__":
    main()
