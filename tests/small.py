"""Small problems, used by many tests."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import dcopt
from dcopt.data.check import as_rows
from dcopt.regularizers import Exponential

# those whose every step is the DCA program with an estimated gradient; the others need a convex f, search along a
# line, solve their program by a stochastic inner method, or make G anew (tests/lockstep: test_references, test_local)
REFERENCES = ("ssdc-spg", "ssdc-svrg", "pdcae", "bdca", "dca-local", "dca-nested")
METHODS = tuple(name for name in dcopt.METHODS if name not in REFERENCES)
EXP = Exponential(lam=0.002, alpha=5.0)  # weak enough that 0 is not critical


def matrix(n: int = 40, d: int = 6, seed: int = 0, density: float = 1.0) -> np.ndarray:
    """Rows of length about 1; with `density` < 1 some entries (and some rows) are zero."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) / np.sqrt(d) * (rng.random((n, d)) < density)


def signs(X: np.ndarray, seed: int = 1) -> np.ndarray:
    """−1/+1 labels of a noisy linear rule; both occur."""
    rng = np.random.default_rng(seed)
    y = np.where(X @ rng.standard_normal(X.shape[1]) + 0.3 * rng.standard_normal(len(X)) > 0, 1.0, -1.0)
    y[0], y[-1] = -1.0, 1.0
    return y


def targets(X: np.ndarray, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return X @ rng.standard_normal(X.shape[1]) + 0.1 * rng.standard_normal(len(X))


def binary(n: int = 40, d: int = 6, wrap: Any = None, **options: Any) -> dcopt.Problem:
    """The paper's problem; `wrap` is put around its rows (a FaultyRows, say)."""
    X = matrix(n, d)
    rows = as_rows(X) if wrap is None else wrap(as_rows(X))
    return dcopt.erm(rows, signs(X), **{"regularizer": EXP, **options})


class Verbs:
    """A row matrix with the four verbs and nothing else."""

    def __init__(self, a: Any) -> None:
        self.a, self.shape, self.dtype = a, a.shape, a.dtype

    def dot(self, x: Any, rows: Any = None) -> Any:
        return (self.a if rows is None else self.a[rows]) @ x

    def tdot(self, c: Any, rows: Any = None) -> Any:
        return (self.a if rows is None else self.a[rows]).T @ c

    def take(self, rows: Any) -> Any:
        return type(self)(self.a[rows])

    def norms2(self) -> Any:
        return np.sum(self.a.astype(np.float64) ** 2, axis=1)


def digest(*arrays: Any) -> str:
    """The bytes of arrays, and their layout."""
    h = hashlib.sha256()
    for a in arrays:
        h.update(str((a.dtype, a.shape, a.strides)).encode())
        h.update(np.ascontiguousarray(a).tobytes())
    return h.hexdigest()
