"""decomposition="gram": the same F and critical points, a majorizer that is tight, and steps that descend."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from small import matrix, signs, targets

import dcopt
from dcopt.convex import Gram, gram, variance_smoothness
from dcopt.errors import BadInput, BadSettings
from dcopt.estimators import PAGE
from dcopt.laws.base import run
from dcopt.laws.problems import LAWS
from dcopt.regularizers import L1, MCP, SCAD, Exponential

CASES = {
    "logistic": lambda X, y: (X, y),
    "squared-sigmoid": lambda X, y: (X, y),
    "softmax": lambda X, y: (X, (3 * X[:, 0]).round().clip(-1, 1)),
    "squared": lambda X, y: (X, targets(X)),
    "welsch": lambda X, y: (X, targets(X)),
}


def problem(loss, decomposition, r=None, wrap=np.asarray, **options):
    X = matrix(60, 5)
    X, y = CASES[loss](X, signs(X))
    r = MCP(lam=0.02, groups="rows") if r is None else r
    return dcopt.erm(wrap(X), y, loss, r, decomposition=decomposition, intercept=True, **options)


@pytest.mark.parametrize("loss", CASES)
def test_the_laws_of_a_problem(loss):
    run(LAWS, problem(loss, "gram"))


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("loss", CASES)
def test_same_F_and_majorizes(loss, wrap):
    weights = np.random.default_rng(3).integers(0, 4, 60)
    P, S = (problem(loss, name, wrap=wrap, sample_weight=weights) for name in ("gram", "scalar"))
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, h = rng.normal(size=(2, *P.shape))
        assert P.value(x) == S.value(x)
        f, g = P.f.all().value_grad(x)
        model = f + float(np.sum(g * h)) + P.G.bregman(x + h, x)
        assert P.f.all().value_grad(x + h)[0] <= model * (1 + 1e-12)


@pytest.mark.parametrize("loss", CASES)
def test_both_decompositions_end_at_critical_points_of_both(loss):
    r = L1(lam=0.05, groups="rows") if loss == "softmax" else SCAD(lam=0.08)
    P, S = (problem(loss, name, r) for name in ("gram", "scalar"))
    for one, other in ((P, S), (S, P)):
        res = dcopt.solve(one, "dca", tol=1e-5, measure="criticality", passes=20_000, trace=None)
        assert res.status.name == "CONVERGED"
        assert dcopt.measures.criticality(other, res.x) == pytest.approx(res.certificate.value, abs=1e-12)
        assert dcopt.measures.gap(other, res.x) < 1e-4


def test_convex_problems_have_one_answer():
    X = matrix(60, 5)
    y = signs(X)
    xs = [
        dcopt.solve(
            dcopt.erm(X, y, "logistic", L1(lam=0.01), decomposition=name, intercept=True), "dca", tol=1e-9,
            measure="criticality", passes=20_000, trace=None,
        ).x
        for name in ("gram", "scalar")
    ]  # fmt: skip
    np.testing.assert_allclose(*xs, atol=1e-6)


def test_page_that_always_refreshes_is_dca():
    P = problem("logistic", "gram")
    pairs = zip(dcopt.iterate(P, "dca", seed=0), dcopt.iterate(P, PAGE(p=1.0, b_small=3), seed=0), strict=False)
    for (one, other), _ in zip(pairs, range(8), strict=False):
        np.testing.assert_allclose(one.x, other.x, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", ["dca", "cccp", "dca-page", "pdcae", "bdca"])
def test_methods_run_on_it(method):
    P = problem("logistic", "gram", SCAD(lam=0.05))
    res = dcopt.solve(P, method, passes=300, tol=1e-4, measure="criticality", seed=0)
    assert res.status.name in ("CONVERGED", "BUDGET") and res.certificate.F < 0.95 * P.value(np.zeros(P.shape))


def test_estimators_with_batches_scale_the_metric():
    P = problem("logistic", "gram")
    for method in ("dca-page", "mm-saga", "dca-saga", "sdca"):
        assert dcopt.METHODS[method].prepare(P)[0].G.tau > 1.0
    assert dcopt.METHODS["online-dca"].prepare(P)[0].G.tau == 1.0  # its error is not one of the steps


def test_variance_smoothness_by_enumeration():
    P = problem("logistic", "gram")
    f, Q = P.f, P.G.Q
    inverse, bound, rng = np.linalg.inv(Q), variance_smoothness(P.f, P.G), np.random.default_rng(1)
    worst = 0.0
    for _ in range(200):
        x = rng.normal(size=P.shape)
        h = 1e-3 * rng.normal(size=P.shape)
        each = np.array([f.take(np.array([i])).all().diff(x + h, x) for i in range(f.n)])
        spread = each - each.mean(axis=0)
        worst = max(worst, np.mean(np.einsum("ij,jk,ik->i", spread, inverse, spread)) / (h @ Q @ h))
    assert 0.05 * bound**2 < worst <= bound**2


def test_scaling_columns_changes_nothing():
    X = matrix(60, 5)
    y, scale = signs(X), 10.0 ** np.arange(-2, 3)
    P = dcopt.erm(X, y, "logistic", "zero", decomposition="gram")
    S = dcopt.erm(X * scale, y, "logistic", "zero", decomposition="gram")
    pairs = zip(dcopt.iterate(P, "dca"), dcopt.iterate(S, "dca"), strict=False)
    for (one, other), _ in zip(pairs, range(20), strict=False):
        np.testing.assert_allclose(one.x, other.x * scale, rtol=1e-6)


def test_too_wide_is_refused_with_the_bytes():
    wide = sp.csr_array(([1.0, 1.0], ([0, 1], [3, 7])), shape=(2, 100_000))
    with pytest.raises(BadInput, match=r"80,000,000,000 bytes.*scalar"):
        dcopt.erm(wide, [0, 1], "logistic", decomposition="gram")
    with pytest.raises(BadSettings, match="kappa"):
        dcopt.erm(np.eye(2), [0, 1], "logistic", decomposition="gram", kappa=1.0)


def test_empty_and_repeated_columns():
    X = matrix(60, 5)
    X = np.c_[X, np.zeros(60), X[:, :1]]
    r = Exponential(lam=0.002, alpha=5.0)
    P = dcopt.erm(X, signs(X[:, :5]), "logistic", r, decomposition="gram", intercept=True)
    assert isinstance(P.G, Gram) and P.G.rho > 0
    res = dcopt.solve(P, "dca", atol=1e-6, passes=5000, trace=None)
    assert res.status.name == "CONVERGED" and res.x[5] == 0.0


def test_large_d_has_bounds_without_a_spectrum():
    X = np.random.default_rng(0).normal(size=(50, 300))
    G = dcopt.erm(X, np.arange(50) % 2, "logistic", decomposition="gram").G
    e = np.linalg.eigvalsh(G.Q)
    assert 0 < G.rho <= e[0] * (1 + 1e-6) and G.L >= e[-1]
    assert "spectrum" not in vars(G)
    np.testing.assert_allclose(G.Q - np.diag(np.diagonal(G.Q)), 0.25 * (gram(dcopt.erm(X, np.arange(50) % 2).f.a)
        - np.diag(np.diagonal(X.T @ X / 50))), atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_columns_of_any_unit_come_to_a_tolerance(scale):
    """What is asked of a program grows with the columns, not with their squares."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(40, 6))
    y = X @ [1.5, -1.0, 0.0, 0.0, 0.5, 0.0] + 0.3 * draw.standard_t(2, size=40)
    P = dcopt.erm(scale * X, y, dcopt.losses.Huber(c=0.7), dcopt.regularizers.L1(0.05), decomposition="gram")
    result = dcopt.solve(P, "dca", tol=1e-6, measure="criticality", passes=1500)
    assert result.status is dcopt.Status.CONVERGED
