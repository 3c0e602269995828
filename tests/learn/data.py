"""Small data sets for the estimators."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def two_classes(n=120, d=8, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    z = X[:, 0] - 1.5 * X[:, 1] + 0.8 * rng.normal(size=n)
    return X, np.where(z > np.quantile(z, 1 - share), "yes", "no")


def three_classes(n=150, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X[:, :3] + 0.8 * rng.normal(size=(n, 3))
    return X, np.argmax(scores, axis=1)


def numbers(n=120, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 2.0 + X[:, 0] - 1.5 * X[:, 1] + 0.3 * rng.normal(size=n)


def wide_indices(X):
    """CSR with 64-bit indices."""
    A = sp.csr_array(X)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A
