"""standardize=True: the fit on scaled columns, in the units of the data, everywhere; and the hint where it is off."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from learn.data import numbers, three_classes, two_classes
from sklearn.base import clone

import dcopt
from dcopt.data import check
from dcopt.errors import BadSettings
from dcopt.fit.standard import UNEVEN, columns_of, scaling_of
from dcopt.fit.steps import Fit
from dcopt.fit.task import Progress
from dcopt.fit.tuning import FOLD_RULES, RULES
from dcopt.learn.files import load_estimator, save_estimator
from dcopt.regularizers import MCP, Box, Nonnegative

C, R = dcopt.DCClassifier, dcopt.DCRegressor
UNITS = np.array([1e4, 1.0, 1e-3, 50.0, 1.0, 1.0, 200.0, 1.0])
KINDS = {"two": two_classes, "three": three_classes, "numbers": numbers}


def data(kind):
    """Columns in very different units, dense ones far from zero."""
    X, y = KINDS[kind]()
    return X * UNITS[: X.shape[1]] + 3.0 * UNITS[: X.shape[1]], y


def model_of(kind, **settings):
    return (R if kind == "numbers" else C)(penalty="scad", lam=0.1, lam_scale="max", tol=1e-8, **settings)


def scores(model, X):
    return model.predict(X) if isinstance(model, R) else model.decision_function(X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_fit_of_scaled_columns_in_the_units_of_the_data(kind, weighted):
    X, y = data(kind)
    w = np.random.default_rng(0).integers(0, 4, len(y)) if weighted else None
    mean = np.average(X, axis=0, weights=w)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    Z = (X - mean) / deviation
    ours, by_hand = model_of(kind, standardize=True).fit(X, y, w), model_of(kind).fit(Z, y, w)
    assert ours.status_ == "CONVERGED" and by_hand.coef_.any()
    np.testing.assert_allclose(ours.coef_ * deviation, by_hand.coef_, atol=1e-7)
    np.testing.assert_allclose(scores(ours, X), scores(by_hand, Z), atol=1e-6)
    np.testing.assert_allclose(ours.scale_, deviation, rtol=1e-10)
    assert ours.lam_ == pytest.approx(by_hand.lam_) and ours.objective_ == pytest.approx(by_hand.objective_)
    assert "of the standardised columns" in str(ours.certificate_) and "standardised" not in str(by_hand.certificate_)
    if weighted:
        again = model_of(kind, standardize=True).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        np.testing.assert_allclose(again.coef_ * deviation, ours.coef_ * deviation, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_units_do_not_matter(kind):
    X, y = data(kind)
    units = np.geomspace(1e-3, 1e3, X.shape[1])
    one, other = model_of(kind, standardize=True).fit(X, y), model_of(kind, standardize=True).fit(X * units, y)
    np.testing.assert_allclose(scores(other, X * units), scores(one, X), atol=1e-6)


def test_sparse_rows_are_scaled_and_not_centred():
    X, y = two_classes()
    A = sp.csr_array(X * UNITS)
    deviation = A.toarray().std(axis=0)
    ours = model_of("two", standardize=True).fit(A, y)
    by_hand = model_of("two").fit(sp.csr_array(A.toarray() / deviation), y)
    np.testing.assert_allclose(ours.coef_ * deviation, by_hand.coef_, atol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(A), ours.predict_proba(A.toarray()), atol=1e-9)
    narrow = clone(ours).set_params(tol=1e-4).fit(A.astype(np.float32), y)
    assert narrow.coef_.dtype == np.float32
    np.testing.assert_allclose(narrow.coef_ * deviation, ours.coef_ * deviation, atol=1e-2)


def test_paths_and_cross_validation():
    X, y = data("two")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, by_hand = C(standardize=True).path(X, y, n_lams=8), C().path(Z, y, n_lams=8)
    np.testing.assert_allclose(ours.coefs * X.std(axis=0), by_hand.coefs, atol=1e-4)
    np.testing.assert_array_equal(ours.nnz, by_hand.nnz)
    for scoring in (None, "roc_auc", lambda e, X, y: -np.mean((e.predict_proba(X)[:, 1] - (y == "yes")) ** 2)):
        cv = [
            dcopt.DCClassifierCV(n_lams=6, cv=3, scoring=scoring, standardize=flag).fit(rows, y)
            for flag, rows in ((True, X), (False, Z))
        ]
        np.testing.assert_allclose(cv[0].cv_loss_, cv[1].cv_loss_, atol=1e-4)
        np.testing.assert_allclose(cv[0].coef_ * X.std(axis=0), cv[1].coef_, atol=1e-4)


def test_a_scorer_sees_the_rows_as_they_were_given():
    X, y = data("numbers")
    seen = []

    def look(estimator, X, y):
        seen.append(np.array(X))
        return 0.0

    dcopt.DCRegressorCV(n_lams=2, cv=2, standardize=True, scoring=look).fit(X, y)
    assert all(any(np.array_equal(row, given) for given in X) for rows in seen for row in rows)


def test_groups_unpenalized_warm_starts_callbacks_and_files(tmp_path):
    X, y = data("numbers")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    settings = {"groups": [[0, 2], [4, 5]], "unpenalized": [3]}
    ours = model_of("numbers", standardize=True, **settings).fit(X, y)
    by_hand = model_of("numbers", **settings).fit(Z, y)
    np.testing.assert_allclose(ours.coef_ * X.std(axis=0), by_hand.coef_, atol=1e-6)
    warm = model_of("numbers", standardize=True, warm_start=True).fit(X, y)
    coef = warm.coef_.copy()
    warm.fit(X, y)
    assert warm.n_iter_ <= 1
    np.testing.assert_allclose(warm.coef_, coef, rtol=1e-9)
    early = model_of("numbers", standardize=True, validation_fraction=0.2, random_state=0).fit(X, y)
    assert early.score(X, y) > 0.8
    save_estimator(tmp_path / "m.dcm", ours)
    again = load_estimator(tmp_path / "m.dcm")
    np.testing.assert_array_equal(again.predict(X), ours.predict(X))
    np.testing.assert_array_equal(again.scale_, ours.scale_)
    assert again.standardize is True and again.coef_table().equals(ours.coef_table())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ours)).predict(X), ours.predict(X))
    np.testing.assert_allclose(again.fit(X, y).coef_, ours.coef_)


def test_what_cannot_be_standardised_says_so():
    X, y = data("numbers")
    with pytest.raises(BadSettings, match="standardize = True: expected False in partial_fit"):
        R(standardize=True).partial_fit(X, y)
    with pytest.raises(BadSettings, match="standardize = True: expected False: Box limits coefficients in the units"):
        R(penalty=Box(-1.0, 1.0), standardize=True).fit(X, y)
    with pytest.raises(BadSettings, match="standardize = 'yes': expected True or False"):
        R(standardize="yes").fit(X, y)
    assert R(penalty=Nonnegative(), standardize=True).fit(X, y).coef_.min() >= 0.0


def test_constant_columns_keep_their_scale():
    X, y = numbers()
    X[:, 3], X[:, 4] = 7.1, 0.0
    for rows in (X, sp.csr_array(X)):
        for intercept in (True, False):
            model = R(penalty="l1", lam=0.01, standardize=True, fit_intercept=intercept).fit(rows, y)
            assert model.status_ == "CONVERGED" and np.abs(model.coef_).max() < 5.0 and model.coef_[4] == 0.0


def test_the_scaling_is_folded_back():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * [1.0, 50.0, 0.1, 0.0] + [3.0, 1.0, 0.0, 2.0]
    for wrap in (np.asarray, sp.csr_array):
        rows = check.as_rows(wrap(X))
        for intercept in (True, False):
            scaling = scaling_of(columns_of(rows), wrap is sp.csr_array, intercept)
            Z = scaling.of(rows)
            for shape in ((4 + intercept,), (4 + intercept, 3)):
                x = rng.normal(size=shape)
                y = scaling.fold(x)
                was, now = Z.dot(x[:4]) + (x[4] if intercept else 0.0), X @ y[:4] + (y[4] if intercept else 0.0)
                np.testing.assert_allclose(now, was, atol=1e-9)
                np.testing.assert_allclose(scaling.unfold(y), x, atol=1e-12)


@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_deviations_are_right(wrap, dtype):
    """Also where the mean is a million deviations away, with weights, in blocks of rows and with entries that are 0."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 9)) * np.geomspace(1e-3, 1e3, 9) * (rng.random((20_000, 9)) < np.linspace(0.01, 1, 9))
    X[:, 4] += 1e6 if dtype is np.float64 else 1e2
    X, w = X.astype(dtype), rng.random(20_000)
    wide = X.astype(np.float64)
    mean = np.average(wide, axis=0, weights=w)
    found = columns_of(check.as_rows(wrap(X)), w)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.deviation, np.sqrt(np.average((wide - mean) ** 2, axis=0, weights=w)), rtol=1e-8)


def test_the_command_line_gives_the_same_model():
    """dcopt fit runs through Fit: the same bits as an estimator, and the same choice of λ for the same folds."""
    X, y = data("two")
    model = C(penalty=MCP(0.1), lam=0.05, standardize=True, random_state=0)
    fit = Fit(clone(model), X, y)
    done = fit.run(Progress(fit.start()))
    np.testing.assert_array_equal(fit.keep(done).coef_, model.fit(X, y).coef_)
    from dcopt.fit.steps import _folds

    for rule in RULES:
        fit = Fit(C(penalty=MCP(0.1), standardize=True, random_state=0), X, y)
        count = 4 if rule in FOLD_RULES else 0
        tuning = fit.tuning(10, 0.01, count, 7)
        fit.tune(tuning, count, 7, rule, lambda now: None, lambda *seen: None)
        part = _folds(fit.task, 4, 7)
        folds = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(4)]
        settings = {"penalty": MCP(0.1), "standardize": True, "n_lams": 10, "ratio": 0.01}
        python = dcopt.DCClassifierCV(**settings, cv=folds, rule=rule).fit(X, y)
        np.testing.assert_array_equal(python.lams_, tuning.lams)
        assert python.lam_ == tuning.lam and python.notes_ == (*tuning.along.notes, *filter(None, (fit.note,)))


# ---- the hint


def test_one_hint_where_columns_differ_in_scale():
    X, y = two_classes()
    X = X * UNITS
    with pytest.warns(dcopt.ColumnScaleWarning) as caught:
        model = C(penalty="l1").fit(X, y)
    text = str(caught[0].message)
    assert len(caught) == 1 and "(column 0 against column 2)" in text and "standardize=True" in text
    assert model.notes_[0] == text and text in model.summary()
    frames = pytest.importorskip("pandas")
    with pytest.warns(dcopt.ColumnScaleWarning, match="'income' against 'share'"):
        C(penalty="l1").fit(frames.DataFrame(X, columns=["income", "b", "share", *"defgh"]), y)
    with pytest.warns(dcopt.ColumnScaleWarning):
        dcopt.DCClassifierCV(n_lams=3, cv=2).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "units"),
    [
        ({"standardize": True}, UNITS),
        ({"penalty": "zero"}, UNITS),
        ({"penalty": "nonnegative"}, UNITS),
        ({"lam": 0.0}, UNITS),
        ({}, np.geomspace(1.0, UNEVEN / 3, 8)),
    ],
)
def test_no_hint_where_the_penalty_does_not_see_the_units(settings, units):
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", dcopt.ColumnScaleWarning)
        warnings.simplefilter("ignore", dcopt.learn.messages.ConvergenceWarning)
        model = C(**({"penalty": "l1"} | settings)).fit(X * units, y)
    assert not any("scale" in note for note in model.notes_)


def test_rare_features_are_no_matter_of_scale():
    """A column that is 1 in one row of ten thousand beside one that is 1 in half of them, as one-hot encoders write."""
    rng = np.random.default_rng(0)
    X = (rng.random((10_000, 4)) < [0.5, 0.5, 2e-4, 1e-3]).astype(float)
    X[X[:, 2] > 0, 2] = 1e-9  # two entries do not tell a unit
    y = X[:, 0] + 0.1 * rng.normal(size=10_000)
    for rows in (X, sp.csr_array(X)):
        assert R(penalty="l1").fit(rows, y).notes_ == ()
