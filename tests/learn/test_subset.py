"""penalty="l0(k=…)": the best k features, against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from learn.data import numbers, three_classes, two_classes
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV

import dcopt
from dcopt.regularizers import L0, TopK


def correlated(seed, n=60, d=12, k=4, rho=0.7, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X, X[:, rng.choice(d, k, replace=False)] @ rng.choice([-1.0, 1.0], k) + noise * rng.normal(size=n)


def least_squares(X, y, k):
    """The features and the mean loss of the best k of all."""
    X, y = X - X.mean(axis=0), y - y.mean()
    every = {S: np.sum((X[:, S] @ np.linalg.lstsq(X[:, S], y)[0] - y) ** 2) for S in combinations(range(X.shape[1]), k)}
    best = min(every, key=every.get)
    return best, every[best] / (2 * len(y))


def test_least_squares_against_enumeration():
    hits = 0
    for seed in range(20):
        X, y = correlated(seed)
        model = dcopt.DCRegressor(penalty="l0(k=4)").fit(X, y)
        best, loss = least_squares(X, y, 4)
        found = np.mean((model.predict(X) - y) ** 2) / 2
        hits += tuple(np.flatnonzero(model.coef_)) == best
        assert loss * (1 - 1e-9) <= found == pytest.approx(model.objective_, rel=1e-9)
        assert model.status_ == "CONVERGED" and np.count_nonzero(model.coef_) == 4
        assert "d-stationary" in str(model.certificate_)
        exact = np.linalg.lstsq(np.c_[X[:, model.coef_ != 0], np.ones(60)], y)[0]
        np.testing.assert_allclose(model.coef_[model.coef_ != 0], exact[:-1], atol=1e-8)
    assert hits >= 19


def test_exchanges_leave_a_wrong_start():
    """Two features whose sum is one other, noisy, feature: the noisy one looks best alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 5] = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200)
    y = X[:, 0] + X[:, 1] + 0.05 * rng.normal(size=200)
    model = dcopt.DCRegressor(penalty="l0(k=2)").fit(X, y)
    assert np.argmax(np.abs(np.corrcoef(X.T, y)[-1, :-1])) == 5 and np.flatnonzero(model.coef_).tolist() == [0, 1]


def test_logistic_against_enumeration():
    hits = 0
    for seed in range(5):
        X, y = two_classes(n=80, d=7, seed=seed)
        s = np.where(y == "yes", 1.0, -1.0)

        def loss(S, X=X, s=s):
            A = np.c_[X[:, S], np.ones(len(s))]
            return minimize(lambda v: np.mean(np.logaddexp(0.0, -s * (A @ v))), np.zeros(A.shape[1]), tol=1e-10).fun

        every = {S: loss(S) for S in combinations(range(7), 3)}
        model = dcopt.DCClassifier(penalty=L0(k=3)).fit(X, y)
        assert model.objective_ >= min(every.values()) - 1e-8 and model.status_ == "CONVERGED"
        hits += model.objective_ <= min(every.values()) + 1e-7
    assert hits == 5


def test_other_data_and_losses():
    X, y = correlated(1)
    dense = dcopt.DCRegressor(penalty="l0(k=4)", standardize=True).fit(X, y)
    sparse = dcopt.DCRegressor(penalty="l0(k=4)").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-7)  # least squares on the features know no units
    robust = dcopt.DCRegressor(loss="huber", penalty="l0(k=4)").fit(X, np.where(np.arange(60) < 3, 1e3, y))
    assert np.count_nonzero(robust.coef_) == 4 and robust.status_ == "CONVERGED"
    wide = dcopt.DCRegressor(penalty="l0(k=3)").fit(*correlated(2, n=40, d=700, k=3, noise=0.1))
    assert np.count_nonzero(wide.coef_) == 3 and wide.score(*correlated(2, n=40, d=700, k=3, noise=0.1)) > 0.95
    every = dcopt.DCRegressor(penalty="l0(k=50)").fit(X, y)
    np.testing.assert_allclose(every.coef_, dcopt.DCRegressor(penalty="zero", tol=1e-8).fit(X, y).coef_, atol=1e-5)
    weights = np.arange(60) % 3
    weighted = dcopt.DCRegressor(penalty="l0(k=4)").fit(X, y, weights)
    repeated = dcopt.DCRegressor(penalty="l0(k=4)").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)


def test_the_size_is_chosen_by_folds_or_a_criterion():
    X, y = numbers(n=100, d=10)
    found = GridSearchCV(dcopt.DCRegressor(penalty="l0(k=1)"), {"penalty__k": [1, 2, 3, 6]}, cv=4).fit(X, y)
    assert found.best_params_["penalty__k"] in (2, 3)
    bic = {k: dcopt.DCRegressor(penalty=f"l0(k={k})").fit(X, y).criteria(X, y).bic for k in (1, 2, 3, 6)}
    assert min(bic, key=bic.get) == 2


def test_the_exact_penalty_is_that_of_top_k():
    """At the solution F of TopK with the λ of the fit is f, and no near point has less."""
    X, y = correlated(3)
    model = dcopt.DCRegressor(penalty="l0(k=4)").fit(X, y)
    P = model._task(X, y, None).problem(TopK(model.lam_, 4))
    x, rng = model.x_, np.random.default_rng(0)
    assert P.value(x) == pytest.approx(model.objective_, rel=1e-12)
    for _ in range(300):
        near = x + 1e-4 * rng.normal(size=x.shape) * (rng.random(x.shape) < 0.5)
        assert P.value(near) >= P.value(x) - 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0.1}, "lam = 0.1: expected None: the size k of l0"),
        ({"penalty": "l0(k=0)"}, "k = 0|penalty"),
        ({"penalty": "l0(k=2.5)"}, "k = 2.5"),
        ({"penalty": "l0(size=2)"}, "setting of l0"),
        ({"positive": True}, "bounds = .*: the exchanges of l0 know no bounds"),
        ({"unpenalized": [0]}, "unpenalized"),
        ({"groups": [[0, 1]]}, "groups"),
        ({"search": True}, "search"),
    ],
)
def test_refused_by_name(options, message):
    with pytest.raises(dcopt.BadSettings, match=message):
        dcopt.DCRegressor(**({"penalty": "l0(k=2)"} | options)).fit(*numbers())


def test_data_refused_by_name():
    X, y = numbers()
    with pytest.raises(dcopt.BadSettings, match="penalty__k = 8: expected fewer features than rows: there are 6"):
        dcopt.DCRegressor(penalty="l0(k=8)").fit(X[:6], y[:6])
    with pytest.raises(dcopt.BadSettings, match="one score for each row"):
        dcopt.DCClassifier(penalty="l0(k=2)").fit(*three_classes())
    with pytest.raises(dcopt.BadSettings, match="GridSearchCV over penalty__k"):
        dcopt.DCRegressorCV(penalty="l0(k=2)").fit(X, y)
    with pytest.raises(dcopt.BadSettings, match="penalty = .*: expected"):
        dcopt.DCRegressor(penalty="l0(k=2)").partial_fit(X, y)
