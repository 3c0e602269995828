"""What an estimator refuses, by name; what comes out where weights, folds, groups or bounds are unusual."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from learn.data import numbers, two_classes
from sklearn.model_selection import GridSearchCV, GroupKFold

import dcopt
from dcopt.errors import BadInput, BadSettings
from dcopt.regularizers import L1, MCP, Box, Simplex

X, Y = two_classes()
_, REAL = numbers()
N = len(Y)
MASKED = np.ma.array(X, mask=X > 1.0)
R, C = dcopt.DCRegressor, dcopt.DCClassifier
RCV, CCV = dcopt.DCRegressorCV, dcopt.DCClassifierCV


def malformed(index):
    A = sp.csr_array(X)
    A.indices = A.indices.copy()
    A.indices[2] = index
    return A


SETTINGS = {
    "max_seconds": [R(max_seconds=s) for s in (np.nan, np.inf, -1, "x")] + [RCV(max_seconds=np.nan)],
    "callbacks": [R(callbacks=3), R(callbacks=[3])],
    "verbose": [R(verbose="x")],
    "groups": [R(groups=3), R(groups="row")],
    "cv": [RCV(cv=[])],
    "validation_fraction": [R(validation_fraction=s) for s in (0.0, 1.0, 2.0)],
    "penalty": [RCV(penalty="l2"), RCV(penalty="zero"), R(penalty=L1(0.1, weights=np.ones(7)))],
    "scoring": [RCV(n_lams=4, cv=3, scoring=lambda m, X, y: np.nan if m.coef_.any() else 1.0)],
}


@pytest.mark.parametrize(("name", "model"), [(name, model) for name, models in SETTINGS.items() for model in models])
def test_a_setting_is_refused_by_its_name(name, model):
    with pytest.raises(BadSettings) as error:
        model.fit(X, REAL)
    assert error.value.setting == name
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("weight", [{"no": 1, "yes": np.nan}, {"no": 1, "yes": -1}, {"no": 1, "yes": np.inf}])
def test_class_weights_that_are_none(weight):
    with pytest.raises(BadSettings, match="class_weight"):
        C(class_weight=weight).fit(X, Y)


def test_a_feature_by_name_where_there_are_no_names():
    with pytest.raises(BadSettings, match="expected a number: the columns of X have no names"):
        R(unpenalized="3").fit(X, REAL)


@pytest.mark.parametrize(
    ("argument", "fit"),
    {
        "X": lambda: R().fit(MASKED, REAL),
        "y": lambda: R().fit(X, np.ma.array(REAL, mask=REAL > 2.0)),
        "sample_weight": lambda: R().fit(X, REAL, np.ma.array(np.ones(N), mask=REAL > 2.0)),
    }.items(),
)
def test_masked_entries_are_not_data(argument, fit):
    with pytest.raises(BadInput, match=f"^{argument}: has masked entries"):
        fit()


def test_masked_entries_where_a_model_is_there():
    model = R().fit(X, REAL)
    for use in (model.predict, lambda X: C().partial_fit(X, Y, classes=["no", "yes"])):
        with pytest.raises(BadInput, match="masked"):
            use(MASKED)
    assert np.array_equal(model.predict(np.ma.array(X)), model.predict(X))  # a mask that hides nothing


@pytest.mark.parametrize("index", [X.shape[1], -1, 2**31 - 1])
def test_malformed_rows_are_refused_by_predict_too(index):
    model = C(lam=0.02).fit(sp.csr_array(X), Y)
    for use in (model.predict, model.predict_proba, lambda A: C().fit(A, Y)):
        with pytest.raises(BadInput, match="malformed"):
            use(malformed(index))


def test_labels_of_two_kinds():
    with pytest.raises(BadInput, match="mixes strings and numbers"):
        C().fit(X[:3], np.array(["a", 1, "b"], object))


def test_weights_whose_sum_is_no_number():
    for model in (C(class_weight="balanced"), C()):
        with pytest.raises(BadInput, match="sample_weight.*not finite"):
            model.fit(X, Y, np.full(N, 1e308))
    with pytest.raises(BadSettings, match="class_weight"):
        C(class_weight={"no": 1, "yes": 1e300}).fit(X, Y, np.full(N, 1e300))
    one, large = C(penalty="l1", lam=0.02).fit(X, Y), C(penalty="l1", lam=0.02).fit(X, Y, np.full(N, 1e300))
    np.testing.assert_allclose(large.coef_, one.coef_, rtol=1e-12)


def test_a_fold_without_weight_says_so():
    weights = np.r_[np.zeros(N // 3), np.ones(N - N // 3)]
    with pytest.raises(BadInput, match="sample_weight: all weights of a part of a fold are zero"):
        RCV(cv=3).fit(X, REAL, weights)
    assert R().fit(X, REAL, weights).status_ == "CONVERGED"


# ---- cross-validation and criteria


def test_folds_as_masks_are_those_as_numbers():
    at = np.arange(N)
    even, odd = at[::2], at[1::2]
    masks = RCV(n_lams=4, cv=[(at % 2 == 0, at % 2 == 1), (at % 2 == 1, at % 2 == 0)]).fit(X, REAL)
    plain = RCV(n_lams=4, cv=[(even, odd), (odd, even)]).fit(X, REAL)
    np.testing.assert_array_equal(masks.cv_loss_, plain.cv_loss_)
    assert plain.cv_loss_.min() > 0.01  # of rows that were not seen
    tuples = RCV(n_lams=4, cv=[(tuple(even), tuple(odd)), (list(odd), list(even))]).fit(X, REAL)
    np.testing.assert_array_equal(tuples.cv_loss_, plain.cv_loss_)
    for wrong in (odd + N, odd + 0.5, ["a"], at[:7] > 2):
        with pytest.raises(BadSettings, match=f"cv = .*row numbers below {N}"):
            RCV(n_lams=4, cv=[(even, wrong)]).fit(X, REAL)


def test_scores_count_rows_and_not_classes():
    """A score is scikit-learn's, unweighted unless the caller has weights; class_weight is a matter of the fit."""
    weight, at = {"no": 10.0, "yes": 1.0}, np.arange(N)
    folds = [(at[at % 3 != k], at[at % 3 == k]) for k in range(3)]
    model = CCV(penalty="l1", n_lams=4, cv=folds, tol=1e-8, scoring="accuracy", class_weight=weight).fit(X, Y)
    for i, lam in enumerate(model.lams_):
        one = C(penalty="l1", lam=lam, tol=1e-8, class_weight=weight)
        by_hand = [-one.fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in folds]
        np.testing.assert_allclose(model.cv_loss_[i], by_hand, atol=1e-12)
    own = CCV(n_lams=3, cv=folds, scoring=lambda e, X, y: e.score(X, y), class_weight="balanced").fit(X, Y)
    assert own.status_ == "CONVERGED"  # a score without weights is asked for none


def test_criteria_do_not_see_the_scale_of_class_weights():
    paths = [C(penalty=MCP(0.1), class_weight=w).path(X, Y, n_lams=8) for w in (None, {"no": 100, "yes": 100})]
    np.testing.assert_allclose(paths[1].ebic, paths[0].ebic, rtol=1e-6)
    twice = C(penalty=MCP(0.1)).path(X, Y, np.full(N, 2.0), n_lams=8)
    assert twice.ebic[-1] > 1.5 * paths[0].ebic[-1]  # repetitions do count


# ---- groups and bounds


@pytest.mark.filterwarnings("ignore::dcopt.ColumnScaleWarning")
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_groups_of_features_converge(scale):
    """Correlated columns, some a thousand times as large: the same F as an interior-point method."""
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(0)
    A = rng.normal(size=(120, 9)) + 2.0 * rng.normal(size=(120, 1))
    y = A[:, 0] - A[:, 4] + rng.normal(size=120)
    A[:, ::2] *= scale
    groups = [[0, 4], [1, 2, 3], [5, 8]]
    model = R(penalty="l1", lam=0.3, groups=groups, tol=1e-6).fit(A, y)
    assert model.status_ == "CONVERGED" and model.n_iter_ < 100
    x, b = cvxpy.Variable(9), cvxpy.Variable()
    r = sum(cvxpy.norm(x[g]) for g in [*groups, [6], [7]])
    least = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(A @ x + b - y) / 240 + 0.3 * r)).solve()
    assert model.objective_ == pytest.approx(least, rel=1e-5)


def test_groups_of_one_are_entries():
    """And nothing of theirs is slower to find."""
    alone = C(penalty="l1", lam=0.05, groups=[[j] for j in range(8)], tol=1e-7).fit(X, Y)
    plain = C(penalty="l1", lam=0.05, tol=1e-7).fit(X, Y)
    assert alone.status_ == "CONVERGED"
    np.testing.assert_allclose(alone.coef_, plain.coef_, atol=1e-5)


@pytest.mark.parametrize("r", [Box(0.5, 2.0), Simplex()], ids=lambda r: type(r).__name__)
def test_a_domain_without_0(r):
    model = R(penalty=r).fit(X, REAL)
    assert model.status_ == "CONVERGED" and np.isfinite(r.r1(model.coef_))


def test_the_hint_names_what_ended_the_fit():
    with pytest.warns(dcopt.learn.messages.ConvergenceWarning, match="a callback ended the fit"):
        C(tol=1e-12, callbacks=[lambda state: True]).fit(X, Y)


def test_what_cannot_be_saved_says_what_can(tmp_path):
    from sklearn.linear_model import Lasso
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from dcopt.learn.files import load_estimator, save_estimator

    pipeline = make_pipeline(StandardScaler(), C(lam=0.05)).fit(X, Y)
    with pytest.raises(BadInput, match=r"model: is a Pipeline: expected .*save_estimator\(path, pipeline\[-1\]\)"):
        save_estimator(tmp_path / "m.dcm", pipeline)
    with pytest.raises(BadInput, match="model: is a Lasso: expected a fitted DCClassifier"):
        save_estimator(tmp_path / "m.dcm", Lasso().fit(X, REAL))
    assert not list(tmp_path.iterdir())
    save_estimator(tmp_path / "m.dcm", pipeline[-1])
    assert np.array_equal(load_estimator(tmp_path / "m.dcm").coef_, pipeline[-1].coef_)


# ---- malformed matrices, dates and text, before scikit-learn converts them

MALFORMED = """
import sys
import numpy as np
import scipy.sparse as sp
import dcopt

def coo():
    A = sp.coo_array((np.ones(4), (np.array([0, 1, 2, 3]), np.array([0, 1, 2, 1]))), shape=(4, 3))
    A.coords[0][3] = 10**7
    return A

def csc(part):
    A = sp.csc_array(np.ones((4, 3)))
    getattr(A, part)[2] = 10**7
    return A

def bsr():
    A = sp.bsr_array(np.ones((4, 4)), blocksize=(2, 2))
    A.indptr[1] = 10**7
    return A

def dia():
    A = sp.dia_array((np.ones((2, 3)), [0, 1]), shape=(4, 3))
    A.offsets = np.arange(9)
    return A

def lil():
    A = sp.lil_array(np.ones((4, 3)))
    A.data[1] = [1.0] * 10**6
    return A

def dok():
    A = sp.dok_array(np.ones((4, 3)))
    A._dict[(10**7, 1)] = 1.0
    return A

X, y = np.eye(4, 4)[:, :3], np.array([0, 1, 0, 1])
make = {"coo": coo, "csc-index": lambda: csc("indices"), "csc-indptr": lambda: csc("indptr"), "bsr": bsr,
        "dia": dia, "lil": lil, "dok": dok}
use = {
    "classifier": lambda A: dcopt.DCClassifier(lam=0.1).fit(A, y),
    "regressor": lambda A: dcopt.DCRegressor(lam=0.1).fit(A, 1.0 * y),
    "predict": lambda A: dcopt.DCClassifier(lam=0.1).fit(np.eye(4)[:, : A.shape[1]], y).predict(A),
    "partial_fit": lambda A: dcopt.DCClassifier(lam=0.1).partial_fit(A, y, classes=[0, 1]),
    "path": lambda A: dcopt.path(dcopt.DCRegressor(), A, 1.0 * y),
    "cross-validation": lambda A: dcopt.DCRegressorCV(cv=2).fit(A, 1.0 * y),
}
for how in use:
    try:
        use[how](make[sys.argv[1]]())
    except dcopt.BadInput as why:
        assert why.argument == "X" and "malformed" in str(why), why
    else:
        sys.exit(how)
    print(how)
"""


@pytest.mark.parametrize("which", ["coo", "csc-index", "csc-indptr", "bsr", "dia", "lil", "dok"])
def test_malformed_matrices_of_any_format_are_refused(which):
    """In a process of its own: before they were checked, most of these ended it."""
    done = subprocess.run([sys.executable, "-c", MALFORMED, which], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)


DAYS = np.array(["2024-01-01", "NaT"] * (N // 2), "M8[D]")


@pytest.mark.parametrize(
    ("values", "says"),
    {
        "dates": (DAYS[:, None], "X, row 0, column 0: '2024-01-01' is a date or a duration, not a number"),
        "durations": ((DAYS - DAYS[0])[:, None], "is a date or a duration"),
        "text": (X.astype(str), "X, row 0, column 0: '.*' is text, not a number: encode"),
        "bytes": (X.astype("S8"), "is text"),
        "objects": (np.array([[1.0, "2"]] * N, object), "X, row 0, column 1: '2' is text"),
        "lists": ([[1.0, "red"]] * N, "X, row 0, column 0: '1.0' is text"),
    }.values(),
)
def test_dates_and_text_are_not_numbers(values, says):
    for model, y in ((R(), REAL), (C(), Y), (RCV(cv=2), REAL)):
        with pytest.raises(BadInput, match=says):
            model.fit(values, y)
    with pytest.raises(BadInput, match=says):
        C().partial_fit(values, Y, classes=["no", "yes"])
    model = R().fit(X[:, : np.shape(values)[1]], REAL)
    with pytest.raises(BadInput, match=says):
        model.predict(values)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_dates_or_text_is_named(library):
    frames = pytest.importorskip(library)
    plain = {"age": X[:, 0], "income": X[:, 1]}
    for bad in (DAYS.astype("M8[us]").tolist(), ["red", "blue"] * (N // 2)):
        frame = frames.DataFrame(plain | {"other": bad})
        with pytest.raises(BadInput, match="X, row 0, column 2: column 'other': '(2024-01-01.*|red)' is (a date|text)"):
            R().fit(frame, REAL)
    whole = frames.DataFrame({"age": [1, 2] * (N // 2), "rich": [True, False, False, True] * (N // 4)})
    assert R().fit(whole, REAL).status_ == "CONVERGED"


def test_targets_that_are_no_numbers_or_missing():
    pandas = pytest.importorskip("pandas")
    for y in (REAL.astype(str).astype(object), DAYS):
        with pytest.raises(BadInput, match="y, row 0: .* not a number"):
            R().fit(X, y)
    for y in (
        pandas.Series(["no", "yes", *[pandas.NA] * (N - 2)], dtype="string"),
        np.array(["no", "yes", *[None] * (N - 2)], object),
        np.array(["no", "yes", *[np.nan] * (N - 2)], object),
    ):
        for use in (C().fit, CCV().fit, lambda X, y: C().partial_fit(X, y, classes=["no", "yes"])):
            with pytest.raises(BadInput, match="y, row 2: is (<NA>|None|nan)$"):
                use(X, y)
        with pytest.raises(BadInput, match="y, row 2: is (<NA>|None|nan)$"):
            dcopt.erm(X, y, "logistic")


# ---- cross-validation's splits, large settings, Ctrl-C


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"cv": [[0, 1], [2, 3]]}, r"cv = .*pairs \(rows to fit, rows to leave out\)"),
        ({"cv": [0, 1]}, "cv = .*pairs"),
        ({"cv": [([0, 1, 2], [3]), 5]}, "cv = .*pairs"),
        ({"cv": [([], [1])]}, "cv = .*splits whose two parts have rows"),
        ({"cv": "x"}, "cv = 'x': expected a number of folds, or pairs .* of 120 rows"),
        ({"cv": 1000}, "cv = 1000: .*120"),
        ({"cv": GroupKFold(3)}, r"cv=list\(GroupKFold\(5\).split\(X, y, groups\)\)"),
        ({"n_jobs": np.inf}, "n_jobs = inf: expected None or a whole number"),
        ({"n_jobs": "x"}, "n_jobs"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_splits_and_jobs_that_are_none(settings, says):
    with pytest.raises(BadSettings, match=says):
        RCV(n_lams=3, **settings).fit(X, REAL)
    groups = np.arange(N) % 4
    assert RCV(n_lams=3, cv=list(GroupKFold(3).split(X, REAL, groups))).fit(X, REAL).status_ == "CONVERGED"


def test_labels_of_two_kinds_in_a_stream():
    mixed = np.array(["a", 1] * (N // 2), object)
    with pytest.raises(BadInput, match="y: mixes strings and numbers"):
        C().partial_fit(X, mixed, classes=["a", "b"])


@pytest.mark.parametrize(
    "settings",
    [
        {"unpenalized": np.arange(200_000) % 9_999 == 0},
        {"unpenalized": list(range(0, 200_000, 9_999))},
        {"groups": np.arange(200_000).reshape(-1, 2).tolist()},
        {"groups": [[0, 3], [1, 2, 5]], "unpenalized": [7]},
    ],
    ids=["mask", "numbers", "groups", "few"],
)
def test_settings_as_long_as_x_are_saved(settings, tmp_path):
    from dcopt.learn.files import load_estimator, save_estimator

    A = sp.random_array((6, 200_000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    model = R(penalty="l1", lam=1e3, **settings).fit(A, np.arange(6.0))
    save_estimator(tmp_path / "m.dcm", model)
    again = load_estimator(tmp_path / "m.dcm")
    for name, value in settings.items():
        kept = getattr(again, name)
        assert kept == (value.tolist() if isinstance(value, np.ndarray) else value)
    np.testing.assert_array_equal(again.fit(A, np.arange(6.0)).coef_, model.coef_)


def press_ctrl_c(state):
    if state.t == 2:
        os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_sets_the_attributes_and_goes_on_to_whoever_called():
    model = C(penalty="mcp", lam=0.02, solver="dca", tol=0.0, callbacks=[press_ctrl_c])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.status_ == "INTERRUPTED" and 2 <= model.n_iter_ < 10 and model.predict(X).shape == Y.shape
    fits = []
    search = GridSearchCV(
        C(solver="dca", tol=0.0, callbacks=[press_ctrl_c]), {"lam": [0.02, 0.05]}, cv=3, error_score="raise",
        scoring=lambda *given: fits.append(1) or 0.0,
    )  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    assert not fits  # no model that was cut off is given a score
    with pytest.raises(KeyboardInterrupt):
        C(solver="dca", tol=0.0, callbacks=[press_ctrl_c]).path(X, Y, n_lams=3)
