"""Deterministic DCA on real data: F(x_{t+1}) ≤ F(x_t) − (ρ/2) ‖x_{t+1} − x_t‖² at every step."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import dcopt
from dcopt.datasets.named import available, load_dataset
from dcopt.regularizers import Exponential

SETS = ("a9a", "w8a", "dna.scale")
pytestmark = pytest.mark.skipif(not all(map(available, SETS)), reason="a9a, w8a, dna.scale not in DCOPT_DATA")


@pytest.mark.parametrize("name", SETS)
def test_every_step_descends_by_what_the_theory_says(name: str) -> None:
    X, y = load_dataset(name)
    X = sp.csr_array(X)
    norms = np.sqrt(X.multiply(X).sum(axis=1))
    X = sp.csr_array(sp.diags_array(1.0 / np.where(norms == 0, 1.0, norms)) @ X)
    loss, groups = ("softmax", "rows") if name == "dna.scale" else ("squared-sigmoid", None)
    P = dcopt.erm(X, y, loss, Exponential(lam=1.0 / X.shape[0], alpha=5.0, groups=groups))
    rho = P.constants.rho
    assert rho > P.G.kappa  # 2κ − L̄, with L̄ < κ
    before, F = np.zeros(P.shape), P.value(np.zeros(P.shape))
    used = []
    for state, _ in zip(dcopt.iterate(P, "dca"), range(200), strict=False):
        now = P.value(state.x)
        promised = rho / 2 * float(np.sum((state.x - before) ** 2))
        assert now <= F - promised + 1e-14 * abs(F)
        used.append(promised / (F - now))
        before, F = state.x, now
    assert len(used) == 200 and max(used) > 0.5  # the promise is not an empty one
