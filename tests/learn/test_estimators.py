"""What the estimators promise: certificates, weights, storage, the null model, and a place in scikit-learn's world."""

from __future__ import annotations

import doctest
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from learn.data import numbers, three_classes, two_classes, wide_indices
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dcopt
from dcopt.errors import BadInput, BadSettings
from dcopt.learn import classifier, regressor
from dcopt.regularizers import L1, MCP, REGULARIZERS, SCAD, ElasticNet, Profiled

PROFILED = [name for name, r in REGULARIZERS.items() if isinstance(r, Profiled | ElasticNet)]


def as_x(model):
    """The solution as the x of a problem with an intercept."""
    return np.append(model.coef_.ravel(), model.intercept_)


# ---- certificates


@pytest.mark.parametrize("measure", ["criticality", "gap"])
@pytest.mark.parametrize("penalty", ["scad", "mcp", "l1", "exponential", "l2"])
def test_converged_is_true(penalty, measure):
    X, y = two_classes()
    model = dcopt.DCClassifier(penalty=penalty, lam=0.02, tol=1e-6, measure=measure).fit(X, y)

    P = dcopt.erm(X, y, "logistic", replace(REGULARIZERS[penalty], lam=0.02), intercept=True)
    assert model.status_ == "CONVERGED" and model.n_iter_ == model.trace_["t"][-1]
    assert dcopt.measures.criticality(P, as_x(model)) <= (1e-6 if measure == "criticality" else 1e-2)
    assert model.objective_ == pytest.approx(P.value(as_x(model)), rel=1e-12)
    for word in (measure, "<= tol ", "(1e-06 relative)", "passes of", "CONVERGED"):
        assert word in str(model.certificate_)


def test_the_trace_counts_from_the_beginning_of_the_fit():
    """Of one way and of two, in an estimator and in the fit of the command line: passes end where they say.

    The first step needs the curvature at the start: its pass counts before the first line.
    """
    from dcopt.fit.steps import Fit
    from dcopt.fit.task import Progress

    X, y = two_classes()
    one = dcopt.DCClassifier(penalty="mcp", lam=0.02).fit(X, y)
    with pytest.warns(ConvergenceWarning):  # a tolerance of 0: the second way is tried, too
        two = dcopt.DCClassifier(penalty="mcp", lam=0.02, tol=0.0, max_passes=40).fit(X, y)
    fit = Fit(dcopt.DCClassifier(penalty="mcp", lam=0.02), X, y)
    done = fit.run(Progress(fit.start()))
    for model in one, two, fit.keep(done):
        passes, steps = model.trace_["passes"], model.trace_["t"]
        assert passes[0] == 1 and steps[0] == 0 and passes == sorted(passes) and steps == sorted(steps)
        assert steps[-1] == model.n_iter_ and f" {passes[-1]:.4g} passes of" in str(model.certificate_)
    assert two.trace_["t"].count(0) == 1 and two.solver_.method == "pdcae"


def test_one_warning_with_all_numbers():
    X, y = two_classes()
    X = X * np.array([1e6] + [1.0] * 7)
    with pytest.warns(ConvergenceWarning) as caught:
        model = dcopt.DCClassifier(lam=0.001, max_passes=2).fit(X, y)
    assert len(caught) == 1
    text = str(caught[0].message)
    for word in ("criticality", "> tol", "BUDGET", "max_passes=2", "columns differ in scale by 1e+06: standardise"):
        assert word in text
    assert model.status_ == "BUDGET" and model.predict(X).shape == y.shape


def test_warnings_as_errors_leave_a_fitted_estimator():
    X, y = two_classes()
    model = dcopt.DCClassifier(lam=0.001, max_passes=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.certificate_ == same.certificate_


def test_bad_input_leaves_the_estimator_as_it_was():
    X, y = two_classes()
    model = dcopt.DCClassifier(lam=0.02)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X == 0, np.nan, X), y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    for bad in ((X[:, :3], np.ones(len(y))), (X[:, :3], y[:5]), (X[:0], y[:0])):
        with pytest.raises(ValueError):
            model.fit(*bad)
    model.set_params(penalty="nonsense")
    with pytest.raises(BadSettings, match="nonsense"):
        model.fit(X[:, :2], y)
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert before.keys() == after.keys() and all(before[name] is after[name] for name in before)
    assert model.predict(X).shape == y.shape


# ---- the null model


@pytest.mark.parametrize("name", PROFILED)
@pytest.mark.parametrize("loss", ["logistic", "squared-sigmoid", "softmax", "squared", "huber"])
def test_lam_max_is_the_null_model_and_less_is_not(name, loss):
    if loss in ("squared", "huber"):
        (X, y), make = numbers(), dcopt.DCRegressor
    else:
        (X, y), make = three_classes() if loss == "softmax" else two_classes(share=0.05), dcopt.DCClassifier
    model = make(loss, name, 1.0, lam_scale="max", tol=1e-8).fit(X, y)
    assert not model.coef_.any() and model.status_ == "CONVERGED" and np.any(model.intercept_ != 0)
    less = make(loss, name, 0.9, lam_scale="max", tol=1e-6).fit(X, y)
    assert less.coef_.any()
    if make is dcopt.DCClassifier and loss != "squared-sigmoid":
        share = np.array([np.mean(y == k) for k in model.classes_])
        np.testing.assert_allclose(model.predict_proba(X[:1])[0], share, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lam_max_with_unpenalised_features_and_weights(dtype):
    X, y = two_classes()
    w = np.arange(len(y)) % 3
    model = dcopt.DCClassifier(penalty="mcp", lam=1.0, lam_scale="max", unpenalized=[2, -1], tol=1e-5)
    model.fit(X.astype(dtype), y, w)
    assert np.flatnonzero(model.coef_[0]).tolist() == [2, 7] and model.coef_.dtype == dtype


# ---- weights, storage, order


@pytest.mark.parametrize("solver", ["auto", "dca", "mm-saga", "dca-page"])
def test_weights_are_repetitions(solver):
    X, y = two_classes()
    w = np.random.default_rng(1).integers(0, 4, len(y))
    mu, tol = 0.1, 1e-7
    penalty = ElasticNet(lam=0.01, mu=mu)
    model = dcopt.DCClassifier(penalty=penalty, solver=solver, tol=tol, random_state=0, max_passes=5000)
    one, other = clone(model).fit(X, y, w), clone(model).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert one.status_ == other.status_ == "CONVERGED"
    bound = 2 * tol / 0.005  # F is strongly convex: mu in the features, sup φ″ p(1−p) in the intercept
    assert np.linalg.norm(as_x(one) - as_x(other)) <= bound


@pytest.mark.parametrize("make", [dcopt.DCClassifier, dcopt.DCRegressor])
def test_storage_dtype_and_order_change_nothing(make):
    X, y = two_classes() if make is dcopt.DCClassifier else numbers()
    order = np.random.default_rng(0).permutation(X.shape[1])
    model = make(penalty="mcp", lam=0.05, tol=1e-8)
    first = clone(model).fit(X, y)
    sparse = (sp.csr_array(X), sp.csc_array(X), sp.coo_matrix(X), wide_indices(X))
    for other in (*sparse, np.asfortranarray(X), X.tolist()):
        np.testing.assert_allclose(clone(model).fit(other, y).coef_, first.coef_, atol=1e-6)
    turned = clone(model).fit(X[:, order], y)
    np.testing.assert_allclose(turned.coef_[..., np.argsort(order)], first.coef_, atol=1e-6)
    narrow = clone(model).set_params(tol=1e-4).fit(X.astype(np.float32), y)
    assert narrow.coef_.dtype == np.float32 and narrow.status_ == "CONVERGED"
    np.testing.assert_allclose(narrow.coef_, first.coef_, atol=1e-2)


@pytest.mark.parametrize("loss", ["logistic", "squared-sigmoid"])
def test_class_imbalance_does_not_stall(loss):
    X, y = two_classes(3000, 5, share=0.005)
    for penalty in ("l1", "scad"):
        model = dcopt.DCClassifier(loss, penalty, 0.3, lam_scale="max", tol=1e-6).fit(X, y)
        assert model.status_ == "CONVERGED" and model.coef_.any(), model.certificate_


def test_balanced_classes_are_weights():
    X, y = two_classes(share=0.2)
    balanced = dcopt.DCClassifier(penalty="l1", lam=0.05, class_weight="balanced", tol=1e-8).fit(X, y)
    w = np.where(y == "yes", 1 / np.mean(y == "yes"), 1 / np.mean(y == "no"))
    weighted = dcopt.DCClassifier(penalty="l1", lam=0.05, tol=1e-8).fit(X, y, w)
    np.testing.assert_allclose(weighted.coef_, balanced.coef_, atol=1e-7)


def test_uncentred_columns_converge():
    X, y = numbers()
    moved = dcopt.DCRegressor(penalty="mcp", lam=0.05, tol=1e-6).fit(X + 1000.0, y)
    plain = dcopt.DCRegressor(penalty="mcp", lam=0.05, tol=1e-6).fit(X, y)
    assert moved.status_ == "CONVERGED"
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-6)


# ---- settings


def test_parts_are_reached_and_never_changed():
    penalty = MCP(lam=0.05)
    model = dcopt.DCClassifier(penalty=penalty)
    model.set_params(penalty__gamma=5.0, penalty__lam=0.01)
    assert penalty == MCP(lam=0.05) and model.penalty == MCP(lam=0.01, gamma=5.0)
    assert model.get_params()["penalty__gamma"] == 5.0
    by_name = dcopt.DCRegressor("huber", "scad").set_params(loss__c=2.0, penalty__a=2.5)
    assert by_name.loss.c == 2.0 and by_name.penalty == "scad(a=2.5)" and by_name.get_params()["penalty__a"] == 2.5
    together = dcopt.DCClassifier().set_params(penalty__gamma=4.0, penalty="mcp")
    assert together.penalty == "mcp(gamma=4.0)" and together.get_params()["penalty__lam"] is None
    assert clone(together).set_params(penalty__lam=0.2).penalty == MCP(lam=0.2, gamma=4.0)
    assert together.set_params(**together.get_params()).penalty == "mcp(gamma=4.0)"
    with pytest.raises(BadSettings, match="penalty__gama"):
        model.set_params(penalty__gama=1.0)
    with pytest.raises(ValueError, match="nothing"):
        model.set_params(nothing=1)
    assert clone(together).penalty == together.penalty


def test_grid_search_is_the_same_on_two_processes():
    X, y = two_classes()
    grid = {"penalty__gamma": [2.5, 4.0], "lam": [0.02, 0.1]}
    found = [
        GridSearchCV(dcopt.DCClassifier(penalty="mcp"), grid, cv=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    ]
    np.testing.assert_allclose(found[0].cv_results_["mean_test_score"], found[1].cv_results_["mean_test_score"])
    assert found[0].best_params_ == found[1].best_params_
    np.testing.assert_allclose(found[0].best_estimator_.coef_, found[1].best_estimator_.coef_, atol=1e-10)


def test_pipeline_pickle_calibration_and_containers():
    X, y = two_classes()
    ramp = dcopt.DCClassifier("smoothed-ramp", "l1", 0.01, tol=1e-2)
    pipe = make_pipeline(StandardScaler(), ramp).set_output(transform="default")
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.65
    model = pipe.fit(X, y)[-1]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert not hasattr(model, "predict_proba") and hasattr(dcopt.DCClassifier("squared-sigmoid"), "predict_proba")
    assert CalibratedClassifierCV(clone(ramp), cv=3).fit(X, y).predict_proba(X).shape == (120, 2)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    X, y = two_classes()
    names = [f"f{j}" for j in range(X.shape[1])]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    model = dcopt.DCClassifier(lam=1.0, lam_scale="max", unpenalized=["f3"]).fit(frame, y)
    assert list(model.feature_names_in_) == names and np.flatnonzero(model.coef_[0]).tolist() == [3]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])


def test_names_need_columns_with_names():
    X, y = two_classes()
    for bad, said in ((["age"], "have no names"), ([99], "column number"), (["f0", 3.5], "no names")):
        with pytest.raises(BadSettings, match=said):
            dcopt.DCClassifier(unpenalized=bad).fit(X, y)
    with pytest.raises(BadSettings, match="no weights"):
        dcopt.DCClassifier(penalty="l2", unpenalized=[0]).fit(X, y)
    with pytest.raises(BadSettings, match="kink"):
        dcopt.DCClassifier(penalty="l2", lam=0.1, lam_scale="max").fit(X, y)
    with pytest.raises(BadSettings, match="no lam"):
        dcopt.DCClassifier(penalty="nonnegative", lam=0.1).fit(X, y)


def test_refusals_call_settings_by_their_names():
    """As the user wrote them, and with what would have done."""
    X, y = two_classes()
    for settings, said in (
        ({"penalty": "scat"}, r"penalty.*a known name or a Regularizer; did you mean 'scad'\?"),
        ({"solver": "dca-pag"}, r"solver.*a known name; did you mean 'dca-page'\?"),
        ({"solver": "nothing"}, r"solver.*known: auto, "),
        ({"measure": "gaps"}, r"measure.*a known name; did you mean 'gap'\?"),
        ({"tol": -1.0}, r"tol.*a finite number >= 0"),
    ):
        with pytest.raises(BadSettings, match=said):
            dcopt.DCClassifier(**settings).fit(X, y)
    with pytest.raises(BadSettings, match="a finite number$"):
        dcopt.losses.SmoothedHinge(a="x")
    for many, said in ((3, r"3 classes \(0, 1, 2\)"), (7, r"7 classes \(0, 1, 2, 3, 4, …\)")):
        with pytest.raises(BadInput, match=said):
            dcopt.erm(np.eye(many), np.arange(many), "logistic")


def test_groups_enter_together():
    X, y = numbers()
    model = dcopt.DCRegressor(penalty="mcp", lam=0.3, groups=[[0, 5], [1, 2, 3]], unpenalized=[7]).fit(X, y)
    there = model.coef_ != 0
    assert model.status_ == "CONVERGED" and there[0] == there[5] and there[1] == there[2] == there[3] and there[7]
    with pytest.raises(BadSettings, match="all of the group"):
        dcopt.DCRegressor(groups=[[0, 5]], unpenalized=[5]).fit(X, y)
    X, y = three_classes()
    rows = dcopt.DCClassifier(penalty="scad", lam=0.15, lam_scale="max", tol=1e-3).fit(X, y).coef_ != 0
    assert rows.shape == (3, 6) and np.all(rows.all(axis=0) | ~rows.any(axis=0)) and not rows.all()
    for groups in ("row", "entry", ""):
        with pytest.raises(BadSettings, match='groups.*"rows", "entries", lists of features'):
            dcopt.DCClassifier(groups=groups).fit(X, y)


def test_single_coefficients_of_several_classes_are_those_of_scikit_learn():
    """The multinomial lasso with an intercept, to saga's digits."""
    X, y = three_classes()
    lam, n = 0.03, len(y)
    ours = dcopt.DCClassifier(penalty="l1", lam=lam, groups="entries", tol=1e-8).fit(X, y)
    settings = {"C": 1.0 / (n * lam), "l1_ratio": 1.0, "tol": 1e-10, "max_iter": 10**5, "random_state": 0}
    other = LogisticRegression(solver="saga", **settings).fit(X, y)
    there = ours.coef_ != 0
    assert ours.status_ == "CONVERGED" and np.any(there.any(axis=0) & ~there.all(axis=0))
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-5)


def test_losses_belong_to_their_estimators():
    X, y = two_classes()
    with pytest.raises(BadSettings, match="DCRegressor"):
        dcopt.DCClassifier(loss="huber").fit(X, y)
    with pytest.raises(BadSettings, match="DCClassifier"):
        dcopt.DCRegressor(loss="logistic").fit(*numbers())
    with pytest.raises(ValueError, match="Only binary"):
        dcopt.DCClassifier(loss="sigmoid").fit(*three_classes())
    with pytest.raises(BadInput, match="1 class"):
        dcopt.DCClassifier().fit(X, np.ones(len(X)))


SOLVERS = ["dca", "cccp", "dca-page", "mm-saga", "mm-sarah", "dca-svrg", "pdcae", "bdca", "ssdc-svrg"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_answer(solver):
    X, y = two_classes()
    model = dcopt.DCClassifier(penalty=L1(lam=0.03), solver=solver, tol=1e-5, random_state=0, max_passes=20_000)
    model.fit(X, y)
    best = dcopt.DCClassifier(penalty=L1(lam=0.03), tol=1e-8).fit(X, y)
    assert model.solver_.method == solver and model.status_ == "CONVERGED"
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-3)


def test_auto_says_why():
    from dcopt.data.check import as_rows
    from dcopt.fit.solver_choice import choices
    from dcopt.fit.task import Task
    from dcopt.losses import Logistic, Softmax, Squared

    def ways(solver: str, n: int, shape: tuple[int, ...], loss: dcopt.losses.Loss, r: dcopt.Regularizer) -> list:
        entries = np.ones(n), (np.arange(n), np.arange(n) % shape[0])
        labels = np.zeros(n, np.int64) if loss.labels == "class" else np.ones(n)
        rows = as_rows(sp.csr_array(entries, shape=(n, shape[0])))
        return choices(solver, Task(rows, labels, None, loss, shape[1:], intercept=False), r)

    many, wide = (ways("auto", 10_000, (d,), Logistic(), SCAD(lam=0.1)) for d in (50, 50_000))
    assert [way.method for way in many] == ["dca-nested", "pdcae"] and many[1].decomposition == "gram"
    assert [way.method for way in wide] == ["dca-local", "dca-page"]
    assert ways("auto", 1_000, (50,), Logistic(), SCAD(lam=0.1))[0].method == "dca-local"
    assert ways("auto", 10_000, (50,), Squared(), SCAD(lam=0.1))[0].method == "dca-local"
    assert ways("auto", 10_000, (50, 3), Softmax(), SCAD(lam=0.1))[0].method == "dca-nested"
    apart = ways("auto", 10_000, (4,), Logistic(), SCAD(lam=0.1, groups=[[0, 1], [2, 3]]))
    assert [way[:2] for way in apart] == [("gram", "pdcae"), ("scalar", "dca-page")]
    pairs = SCAD(lam=0.1, groups=np.arange(200).reshape(-1, 2).tolist())
    assert [ways("auto", 100, (200, k), Softmax(), pairs)[0].decomposition for k in (10, 11)] == ["gram", "scalar"]
    assert ways("dca", 100, (200, 11), Softmax(), pairs)[0].decomposition == "scalar"
    assert all(way.reason for way in many + wide + apart)
    X, y = two_classes()
    assert "curvature" in dcopt.DCClassifier(lam=0.05).fit(X, y).solver_.reason


def test_search_leaves_critical_points_for_lower_ones():
    """Of 20 problems with columns that stand for each other, against enumeration: DCA from the least squares of every
    subset."""
    hits = np.zeros(2, int)
    for seed in range(20):
        draw = np.random.default_rng(seed)
        X = 0.3 * (draw.normal(size=(80, 5)) + draw.normal(size=(80, 1)))
        y = X @ np.array([1.0, 0.0, 0.0, 1.0, 0.0]) + draw.normal(size=80)
        P, ends = dcopt.erm(X, y, "squared", MCP(lam=0.1)), []
        for S in range(32):
            some, x = np.flatnonzero([S >> j & 1 for j in range(5)]), np.zeros(5)
            x[some] = np.linalg.lstsq(X[:, some], y, rcond=None)[0]
            ends.append(dcopt.solve(P, "dca-local", x0=x, tol=1e-9, measure="criticality", seed=0).certificate.F)
        base = dcopt.DCRegressor(penalty=MCP(lam=0.1), fit_intercept=False, tol=1e-9)
        fits = [clone(base).set_params(search=search).fit(X, y) for search in (False, True)]
        assert fits[1].objective_ <= fits[0].objective_ + 1e-12 and fits[1].status_ == "CONVERGED"
        assert fits[1].solver_.method == "dca-local"
        hits += [fit.objective_ <= min(ends) + 1e-9 for fit in fits]
    assert hits[1] >= 17 > hits[0] + 2


def test_a_path_is_not_searched_and_who_cannot_search_says_so():
    X, y = two_classes()
    model = dcopt.DCClassifier(penalty="mcp", lam=0.02, solver="dca-local")
    paths = [clone(model).set_params(search=search).path(X, y, n_lams=5) for search in (False, True)]
    np.testing.assert_array_equal(*(path.coefs for path in paths))
    with pytest.raises(dcopt.BadSettings, match="search"):
        clone(model).set_params(search=True, solver="dca-page").fit(X, y)
    with pytest.raises(dcopt.BadSettings, match="search"):
        clone(model).set_params(search="deep").fit(X, y)
    for search in (True, np.True_):
        assert clone(model).set_params(search=search).fit(X, y).objective_ <= clone(model).fit(X, y).objective_ + 1e-12
    for groups, penalty, data in ((None, "mcp", three_classes()), (None, "top-k", (X, y)), ([[0, 1]], "mcp", (X, y))):
        with pytest.raises(dcopt.BadSettings, match="search.*single coefficients"):
            dcopt.DCClassifier(penalty=penalty, groups=groups, search=True).fit(*data)


def test_what_belongs_to_a_fit_does_not_outlive_it():
    X, y = two_classes()
    model = dcopt.DCClassifier(penalty="mcp", lam=0.02, holdout=20).fit(X, y)
    assert model.objective_ and model.trace_ and model.solver_
    model.partial_fit(X, y)
    assert not any(hasattr(model, name) for name in ("objective_", "trace_", "solver_")) and hasattr(model, "drift_")
    model.fit(X, y)
    assert not hasattr(model, "drift_") and model.objective_


def test_warm_start_continues():
    X, y = two_classes()
    model = dcopt.DCClassifier(lam=0.03, warm_start=True, tol=1e-6).fit(X, y)
    coef = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, coef)
    model.set_params(warm_start=False).fit(X, y)
    np.testing.assert_array_equal(model.coef_, coef)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_seed_same_fit():
    X, y = two_classes()
    models = [
        dcopt.DCClassifier(lam=0.03, solver="dca-page", random_state=seed, max_passes=5).fit(X, y)
        for seed in (7, 7, 8)
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert np.any(models[0].coef_ != models[2].coef_)


def test_the_examples_in_the_docstrings():
    for module in (classifier, regressor):
        found = doctest.testmod(module)
        assert found.attempted and not found.failed


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:partial_fit has")
def test_the_page_runs_and_prints_what_it_says(capsys):
    import re
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "estimators.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block, names)
    said = " ".join(re.findall(r"```text\n(.*?)```", text, re.S)).split()
    found = capsys.readouterr().out.split()
    assert len(found) == len(said)
    for k, (one, other) in enumerate(zip(found, said, strict=True)):
        if k and found[k - 1] == "criticality":
            assert 0.0 <= float(one) <= 1e-12 and float(other) <= 1e-12  # of the size of rounding
        else:
            assert one == other


@pytest.mark.parametrize("penalty", ["scad", "mcp", "l1", "elastic-net"])
def test_no_default_strength_comes_from_the_registry(penalty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, the strength of the penalty is a share of lam_max, also in a stream and on a path."""
    X, y = two_classes()

    def strengths() -> list[float]:
        whole = dcopt.DCClassifier(penalty=penalty, max_passes=2.0).fit(X, y)
        stream = dcopt.DCClassifier(penalty=penalty, holdout=20).partial_fit(X, y, classes=np.unique(y))
        best = dcopt.DCClassifierCV(penalty=penalty, n_lams=3, cv=2, max_passes=2.0).fit(X, y)
        return [whole.lam_, stream.lam_, *best.lams_]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = strengths()
        monkeypatch.setitem(REGULARIZERS, penalty, replace(REGULARIZERS[penalty], lam=7.0))
        assert strengths() == want
