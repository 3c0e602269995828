"""Callbacks, early stopping and lines on the screen."""

from __future__ import annotations

import numpy as np
import pytest
from learn.data import two_classes

import dcopt


def test_functions_of_a_state():
    X, y = two_classes()
    seen = []
    dcopt.DCClassifier(lam=0.01, callbacks=[lambda state: seen.append(state.t)]).fit(X, y)
    assert seen[:3] == [1, 2, 3]
    with pytest.warns(UserWarning, match="INTERRUPTED"):
        model = dcopt.DCClassifier(lam=0.01, tol=0.0, callbacks=[lambda state: state.t >= 4]).fit(X, y)
    assert model.status_ == "INTERRUPTED" and model.n_iter_ == 4

    def broken(state):
        raise RuntimeError("from a callback")

    with pytest.raises(RuntimeError, match="from a callback"):
        dcopt.DCClassifier(callbacks=[broken]).fit(X, y)


def test_scikit_learn_callbacks():
    pytest.importorskip("sklearn.callback")

    class Watch:
        def __init__(self, most=None):
            self.tasks, self.most, self.scores, self.open = 0, most, [], 0

        def setup(self, estimator, context):
            self.open += 1

        def teardown(self, estimator, context):
            self.open -= 1

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name == "pass":
                self.tasks += 1
                self.scores.append(fitted_estimator.score(X, y))
            return self.most is not None and self.tasks >= self.most

    X, y = two_classes()
    watch = Watch()
    model = dcopt.DCClassifier(lam=0.01).set_callbacks(watch).fit(X, y)
    assert watch.tasks == pytest.approx(model.trace_["passes"][-1], abs=1)
    assert watch.scores[-1] > 0.8 and watch.open == 0
    stop = Watch(most=2)
    with pytest.warns(UserWarning, match="INTERRUPTED"):
        dcopt.DCClassifier(lam=0.01, tol=0.0).set_callbacks(stop).fit(X, y)
    assert stop.tasks == 2
    with pytest.raises(ValueError):
        dcopt.DCClassifier().set_callbacks(stop).fit(X, y[:3])
    assert stop.open == 0


def test_early_stopping_keeps_the_best_point_on_rows_set_aside():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    y = X[:, 0] + 2.0 * rng.normal(size=120) > 0
    options = {"penalty": "l2", "lam": 1e-5, "solver": "dca", "random_state": 0, "tol": 1e-6, "max_passes": 2000}
    model = dcopt.DCClassifier(validation_fraction=0.3, patience=3, **options).fit(X, y)
    assert model.status_ == "INTERRUPTED" and "early stopping" in str(model.certificate_)
    with pytest.warns(UserWarning):
        whole = dcopt.DCClassifier(**(options | {"max_passes": 100})).fit(X, y)
    assert np.linalg.norm(model.coef_) < np.linalg.norm(whole.coef_)


def test_verbose_prints(capsys):
    X, y = two_classes()
    dcopt.DCClassifier(lam=0.05, verbose=1).fit(X, y)
    said = capsys.readouterr().out
    assert "[dcopt] pass" in said and "CONVERGED" in said
    dcopt.DCClassifier(lam=0.05).fit(X, y)
    assert capsys.readouterr().out == ""
