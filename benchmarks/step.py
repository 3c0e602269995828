"""One dca-page step on w8a (b' = 224): ours against SciPy row slicing and a hand-fused Numba loop, in one run.

Two readings of a step: the correction alone (no refresh), and the average step of the recipe, in which every 224th step
refreshes with a full gradient.
"""

from __future__ import annotations

import math
from time import perf_counter

import numba
import numpy as np
import scipy.sparse as sp

import dcopt
from dcopt.datasets.named import available
from dcopt.estimators import PAGE
from dcopt.regularizers import Exponential

B_SMALL, STEPS, ROUNDS, ALPHA = 224, 6000, 11, 5.0


def data() -> tuple[str, sp.csr_matrix, np.ndarray]:
    """w8a, or a random matrix of its shape and density."""
    if available("w8a"):
        X, y = dcopt.load_dataset("w8a", normalize=True)
        return "w8a", X, y
    rng = np.random.default_rng(0)
    X = sp.random(49749, 300, density=0.0388, format="csr", random_state=rng, data_rvs=lambda k: np.ones(k))
    X = sp.diags_array(1.0 / np.maximum(1e-12, np.sqrt(X.multiply(X).sum(axis=1).A1))) @ X
    return "synthetic (w8a's shape)", X.tocsr(), np.where(rng.random(49749) < 0.03, 1.0, -1.0)


def slicing(X: sp.csr_matrix, y: np.ndarray, lam: float, kappa: float, steps: int, p: float) -> np.ndarray:
    """The step as one writes it with SciPy: X[rows] is a new matrix."""
    rng = np.random.default_rng(0)
    c = lam * ALPHA

    def gradient(A, labels, x):
        s = 1.0 / (1.0 + np.exp(labels * (A @ x)))
        return A.T @ (-2.0 * s * s * (1.0 - s) * labels) / len(labels)

    x = np.zeros(X.shape[1])
    v, prev = gradient(X, y, x), x
    for _ in range(steps):
        if rng.random() < p:
            v = gradient(X, y, x)
        else:
            rows = rng.integers(0, len(y), B_SMALL)
            A, labels = X[rows], y[rows]
            v = v + gradient(A, labels, x) - gradient(A, labels, prev)
        w = np.sign(x) * c * (1.0 - np.exp(-ALPHA * np.abs(x)))
        u = x - (v - w) / kappa
        prev, x = x, np.sign(u) * np.maximum(np.abs(u) - c / kappa, 0.0)
    return x


@numba.njit(cache=True)
def fused(indptr, indices, data, y, lam, kappa, b, steps, d, p):
    """The whole run in one compiled loop, loss, penalty and draws inlined: the floor for this algorithm."""
    np.random.seed(0)  # noqa: NPY002, TID251  # Numba's own generator, inside the compiled loop
    n, c = y.size, lam * ALPHA
    x, prev, v = np.zeros(d), np.zeros(d), np.zeros(d)
    for t in range(steps):
        refresh = t == 0 or np.random.random() < p  # noqa: NPY002
        if refresh:
            v[:] = 0.0
            for i in range(n):
                one = 0.0
                for j in range(indptr[i], indptr[i + 1]):
                    one += data[j] * x[indices[j]]
                s = 1.0 / (1.0 + math.exp(y[i] * one))
                delta = -2.0 * y[i] * s * s * (1.0 - s) / n
                for j in range(indptr[i], indptr[i + 1]):
                    v[indices[j]] += delta * data[j]
        for _ in range(0 if refresh else b):
            i = np.random.randint(0, n)  # noqa: NPY002
            one, two = 0.0, 0.0
            for j in range(indptr[i], indptr[i + 1]):
                one += data[j] * x[indices[j]]
                two += data[j] * prev[indices[j]]
            s = 1.0 / (1.0 + math.exp(y[i] * one))
            r = 1.0 / (1.0 + math.exp(y[i] * two))
            delta = -2.0 * y[i] * (s * s * (1.0 - s) - r * r * (1.0 - r)) / b
            for j in range(indptr[i], indptr[i + 1]):
                v[indices[j]] += delta * data[j]
        for j in range(d):
            a = abs(x[j])
            w = math.copysign(c * (1.0 - math.exp(-ALPHA * a)), x[j])
            u = x[j] - (v[j] - w) / kappa
            prev[j] = x[j]
            x[j] = math.copysign(max(abs(u) - c / kappa, 0.0), u)
    return x


def compare(title: str, X: sp.csr_matrix, y: np.ndarray, p: float) -> list[str]:
    """The contenders in turns: medians, and the median of the ratio within a round."""
    n, d = X.shape
    lam = 1.0 / n
    P = dcopt.erm(X, y, "squared-sigmoid", Exponential(lam=lam, alpha=ALPHA))
    kappa, page = P.G.L, PAGE(p=p, b_small=B_SMALL)
    arrays = (X.indptr, X.indices, X.data, y)
    contenders = {
        "SciPy slicing": lambda: slicing(X, y, lam, kappa, STEPS, p),
        "dcopt": lambda: dcopt.solve(P, page, steps=STEPS, seed=0, trace=None),
        "fused Numba": lambda: fused(*arrays, lam, kappa, B_SMALL, STEPS, d, p),
    }
    fused(*arrays, lam, kappa, B_SMALL, 1, d, p)
    times: dict[str, list[float]] = {key: [] for key in contenders}
    for _ in range(ROUNDS):
        for key, function in contenders.items():
            began = perf_counter()
            function()
            times[key].append((perf_counter() - began) / STEPS * 1e6)
    ours = np.array(times["dcopt"])
    lines = [f"| {title} | µs (median of {ROUNDS}) | dcopt / it |", "|---|---|---|"]
    for key, values in times.items():
        lines.append(f"| {key} | {np.median(values):.1f} | {np.median(ours / values):.2f} |")
    return lines


def main() -> list[str]:
    """Microseconds a step, and the ratios."""
    name, X, y = data()
    alone = compare(f"one correction, {name}, b' = {B_SMALL}", X, y, 1e-12)
    return [*alone, "", *compare(f"one dca-page step, {name}, b' = {B_SMALL}, p = 1/{B_SMALL}", X, y, 1.0 / B_SMALL)]


if __name__ == "__main__":
    print("\n".join(main()))
