"""mm-saga remembers one number a row: data plus O(N + d), not O(N d)."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from paper import PAPER

import dcopt
from dcopt.datasets.named import available
from dcopt.regularizers import Exponential


def peak_of(P: dcopt.Problem, method: str) -> int:
    dcopt.solve(P, method, steps=2, seed=0)  # compile, fill caches
    tracemalloc.start()
    dcopt.solve(P, method, passes=3, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.skipif(not available("w8a"), reason="w8a is not in DCOPT_DATA")
def test_mm_saga_on_w8a() -> None:
    P = PAPER[1].problem()
    n, d = P.n, P.shape[0]
    assert n is not None
    peak = peak_of(P, "mm-saga")
    assert peak < 8 * (12 * n + 100 * d)  # a dozen numbers a row while F is computed; a table of vectors: 8 N d
    assert peak < 0.05 * 8 * n * d


def test_the_table_does_not_grow_with_d() -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(4000) < 0.5, 1.0, -1.0)
    peaks = []
    for d in (100, 3000):
        X = sp.csr_array((np.ones(8000), (np.repeat(np.arange(4000), 2), rng.integers(0, d, 8000))), shape=(4000, d))
        peaks.append(peak_of(dcopt.erm(X, y, regularizer=Exponential(lam=1e-3, alpha=5.0)), "mm-saga"))
    assert peaks[1] - peaks[0] < 100 * 8 * (3000 - 100)
