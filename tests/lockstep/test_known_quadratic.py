"""Least squares as a quadratic that is known: the sum itself, and runs in nearly dependent columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import Lasso

import dcopt
from dcopt.regularizers import L1, SCAD
from dcopt.sums import LinearSum
from dcopt.sums.known_quadratic import KnownQuadratic


def least_squares(seed: int = 0, weighted: bool = False) -> LinearSum:
    draw = np.random.default_rng(seed)
    weights = draw.uniform(0.5, 2.0, 50) if weighted else None
    P = dcopt.erm(draw.normal(size=(50, 9)), draw.normal(size=50), "squared", sample_weight=weights)
    assert isinstance(P.f, LinearSum)
    return P.f


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_sum_on_its_columns(weighted: bool) -> None:
    """f and its slopes at points that differ on these columns; no other column wants to move."""
    f, draw, some = least_squares(weighted=weighted), np.random.default_rng(1), np.array([0, 2, 3, 7])
    seen = f.look(draw.normal(size=9))
    known = KnownQuadratic(f, seen, some)
    for _ in range(5):
        x = seen.x.copy()
        x[some] += draw.normal(size=4)
        here, true = known.look(x), f.look(x)
        assert here.f == pytest.approx(true.f, rel=1e-12)
        np.testing.assert_allclose(here.grad[some], true.grad[some], rtol=0.0, atol=1e-12)
        assert not np.delete(here.grad, some).any() and here.n == 0
        h = 1e-6 * draw.normal(size=9)
        h[np.setdiff1d(np.arange(9), some)] = 0.0
        slope = known.look(x + h).f - known.look(x - h).f
        assert slope == pytest.approx(2.0 * float(h @ here.grad), rel=1e-5)


def test_it_is_a_batch_of_no_components() -> None:
    f, draw = least_squares(), np.random.default_rng(1)
    known = KnownQuadratic(f, f.look(np.zeros(9)), np.arange(9))
    x, prev = draw.normal(size=9), draw.normal(size=9)
    batch = known.all()
    assert known.n == batch.size == 0 and batch.value_grad(x)[0] == known.look(x).f
    np.testing.assert_array_equal(batch.diff(x, prev), batch.grad(x) - batch.grad(prev))
    np.testing.assert_array_equal(batch.pull(batch.slopes(x)), batch.grad(x))


def test_its_gram_matrices_are_parts_of_one() -> None:
    f, some = least_squares(), np.array([1, 4, 5, 8])
    look = f.look(np.zeros(9))
    known = KnownQuadratic(f, look, some)
    C = known.curvature(known.look(np.zeros(9)))
    np.testing.assert_allclose(C.gram(np.array([4, 8])), f.curvature(look).gram(np.array([4, 8])), rtol=1e-13)
    assert C.exact and not C.shows_columns


# ---- runs in nearly dependent columns


def powers(degree: int, sparse: bool = False) -> tuple[Any, Any]:
    draw, t = np.random.default_rng(1), np.linspace(0, 1, 400)[:, None]
    A = t ** np.arange(degree)
    y = A[:, :5].sum(axis=1) + 0.1 * draw.normal(size=400)
    return (csr_array(A) if sparse else A), y


def ones(spread: float) -> tuple[Any, Any]:
    draw = np.random.default_rng(1)
    A = 1.0 + spread * draw.normal(size=(400, 30))
    return A, A[:, :5].sum(axis=1) + 0.1 * draw.normal(size=400)


def solved(X: Any, y: Any, r: Any) -> dcopt.Result:
    P = dcopt.erm(X, y, "squared", r)
    res = dcopt.solve(P, "dca-local", atol=1e-7, measure="criticality", x0=np.zeros(P.shape), passes=100, trace=None)
    assert res.status.name == "CONVERGED" and dcopt.measures.criticality(P, res.x) <= 1e-7
    return res


@pytest.mark.parametrize("lam", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("degree", [12, 24])
def test_powers_take_few_passes(degree: int, lam: float) -> None:
    """With a small ridge alone most of these take hundreds of steps, or do not end."""
    for sparse in (False, True):
        res = solved(*powers(degree, sparse), L1(lam=lam))
        assert res.steps <= 4 and res.spent.gradients <= 5 * 400
    assert solved(*powers(degree), SCAD(lam=lam)).steps <= 4


@pytest.mark.parametrize("lam", [0.0, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
def test_ones_with_a_little_noise_take_few_passes(lam: float) -> None:
    """Steps with the large ridge alone are short here, and the first programs with the small one are not solved."""
    assert solved(*ones(1e-5), L1(lam=lam)).steps <= 4
    assert solved(*ones(1e-4), L1(lam=lam)).steps <= 4


@pytest.mark.parametrize("lam", [1e-4, 1e-6])
def test_powers_have_the_least_f_of_an_interior_point_method(lam: float) -> None:
    cvxpy = pytest.importorskip("cvxpy")
    A, y = powers(24)
    v = cvxpy.Variable(24)
    F = 0.5 / 400 * cvxpy.sum_squares(A @ v - y) + lam * cvxpy.norm1(v)
    cvxpy.Problem(cvxpy.Minimize(F)).solve(solver=cvxpy.CLARABEL)
    # Its own accuracy is 1e-8.
    assert solved(A, y, L1(lam=lam)).certificate.F == pytest.approx(float(F.value), rel=2e-7)


def test_powers_have_the_least_f_of_coordinate_descent() -> None:
    A, y = powers(5)
    theirs = Lasso(1e-4, fit_intercept=False, tol=1e-12, max_iter=10**6).fit(A, y).coef_
    F = 0.5 * np.mean((A @ theirs - y) ** 2) + 1e-4 * np.abs(theirs).sum()
    assert solved(A, y, L1(lam=1e-4)).certificate.F == pytest.approx(F, rel=1e-9)
