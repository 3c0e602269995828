"""Bounds on coefficients together with a penalty, against independent solvers."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from learn.data import numbers, three_classes, two_classes
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

import dcopt
from dcopt.learn.files import load_estimator, save_estimator
from dcopt.regularizers import L1, Bounded, Fused, L1MinusL2, TopK


def noisy(seed=0, n=80, d=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 1))
    return X, X[:, 0] - 0.8 * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=n)


def test_positive_is_scikit_learns():
    X, y = noisy()
    mine = dcopt.DCRegressor(penalty="l1", lam=0.05, positive=True, tol=1e-9).fit(X, y)
    other = Lasso(alpha=0.05, positive=True, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(mine.coef_, other.coef_, atol=1e-7)
    assert np.all(mine.coef_ >= 0.0) and mine.coef_[1] == 0.0 and mine.status_ == "CONVERGED"


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("penalty", ["l1", "l2", "elastic-net(mu=0.2)", "zero"])
def test_bounds_of_a_convex_fit_are_cvxpys(penalty, standardize):
    """Logistic loss; with standardize the penalty is that of the scaled columns, the bounds are not."""
    X, labels = two_classes(seed=4)
    X = X * np.geomspace(0.5, 3.0, X.shape[1])
    y = np.where(labels == "yes", 1.0, -1.0)
    low, high = np.full(8, -0.4), np.linspace(0.0, 0.7, 8)
    lam = {} if penalty == "zero" else {"lam": 0.02}
    model = dcopt.DCClassifier(penalty=penalty, bounds=(low, high), standardize=standardize, tol=1e-8, **lam)
    coef = model.fit(X, labels).coef_[0]
    x, b = cp.Variable(8), cp.Variable()
    scale = X.std(axis=0) if standardize else np.ones(8)
    z = cp.multiply(scale, x)
    r = {"l1": cp.norm1(z), "l2": cp.sum_squares(z) / 2, "zero": 0.0}
    cost = 0.02 * (cp.norm1(z) if penalty.startswith("el") else r[penalty])
    cost = cost + (0.1 * cp.sum_squares(z) if penalty.startswith("el") else 0.0)
    loss = cp.sum(cp.logistic(cp.multiply(-y, X @ x + b))) / len(y)
    cp.Problem(cp.Minimize(loss + cost), [x >= low, x <= high]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(coef, x.value, atol=2e-5)
    assert np.all(coef >= low) and np.all(coef <= high) and np.any(coef == low) and model.status_ == "CONVERGED"


@pytest.mark.parametrize("penalty", ["mcp", "scad", "capped-l1", "log-sum", "top-k(k=2)"])
def test_concave_penalties_stay_within(penalty):
    X, y = noisy(1)
    model = dcopt.DCRegressor(penalty=penalty, lam=0.05, bounds=(-0.1, 0.5), tol=1e-7).fit(X, y)
    assert model.status_ == "CONVERGED" and model.coef_.min() >= -0.1 and model.coef_.max() == 0.5
    # F does not fall towards any vertex of a small box around x, within the bounds.
    P = model._task(X, y, None).problem(Bounded(_with(penalty), -0.1, 0.5))
    rng, x = np.random.default_rng(0), model.x_
    for _ in range(300):
        near = x + 1e-4 * rng.normal(size=x.shape) * (rng.random(x.shape) < 0.4)
        near[:-1] = np.clip(near[:-1], -0.1, 0.5)
        assert P.value(near) >= P.value(x) - 1e-9


def _with(penalty):
    from dcopt.fit.parts import part_of
    from dcopt.fit.penalties import with_lam

    return with_lam(part_of("penalty", penalty), 0.05)


@pytest.mark.parametrize("make", [two_classes, three_classes])
def test_the_path_begins_with_the_null_model(make):
    """lam_max with bounds counts only what pulls coefficients off 0 within them."""
    X, y = make()
    model = dcopt.DCClassifier(penalty="l1", positive=True, standardize=True, tol=1e-7)
    path = model.path(X, y, n_lams=6, ratio=0.1)
    assert path.nnz[0] == 0 and path.nnz[-1] > 0 and np.all(path.coefs >= 0.0)
    just_below = model.set_params(lam=0.98, lam_scale="max").fit(X, y)
    assert 0 < np.count_nonzero(just_below.coef_)
    assert not model.set_params(lam=1.0).fit(X, y).coef_.any()
    free = dcopt.DCClassifier(penalty="l1", standardize=True).path(X, y, n_lams=2)
    assert path.lams[0] <= free.lams[0]


def test_groups_with_signs():
    X, y = noisy(2)
    groups = [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9, 10, 11]]
    model = dcopt.DCRegressor(penalty="l1", groups=groups, lam=0.05, positive=True, tol=1e-8).fit(X, y)
    x, b = cp.Variable(12), cp.Variable()
    cost = cp.sum_squares(X @ x + b - y) / 160 + 0.05 * sum(cp.norm2(x[g]) for g in groups)
    cp.Problem(cp.Minimize(cost), [x >= 0]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.coef_, x.value, atol=1e-5)
    assert model.status_ == "CONVERGED" and np.count_nonzero(model.coef_) > 2


def test_cross_validation_selection_and_files(tmp_path):
    X, y = noisy(3)
    model = dcopt.DCRegressorCV(penalty="mcp", positive=True, n_lams=8, cv=3).fit(StandardScaler().fit_transform(X), y)
    assert np.all(model.path_.coefs >= 0.0)
    found = dcopt.stability_selection(dcopt.DCRegressor(penalty="l1", positive=True), X, y, q=3, n_halves=6)
    assert found.frequencies[1] < 0.5 <= found.frequencies[0]
    fitted = dcopt.DCRegressor(penalty="l1", lam=0.02, bounds=(np.zeros(12), 0.5)).fit(X, y)
    save_estimator(tmp_path / "a.dcm", fitted)
    again = load_estimator(tmp_path / "a.dcm")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.fit(X, y).coef_, fitted.coef_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positive": 1}, "positive = 1: expected True or False"),
        ({"positive": True, "bounds": (0, 1)}, r"bounds = \(0, 1\): expected None where positive=True"),
        ({"bounds": 3.0}, "bounds = 3.0: expected a pair"),
        ({"bounds": (0.1, 1.0)}, "bounds = .*: expected low <= 0 <= high"),
        ({"bounds": (0.0, "x")}, "high = 'x': expected numbers"),
        ({"bounds": (0.0, np.nan)}, "high = nan: expected numbers, not NaN"),
        (
            {"bounds": (np.zeros(3), 1.0)},
            "bounds = .*: expected one number, or one for each of 8 features: there are 3",
        ),
        ({"bounds": (1.0, -1.0)}, "low = 1.0: expected low <= high"),
        ({"positive": True, "unpenalized": [0]}, "bounds = .*: expected no features without a penalty"),
        ({"bounds": (-1, 1), "groups": [[0, 1]]}, "low, high = .*: expected 0 or infinite bounds"),
        ({"penalty": Fused(0.1), "positive": True}, "of = .*; not Fused"),
    ],
)
def test_refused_by_name(options, message):
    with pytest.raises(dcopt.BadSettings, match=message):
        dcopt.DCRegressor(**({"lam": None} | options)).fit(*numbers())


def test_what_bounded_promises():
    assert Bounded(L1(0.1)).certifies == "d-stationary"
    assert Bounded(TopK(0.1, 2)).certifies == Bounded(L1MinusL2(0.1)).certifies == "critical"
    with pytest.raises(dcopt.BadSettings, match="low, high = .*: expected bounds with 0 between them"):
        Bounded(L1(0.1), 0.5, 1.0).within(np.ones(2))
