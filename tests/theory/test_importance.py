"""Rows drawn by their length: the mean is f, the spread is that of the proof, and long rows no longer set the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dcopt
from dcopt.draw import Draw
from dcopt.errors import BadSettings, CannotSolve
from dcopt.estimators import PAGE, SAGA, SARAH, SVRG, Fresh
from dcopt.methods import as_method
from dcopt.regularizers import Exponential
from dcopt.sums import LinearBatch
from dcopt.sums.constants import importance_kappa, smoothness


def uneven(n: int = 400, d: int = 12, sparse: bool = False, weighted: bool = False) -> dcopt.Problem:
    """Rows whose lengths differ by orders of magnitude; some are empty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * rng.lognormal(0.0, 1.5, size=(n, 1))
    X[::50] = 0.0
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    w = rng.uniform(0.5, 2.0, n) if weighted else None
    return dcopt.erm(csr_array(X) if sparse else X, y, "logistic", Exponential(lam=1e-3, alpha=5.0), sample_weight=w)


def chances(P: dcopt.Problem) -> Any:
    """q_i"""
    below = P.f.importance.below
    return np.diff(np.concatenate(([0.0], below))) / below[-1]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_over_all_outcomes_is_the_gradient(sparse: bool, weighted: bool) -> None:
    P = uneven(sparse=sparse, weighted=weighted)
    f, q, x = P.f.importance.f, chances(P), np.random.default_rng(1).normal(size=12)
    assert q.sum() == pytest.approx(1.0) and q[0] == 0.0
    one = sum(q[i] * LinearBatch(f, np.array([i]), 1).grad(x) for i in np.flatnonzero(q))
    np.testing.assert_allclose(one, P.f.all().grad(x), rtol=1e-10, atol=1e-14)


def test_rows_come_as_often_as_they_should() -> None:
    P = uneven(60)
    q, b, steps = chances(P), 50, 4000
    rows = np.concatenate([P.f.sample(b, Draw(3, t), "importance").rows for t in range(steps)])
    seen = np.bincount(rows, minlength=60)
    assert np.all(seen[q == 0.0] == 0)
    deviation = (seen - b * steps * q) / np.sqrt(np.maximum(b * steps * q * (1 - q), 1e-300))
    assert np.abs(deviation[q > 1e-5]).max() < 4.5 and np.std(deviation[q > 1e-5]) < 1.5
    assert np.array_equal(P.f.sample(b, Draw(3, 7), "importance").rows, P.f.sample(b, Draw(3, 7), "importance").rows)
    last = P.f.importance.rows(np.array([0.0, np.nextafter(1.0, 0.0)]))
    assert np.all(q[last] > 0.0)


def test_the_spread_is_what_kappa_was_computed_from() -> None:
    """E‖(∇f'_i(x) − ∇f'_i(y)) − (∇f(x) − ∇f(y))‖² ≤ L_v² ‖x − y‖², with an L_v far below that of equal chances."""
    P, rng = uneven(), np.random.default_rng(2)
    f, q, s = P.f.importance.f, chances(P), smoothness(P.f)
    L_v = (importance_kappa(P.f, 1.0) - 0.5 * s.Lbar) / 2.0
    assert L_v < 0.5 * s.L_v and importance_kappa(P.f, 1.0) < 0.3 * s.L_f
    for scale in (1e-3, 0.1, 1.0):
        x = scale * rng.normal(size=12)
        y = x + scale * rng.normal(size=12)
        mean = P.f.all().diff(x, y)
        parts = [LinearBatch(f, np.array([i]), 1).diff(x, y) for i in np.flatnonzero(q)]
        spread = sum(q[i] * np.sum((part - mean) ** 2) for i, part in zip(np.flatnonzero(q), parts, strict=True))
        assert spread <= L_v**2 * np.sum((x - y) ** 2) * (1 + 1e-9)


def test_it_pays_where_rows_differ() -> None:
    """The same p, b' and passes: F is lower in every seed."""
    P = uneven(2000, sparse=True)
    for seed in range(5):
        one, two = (
            dcopt.solve(P, PAGE(p=0.05, b_small=40, sampling=kind), passes=30, seed=seed, trace=None).certificate.F
            for kind in ("iid", "importance")
        )
        assert two < one - 0.02, (seed, one, two)


def test_each_estimator_takes_the_kappa_of_its_own_spread() -> None:
    """κ = L̄/2 + 2 s L_v, where that is below L_f: s is PAGE's, SARAH's (whose p says nothing) or SVRG's."""
    P = uneven()
    for estimator in (
        PAGE(p=0.1, b_small=20, sampling="importance"), SARAH(b_small=20, period=10, sampling="importance"),
        SVRG(b_small=40, period=5, sampling="importance"),
    ):  # fmt: skip
        kappa = as_method(estimator).prepare(P)[0].G.kappa
        assert kappa == importance_kappa(P.f, estimator.spread(P.n)) < 0.7 * P.G.L, estimator
    noisy = SVRG(b_small=2, period=400, sampling="importance")
    assert as_method(noisy).prepare(P)[0].G.kappa == P.G.L


def test_svrg_and_a_resumed_run_draw_the_same(tmp_path: Any) -> None:
    P, method = uneven(), SVRG(b_small=40, period=10, sampling="importance")
    whole = dcopt.solve(P, method, steps=40, seed=5)
    dcopt.solve(P, method, steps=17, seed=5, checkpoint=tmp_path / "run")
    again = dcopt.resume(tmp_path / "run", P, steps=40)
    assert np.array_equal(whole.x, again.x)


def test_rows_that_all_are_empty_are_equally_likely() -> None:
    P = dcopt.erm(np.zeros((5, 2)), np.array([1.0, -1.0, 1.0, 1.0, -1.0]), "logistic", "zero")
    assert np.allclose(chances(P), 0.2)
    assert np.all(dcopt.solve(P, PAGE(p=0.5, b_small=2, sampling="importance"), steps=5, seed=0).x == 0.0)


def test_where_it_cannot_be_it_is_refused() -> None:
    for refuses in (lambda: SAGA(b=2, sampling="importance"), lambda: Fresh(b=2, sampling="importance")):
        with pytest.raises(BadSettings, match="sampling"):
            refuses()
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.ones(30)
    y[::2] = -1.0
    page = PAGE(p=0.5, b_small=5, sampling="importance")
    with pytest.raises(CannotSolve, match="drawn by their length"):
        dcopt.solve(dcopt.erm(X, y, "logistic", decomposition="gram"), page, steps=2)
    with pytest.raises(BadSettings, match="linear model"):
        Draw(0, 0).rows(5, 2, "importance")
