"""Stability selection and bootstrap inclusion frequencies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from learn.data import numbers, three_classes, two_classes

import dcopt
from dcopt.fit.resamples import groups_of, halves, repetitions

LASSO = dcopt.DCRegressor(penalty="l1")


def simulated(seed, n=80, d=30, true=3):
    """Correlated columns, of which the first ones have an effect."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 1))
    return X, X[:, :true] @ np.full(true, 0.8) + rng.normal(size=n)


# ---- halves and samples


def test_halves_part_every_class():
    labels = np.array([0] * 7 + [1] * 4)
    groups = groups_of(labels, 11, 2, "halves")
    one, two = halves(groups, 3, 5)
    assert not set(one) & set(two) and len(one) == len(two) == 5
    assert np.bincount(labels[one]).tolist() == np.bincount(labels[two]).tolist() == [3, 2]
    np.testing.assert_array_equal(one, halves(groups, 3, 5)[0])
    assert not np.array_equal(one, halves(groups, 3, 6)[0]) and not np.array_equal(one, halves(groups, 4, 5)[0])
    all_of_them = np.concatenate([one for k in range(4000) for one in halves([np.arange(5)], 0, k)])
    np.testing.assert_allclose(np.bincount(all_of_them) / 4000, 0.8, atol=0.03)  # one of five rows is in neither


def test_samples_draw_as_many_rows_of_a_class_as_it_has():
    labels = np.array([0] * 7 + [1] * 4)
    counts = np.array([repetitions(groups_of(labels, 11, 2, ""), 0, b) for b in range(4000)])
    assert np.all(counts[:, :7].sum(axis=1) == 7) and np.all(counts[:, 7:].sum(axis=1) == 4)
    np.testing.assert_allclose(counts.mean(axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose((counts == 0).mean(axis=0)[:7], (6 / 7) ** 7, atol=0.03)


# ---- stability selection


def test_frequencies_are_those_of_paths_on_halves():
    """Against paths by the public method, on the same halves."""
    X, y = simulated(0)
    found = dcopt.stability_selection(LASSO, X, y, q=4, n_halves=6, n_lams=30, random_state=1)
    seed = int(np.random.RandomState(1).randint(np.iinfo(np.int32).max))
    counts = np.zeros(30)
    for k in range(3):
        for rows in halves([np.arange(80)], seed, k):
            path = LASSO.path(X[rows], y[rows], n_lams=30, ratio=1e-2)
            entered = np.cumsum(path.coefs != 0.0, axis=0) > 0
            counts += entered[np.flatnonzero(entered.sum(axis=1) <= 4)[-1]]
    np.testing.assert_array_equal(found.frequencies, counts / 6)
    assert found.bound == pytest.approx(16 / (0.5 * 30)) and found.n_halves == 6 and found.sizes.max() <= 4
    assert found.sizes.sum() == counts.sum() and np.all(np.diff(found.along, axis=0) >= 0.0)
    np.testing.assert_array_equal(found.along[-1], found.frequencies)


def test_what_is_selected_and_what_is_promised():
    X, y = simulated(1)
    found = dcopt.stability_selection(LASSO, X, y, max_false=1.0, threshold=0.8, n_halves=40, random_state=0)
    assert found.q == 4 and found.bound == pytest.approx(16 / (0.6 * 30))  # 5² would be 1.39
    assert set(found.selected) <= {0, 1, 2} and len(found.selected) >= 2
    assert "16" not in repr(found) and "at most 4² / (0.6 · 30) = 0.889" in repr(found)
    frame = pd.DataFrame(X, columns=[f"a{j}" for j in range(30)])
    named = dcopt.stability_selection(LASSO, frame, y, threshold=0.8, n_halves=40, random_state=0)
    assert named.selected == [f"a{j}" for j in found.selected]
    sparse = dcopt.stability_selection(LASSO, sp.csr_array(X), y, threshold=0.8, n_halves=40, random_state=0)
    np.testing.assert_array_equal(sparse.frequencies, found.frequencies)
    axes = found.plot()
    assert len(axes.lines) == np.count_nonzero(found.frequencies) + 1
    assert [t.get_text() for t in axes.get_legend().get_texts()] == [f"x{j}" for j in found.selected]


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_of_classes_and_features_without_a_penalty(data):
    X, y = data()
    model = dcopt.DCClassifier(penalty="scad", unpenalized=[4])
    found = dcopt.stability_selection(model, X, y, q=3, n_halves=10, random_state=0)
    assert found.p == X.shape[1] - 1 and np.isnan(found.frequencies[4]) and 4 not in found.selected
    assert set(found.selected[:2]) <= {0, 1, 2} and found.frequencies[[0, 1]].min() >= 0.8


def test_of_survival_times():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 20))
    time = rng.exponential(np.exp(-X[:, 0] + X[:, 3]))
    y, model = (time, time < 2.0), dcopt.DCSurvival(penalty="l1", lam=0.3, lam_scale="max")
    found = dcopt.stability_selection(model, X, y, q=4, n_halves=10, random_state=0)
    assert set(found.selected) == {0, 3}
    columns = dcopt.stability_selection(model, X, np.column_stack(y), q=4, n_halves=10, random_state=0)
    np.testing.assert_array_equal(columns.along, found.along)
    often = dcopt.bootstrap_inclusion(model, X, y, n_samples=5, random_state=0)
    assert often.frequencies[[0, 3]].min() == 1.0 and often.coefs.shape == (5, 20)


def test_any_number_of_jobs_gives_the_same_bits():
    X, y = simulated(2)
    made = [dcopt.stability_selection(LASSO, X, y, n_halves=12, n_jobs=jobs, random_state=3) for jobs in (None, 2, 3)]
    for other in made[1:]:
        np.testing.assert_array_equal(made[0].along, other.along)
    boots = [
        dcopt.bootstrap_inclusion(dcopt.DCRegressor(), X, y, n_samples=7, n_jobs=jobs, random_state=3)
        for jobs in (None, 2, 3)
    ]
    for other in boots[1:]:
        np.testing.assert_array_equal(boots[0].coefs, other.coefs)


def false_ones(runs, n_halves):
    """The number of false features that each simulated run selects, and the bound."""
    counts, bound = [], 0.0
    for run in range(runs):
        X, y = simulated(100 + run)
        found = dcopt.stability_selection(
            LASSO, X, y, q=5, threshold=0.6, n_halves=n_halves, n_lams=25, n_jobs=2, random_state=run
        )
        counts.append(sum(j >= 3 for j in found.selected))
        bound = found.bound
    return np.array(counts), bound


def test_the_bound_is_kept_in_a_few_runs():
    """One threshold that is low, so that there are false ones to count; the long simulation has 200 runs."""
    counts, bound = false_ones(12, 10)
    assert bound == pytest.approx(25 / (0.2 * 30)) and counts.mean() <= bound


@pytest.mark.slow
def test_the_bound_is_kept_in_a_simulation_of_200_runs():
    counts, bound = false_ones(200, 20)
    assert 0.0 < counts.mean() + 3.0 * counts.std(ddof=1) / np.sqrt(200) <= bound


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q": 0}, "q = 0"),
        ({"q": 9}, "q = 9: expected at most the number of features with a penalty, 8"),
        ({"q": 2, "max_false": 1.0}, "max_false = 1.0: expected None where q is given"),
        ({"max_false": 0.1}, r"max_false = 0.1: expected at least 0.25 = .* for p = 8 features"),
        ({"threshold": 0.5}, "threshold = 0.5"),
        ({"threshold": 1.1}, "threshold = 1.1"),
        ({"n_halves": 5}, "n_halves = 5: expected an even number"),
        ({"n_jobs": 0}, "n_jobs = 0"),
        ({"n_lams": 1}, "n_lams = 1"),
        ({"ratio": 0.0}, "ratio = 0"),
    ],
)
def test_settings_are_refused_by_name(options, message):
    with pytest.raises(dcopt.BadSettings, match=message):
        dcopt.stability_selection(LASSO, *numbers(), **options)


def test_data_and_estimators_are_refused_by_name():
    X, y = numbers()
    for estimator in (dcopt.DCRegressorCV(), "l1", None):
        with pytest.raises(
            dcopt.BadSettings, match="estimator = .*: expected a DCClassifier"
        ):
            dcopt.stability_selection(estimator, X, y)
    with pytest.raises(dcopt.BadSettings, match="penalty = "):
        dcopt.stability_selection(dcopt.DCRegressor(penalty="box"), X, y)
    with pytest.raises(dcopt.BadInput, match="X: 3 rows: halves need 4"):
        dcopt.stability_selection(LASSO, X[:3], y[:3])
    labels = np.array(["a"] * 119 + ["b"])
    with pytest.raises(dcopt.BadInput, match="y, row 119: a class with 1 row: halves need 2 of each"):
        dcopt.stability_selection(dcopt.DCClassifier(), X, labels)
    with pytest.raises(dcopt.BadInput, match="y, row 119: a class with 1 row: bootstrap samples need 2 of each"):
        dcopt.bootstrap_inclusion(dcopt.DCClassifier(), X, labels)
    with pytest.raises(dcopt.BadSettings, match="n_samples = 1"):
        dcopt.bootstrap_inclusion(LASSO, X, y, n_samples=1)
    with pytest.raises(dcopt.BadSettings, match="estimator = 'l1'"):
        dcopt.bootstrap_inclusion("l1", X, y)


# ---- bootstrap inclusion


def test_inclusion_is_that_of_fits_to_repeated_rows():
    X, y = simulated(0)
    model = dcopt.DCRegressor(penalty="mcp", lam=0.3, tol=1e-8)
    found = dcopt.bootstrap_inclusion(model, X, y, n_samples=8, random_state=4)
    seed = int(np.random.RandomState(4).randint(np.iinfo(np.int32).max))
    for b in range(8):
        rows = np.repeat(np.arange(80), repetitions([np.arange(80)], seed, b).astype(int))
        np.testing.assert_allclose(model.fit(X[rows], y[rows]).coef_, found.coefs[b], atol=1e-6)
    np.testing.assert_array_equal(found.frequencies, np.mean(found.coefs != 0.0, axis=0))
    np.testing.assert_array_equal(found.coef, model.fit(X, y).coef_)
    np.testing.assert_allclose(found.quantiles(0.25, 0.5)[1], np.median(found.coefs, axis=0))
    assert found.frequencies[:3].min() == 1.0 and set(found.statuses) == {"CONVERGED"} and len(found.sizes) == 8
    assert "8 bootstrap samples (8 CONVERGED)" in repr(found)
    assert len(found.plot().patches) == 20


def test_inclusion_of_a_choice_of_lam_and_of_classes():
    X, y = three_classes()
    model = dcopt.DCClassifierCV(penalty="mcp", n_lams=6, cv=3, n_jobs=2)
    found = dcopt.bootstrap_inclusion(model, pd.DataFrame(X).add_prefix("z"), y, n_samples=4, random_state=0)
    assert found.coefs.shape == (4, 3, 6) and found.frequencies[:3].min() == 1.0 and found.names[0] == "z0"
    assert model.n_jobs == 2 and not hasattr(model, "coef_")
    with pytest.raises(dcopt.BadSettings, match="high = 0.1"):
        found.quantiles(0.2, 0.1)
