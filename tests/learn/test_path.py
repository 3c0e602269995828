"""Paths and cross-validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from learn.data import numbers, three_classes, two_classes

import dcopt


@pytest.mark.parametrize("penalty", ["l1", "mcp"])
def test_a_path_begins_with_the_null_model_and_ends_where_a_fit_does(penalty):
    X, y = two_classes()
    model = dcopt.DCClassifier(penalty=penalty, tol=1e-7)
    path = dcopt.path(model, X, y, n_lams=12, ratio=0.05)
    assert path.nnz[0] == 0 and path.nnz[-1] > 2 and path.coefs.shape == (12, 1, 8) and not hasattr(model, "coef_")
    assert np.all(np.diff(path.lams) < 0) and np.all(np.diff(path.loss) < 1e-9) and set(path.statuses) == {"CONVERGED"}
    if penalty == "l1":
        cold = model.set_params(lam=path.lams[-1]).fit(X, y)
        np.testing.assert_allclose(cold.coef_, path.coefs[-1], atol=1e-4)


def test_the_criteria_are_their_formulas():
    X, y = numbers()
    path = dcopt.DCRegressor(penalty="mcp").path(X, y, n_lams=8, ebic_gamma=0.5)
    k = -1
    rss = np.sum((X @ path.coefs[k] + path.intercepts[k] - y) ** 2)
    bic = len(y) * np.log(rss / len(y)) + path.nnz[k] * np.log(len(y))
    assert path.bic[k] == pytest.approx(bic) and path.ebic[k] == pytest.approx(bic + path.nnz[k] * np.log(8))
    assert path.nnz[path.best()] == 2  # the two features that are in the model
    w = np.arange(len(y)) % 3
    one = dcopt.DCRegressor().path(X, y, w, n_lams=5)
    other = dcopt.DCRegressor().path(np.repeat(X, w, axis=0), np.repeat(y, w), n_lams=5)
    np.testing.assert_allclose(one.bic, other.bic, rtol=1e-9)


def test_given_lams_and_several_classes():
    X, y = three_classes()
    path = dcopt.DCClassifier(tol=1e-3).path(X, y, lams=[0.05, 0.2, 0.1])
    assert path.lams.tolist() == [0.2, 0.1, 0.05] and path.coefs.shape == (3, 3, 6)


@pytest.mark.parametrize("make", [dcopt.DCClassifierCV, dcopt.DCRegressorCV])
def test_cross_validation(make):
    X, y = two_classes() if make is dcopt.DCClassifierCV else numbers()
    first, second, sparser = (
        make(penalty="mcp", n_lams=8, cv=4, n_jobs=jobs, rule=rule).fit(X, y)
        for jobs, rule in ((1, "best"), (2, "best"), (1, "1se"))
    )
    np.testing.assert_array_equal(first.cv_loss_, second.cv_loss_)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.cv_loss_.shape == (8, 4) and first.lam_ == first.lams_[np.argmin(first.cv_loss_.mean(axis=1))]
    assert sparser.lam_ >= first.lam_ and first.status_ == "CONVERGED" and first.score(X, y) > 0.8
    np.testing.assert_array_equal(first.coef_, first.path_.coefs[first.index_])


def test_a_score_instead_of_the_loss():
    X, y = two_classes()
    model = dcopt.DCClassifierCV(penalty="l1", n_lams=5, cv=3, scoring="accuracy").fit(X, y)
    assert np.all(model.cv_loss_ <= 0) and np.all(model.cv_loss_ >= -1)
    assert model.get_params()["penalty__lam"] is None and not hasattr(model, "partial_fit")


def test_figures():
    pytest.importorskip("matplotlib")
    X, y = numbers()
    model = dcopt.DCRegressorCV(n_lams=5, cv=3).fit(X, y)
    assert model.plot_cv().get_xlabel() == "λ" and len(model.plot_path().lines) > 2


def test_ctrl_c_ends_a_path_and_not_one_of_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that the user interrupts ends the whole cross-validation, and leaves the estimator as it was."""
    from dcopt.fit import task

    made = []

    def interrupted(*args, **settings):
        made.append(1)
        result = dcopt.solve(*args, **settings)
        return replace(result, status=dcopt.Status.INTERRUPTED) if len(made) == 3 else result

    monkeypatch.setattr(task, "solve", interrupted)
    X, y = two_classes()
    model = dcopt.DCClassifierCV(n_lams=5, cv=2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(made) == 3 and not hasattr(model, "coef_")


def test_a_path_ends_where_the_classes_are_separable():
    """Beyond it no solution is determined: coefficients grow until the penalty is constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + X[:, 1] > 0
    path = dcopt.DCClassifier(penalty="scad").path(X, y, n_lams=40, ratio=1e-3)
    removed = 1.0 - path.loss / path.loss[0]
    assert removed[-1] >= 0.999 > removed[-2] and len(path.lams) == len(path.coefs) == len(path.statuses) < 40
    whole = dcopt.DCClassifier(penalty="scad").path(X, y, lams=np.append(path.lams, path.lams[-1] / 2))
    assert len(whole.lams) == len(path.lams) + 1  # what is asked for is given
    model = dcopt.DCClassifierCV(penalty="scad", n_lams=40, ratio=1e-3, cv=3).fit(X, y)
    np.testing.assert_array_equal(model.lams_, path.lams)
    assert model.cv_loss_.shape == (len(path.lams), 3)

def test_the_command_line_ends_its_paths_there_too():
    from dcopt.fit.steps import Fit

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    fit = Fit(dcopt.DCClassifier(penalty="scad", random_state=0), X, X[:, 0] + X[:, 1] > 0)
    tuning, folds = fit.tuning(40, 1e-3, 3, 0), []
    fit.tune(tuning, 3, 0, "best", lambda now: folds.append(len(now.losses[-1])), lambda *seen: None)
    assert folds == [len(tuning.lams)] * 3 and len(tuning.lams) < 40


def test_folds_have_one_blas_thread_for_any_n_jobs_which_decides_bits() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    X, y = numbers()
    seen: list[int] = []

    def score(model, X, y):
        pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
        seen.extend(pool["num_threads"] for pool in pools if "numpy" in pool["filepath"] or "scipy" in pool["filepath"])
        return model.score(X, y)

    models = [
        dcopt.DCRegressorCV(penalty="l1", n_lams=6, cv=3, n_jobs=jobs, scoring=score).fit(X, y) for jobs in (None, 1, 2)
    ]
    assert seen and set(seen) == {1}
    for model in models[1:]:
        np.testing.assert_array_equal(models[0].cv_loss_, model.cv_loss_)
        np.testing.assert_array_equal(models[0].coef_, model.coef_)


@pytest.mark.parametrize("penalty", ["l1", "mcp"])
def test_a_path_of_numbers_ends_where_the_loss_is_removed_and_says_so(penalty: str) -> None:
    X, _ = numbers()
    y = X[:, 0] - 2.0 * X[:, 3] + 1e-3 * np.sin(np.arange(len(X)))
    found = dcopt.DCRegressor(penalty=penalty).path(X, y)
    assert len(found.lams) < 100 and found.explained[-1] >= 0.999 > found.explained[-2]
    assert f"after {len(found.lams)} of 100 values" in found.notes[0] and found.notes[0] in repr(found)
    whole = dcopt.DCRegressor(penalty=penalty).path(X, y, lams=found.lams[-1] * np.array([1.0, 0.5, 0.1]))
    assert len(whole.lams) == 3 and not whole.notes
    model = dcopt.DCRegressorCV(penalty=penalty, cv=3).fit(X, y)
    assert any("values of lam" in note for note in model.notes_) and len(model.lams_) == len(found.lams)


def test_the_default_grid_has_100_values_and_is_shorter_for_wide_data() -> None:
    X, y = two_classes()
    found = dcopt.DCClassifier(penalty="l1").path(X, y)
    assert len(found.lams) == 100 and found.lams[-1] == pytest.approx(1e-3 * found.lams[0])
    wide = dcopt.DCClassifier(penalty="l1").path(X[:6], y[:6])
    assert wide.lams[1] / wide.lams[0] == pytest.approx(0.01 ** (1 / 99))
