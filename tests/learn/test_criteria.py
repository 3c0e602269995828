"""AIC, BIC and EBIC against formulas that are written here, and scikit-learn's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from learn.data import numbers, three_classes, two_classes
from sklearn.linear_model import LassoLarsIC, lars_path

import dcopt


def log_likelihood(model, X, y, weights=None):
    """Σ w log p(yᵢ) with the probabilities that the model predicts."""
    p = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.average(np.log(p), weights=weights) * (len(y) if weights is None else np.sum(weights)))


@pytest.mark.parametrize("groups", [None, "entries"])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_of_a_classifier(data, groups):
    """Two classes have one coefficient for each feature; of three, one of each feature's follows from the others."""
    X, y = data()
    w = 1.0 + np.arange(len(y)) % 3
    options = {} if data is two_classes else {"groups": groups}
    model = dcopt.DCClassifier(penalty="l1", lam=0.05, **options).fit(X, y, w)
    found, n = model.criteria(X, y, w, gamma=0.5), w.sum()
    used = np.count_nonzero(model.coef_, axis=0)
    df = used.sum() if data is two_classes else np.minimum(used, 2).sum()
    deviance = -2.0 * log_likelihood(model, X, y, w)
    share = np.array([w[y == label].sum() / n for label in model.classes_])
    null = -2.0 * n * float(share @ np.log(share))
    bic = deviance + df * math.log(n)
    expected = (
        deviance,
        1.0 - deviance / null,
        df,
        deviance + 2 * df,
        bic,
        bic + np.sum(used > 0) * math.log(X.shape[1]),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert 0 < np.sum(used > 0) < X.shape[1] and (data is two_classes or df == found.df < model.coef_.size)


def test_of_several_targets():
    """−2 log-likelihood of normal errors with one estimated variance, up to a constant."""
    X, y = numbers()
    Y = np.column_stack([y, X[:, 2] + 0.5 * np.random.default_rng(0).normal(size=len(y))])
    model = dcopt.DCRegressor(penalty="l1", lam=0.05).fit(X, Y)
    found, errors = model.criteria(X, Y), model.predict(X) - Y
    used = np.count_nonzero(model.coef_)
    assert found.df == used > 3 and found.deviance == pytest.approx(np.sum(errors**2), rel=1e-9)
    likelihood = -0.5 * errors.size * (np.log(np.mean(errors**2)) + 1.0)
    assert found.aic == pytest.approx(-2.0 * likelihood - errors.size + 2.0 * used, rel=1e-9)


def test_of_a_path_is_of_its_models():
    for make, (X, y) in ((dcopt.DCRegressor, numbers()), (dcopt.DCClassifier, three_classes())):
        model = make(penalty="l1", standardize=True, tol=1e-8)
        path = model.path(X, y, n_lams=6)
        fitted = model.set_params(lam=path.lams[3]).fit(X, y).criteria(X, y)
        for name in fitted._fields:
            assert getattr(path, name)[3] == pytest.approx(getattr(fitted, name), rel=1e-5), name
        assert path.explained[0] == pytest.approx(0.0, abs=1e-9) and np.all(np.diff(path.explained) > -1e-9)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_the_criteria_of_an_independent_path(criterion):
    """What LassoLarsIC charges for its models, beside N log(RSS / N) of the same models; between knots of its path."""
    X, y = numbers(n=80, d=12, seed=3)
    y = y + 2.0 * np.random.default_rng(0).normal(size=80)
    lars = LassoLarsIC(criterion=criterion, noise_variance=1.0).fit(X, y)
    knots = lars.alphas_
    path = dcopt.DCRegressor(penalty="l1", tol=1e-9).path(X, y, lams=np.sqrt(knots[:-2] * knots[1:-1]))
    at_knots = lars.criterion_ - 80 * math.log(2 * math.pi)
    rss = [np.sum((X @ c + b - y) ** 2) for c, b in _lars_path(X, y)]
    charged = (at_knots - rss)[1:-1]
    found = [np.sum((X @ c + b - y) ** 2) for c, b in zip(path.coefs, path.intercepts, strict=True)]
    np.testing.assert_allclose(getattr(path, criterion), 80 * np.log(np.array(found) / 80) + charged, rtol=1e-6)


def _lars_path(X, y):
    """The models at the knots."""
    centre = X.mean(axis=0)
    _, _, coefs = lars_path(X - centre, y - y.mean(), method="lasso")
    return [(c, y.mean() - centre @ c) for c in coefs.T]


@pytest.mark.parametrize("rule", ["aic", "bic", "ebic"])
def test_a_rule_takes_the_least(rule):
    X, y = two_classes()
    model = dcopt.DCClassifierCV(penalty="l1", rule=rule, n_lams=12).fit(X, y)
    assert model.index_ == int(np.argmin(getattr(model.path_, rule))) and model.cv_loss_.shape == (12, 0)
    assert model.plot_cv().get_ylabel() == rule.upper()
    np.testing.assert_allclose(model.plot_cv().lines[0].get_ydata(), getattr(model.path_, rule))


def test_a_smaller_price_keeps_more():
    X, y = numbers(n=60, d=20, seed=2)
    y = y + np.random.default_rng(1).normal(size=60)
    path = dcopt.DCRegressor(penalty="l1").path(X, y)
    counts = [path.nnz[path.best(name)] for name in ("aic", "bic", "ebic")]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]


def test_rows_of_another_fit_are_refused():
    X, y = two_classes()
    model = dcopt.DCClassifier().fit(X, y)
    with pytest.raises(dcopt.BadSettings, match=r"X = \(5,\): expected the rows of the fit: 8 features"):
        model.criteria(X[:, :5], y)
    with pytest.raises(dcopt.BadSettings, match="y = .*: expected the classes of the fit"):
        model.criteria(X, np.where(y == "yes", "da", "nein"))
    with pytest.raises(dcopt.BadSettings, match="gamma = -1"):
        model.criteria(X, y, gamma=-1.0)
    with pytest.raises(dcopt.BadSettings, match="criterion = 'cp'"):
        dcopt.DCClassifier().path(X, y, n_lams=3).best("cp")
