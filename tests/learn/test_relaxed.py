"""Refits without shrinkage, and weights of an adaptive penalty."""

from __future__ import annotations

import numpy as np
import pytest
from learn.data import numbers, three_classes, two_classes
from sklearn.linear_model import LogisticRegression

import dcopt
from dcopt.regularizers import MCP


def noisy(seed=0, n=90, d=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 1.0 + X[:, 0] - 0.7 * X[:, 1] + 0.5 * X[:, 2] + rng.normal(size=n)


@pytest.mark.parametrize("standardize", [False, True])
def test_a_relaxed_path_is_least_squares_on_its_features(standardize):
    X, y = noisy()
    model = dcopt.DCRegressor(penalty="l1", standardize=standardize, tol=1e-8)
    plain, refit = model.path(X, y, n_lams=12), model.path(X, y, n_lams=12, relaxed=True)
    np.testing.assert_array_equal(refit.coefs != 0.0, plain.coefs != 0.0)
    for coef, b in zip(refit.coefs, refit.intercepts, strict=True):
        some = coef != 0.0
        exact = np.linalg.lstsq(np.c_[X[:, some], np.ones(90)], y)[0]
        np.testing.assert_allclose(np.append(coef[some], b), exact, atol=1e-6)
    assert set(refit.statuses) == {"CONVERGED"} and np.all(refit.loss <= plain.loss + 1e-9)
    assert refit.loss[3] < plain.loss[3] - 0.01


def test_of_classes():
    X, y = two_classes()
    path = dcopt.DCClassifier(penalty="scad", tol=1e-7).path(X, y, n_lams=8, ratio=0.1, relaxed=True)
    some = np.flatnonzero(path.coefs[4, 0])
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X[:, some], y)
    np.testing.assert_allclose(path.coefs[4, 0, some], other.coef_[0], atol=1e-3)
    X, y = three_classes()
    wide = dcopt.DCClassifier(penalty="l1", tol=1e-6).path(X, y, n_lams=5, ratio=0.3, relaxed=True)
    plain = dcopt.DCClassifier(penalty="l1", tol=1e-6).path(X, y, n_lams=5, ratio=0.3)
    np.testing.assert_array_equal(np.any(wide.coefs, axis=1), np.any(plain.coefs, axis=1))
    assert np.all(wide.loss[1:] < plain.loss[1:])


def test_bounds_free_features_and_too_many_features():
    X, y = noisy()
    bounded = dcopt.DCRegressor(penalty="l1", bounds=(-0.2, 0.6)).path(X, y, n_lams=10, relaxed=True)
    assert bounded.coefs.min() == -0.2 and bounded.coefs.max() == 0.6
    free = dcopt.DCRegressor(penalty="l1", unpenalized=[9]).path(X, y, n_lams=6, relaxed=True)
    assert np.all(free.coefs[:, 9] != 0.0)
    few = X[:8], y[:8]
    plain, refit = (dcopt.DCRegressor(penalty="l1").path(*few, n_lams=20, ratio=1e-3, relaxed=r) for r in (False, True))
    full = plain.nnz >= 8
    np.testing.assert_array_equal(refit.coefs[full], plain.coefs[full])


def test_cross_validation_of_refits():
    """Against folds by hand."""
    X, y = noisy(n=60)
    folds = [(np.flatnonzero(np.arange(60) % 3 != k), np.flatnonzero(np.arange(60) % 3 == k)) for k in range(3)]
    model = dcopt.DCRegressorCV(penalty="l1", n_lams=10, cv=folds, relaxed=True).fit(X, y)
    for k, (train, test) in enumerate(folds):
        path = dcopt.DCRegressor(penalty="l1").path(X[train], y[train], lams=model.lams_, relaxed=True)
        left = [np.mean((X[test] @ c + b - y[test]) ** 2) / 2 for c, b in zip(path.coefs, path.intercepts, strict=True)]
        np.testing.assert_allclose(model.cv_loss_[:, k], left, rtol=1e-5)
    some = model.coef_ != 0.0
    exact = np.linalg.lstsq(np.c_[X[:, some], np.ones(60)], y)[0]
    np.testing.assert_allclose(model.coef_[some], exact[:-1], atol=1e-4)
    plain = dcopt.DCRegressorCV(penalty="l1", n_lams=10, cv=folds).fit(X, y)
    assert np.count_nonzero(model.coef_) <= np.count_nonzero(plain.coef_) and model.status_ == "CONVERGED"
    for wrong in (1, "yes", None):
        with pytest.raises(dcopt.BadSettings, match="relaxed"):
            dcopt.DCRegressorCV(relaxed=wrong).fit(X, y)
        with pytest.raises(dcopt.BadSettings, match="relaxed"):
            dcopt.DCRegressor().path(X, y, relaxed=wrong)


def test_adaptive_weights_are_their_formula():
    np.testing.assert_allclose(dcopt.adaptive_weights([2.0, -1.0, 0.0], floor=0.01), [1.0, 2.0, 100.0])
    np.testing.assert_allclose(dcopt.adaptive_weights([2.0, -1.0, 0.0], 2.0, floor=0.1), [1.0, 4.0, 100.0])
    np.testing.assert_allclose(dcopt.adaptive_weights([[3.0, 0.0], [4.0, 1.0]]), [1.0, 5.0])
    np.testing.assert_allclose(dcopt.adaptive_weights([3.0, 1.0, 4.0], groups=[[0, 2], [1]]), [1.0, 5.0])
    X, y = numbers()
    scaled = dcopt.DCRegressor(penalty="l2", lam=0.1, standardize=True).fit(X * np.geomspace(1, 50, 8), y)
    plain = dcopt.DCRegressor(penalty="l2", lam=0.1, standardize=True).fit(X, y)
    np.testing.assert_allclose(dcopt.adaptive_weights(scaled), dcopt.adaptive_weights(plain), rtol=1e-3)


def test_an_adaptive_fit_is_a_lasso_of_scaled_columns():
    X, y = noisy()
    weights = dcopt.adaptive_weights(dcopt.DCRegressor(penalty="l2", lam=0.01).fit(X, y))
    model = dcopt.DCRegressor(penalty="l1", lam=0.05, tol=1e-8).set_params(penalty__weights=weights.tolist())
    scaled = dcopt.DCRegressor(penalty="l1", lam=0.05, tol=1e-8).fit(X / weights, y)
    np.testing.assert_allclose(model.fit(X, y).coef_, scaled.coef_ / weights, atol=1e-6)
    chosen = dcopt.DCRegressorCV(penalty=MCP(0.1, weights=weights), rule="bic", n_lams=10).fit(X, y)
    assert np.flatnonzero(chosen.coef_).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("x",), "pilot = 'x'"),
        (([0.0, 0.0],), "pilot = .*: expected coefficients of which one is not 0"),
        (([np.nan, 1.0],), "pilot = .*: expected finite"),
        (([],), "pilot"),
        (([1.0], 0.0), "power = 0.0"),
        (([1.0], 1.0, 0.0), "floor = 0.0"),
        (([1.0], 1.0, 1.5), "floor = 1.5"),
    ],
)
def test_refused_by_name(given, message):
    pilot, power, floor = (*given, *(1.0, 1e-3)[len(given) - 1 :])
    with pytest.raises(dcopt.BadSettings, match=message):
        dcopt.adaptive_weights(pilot, power, floor=floor)
    with pytest.raises(dcopt.BadSettings, match="groups"):
        dcopt.adaptive_weights([1.0, 2.0], groups=[[0, 5]])
