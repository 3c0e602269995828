"""What a fitted estimator, a path and a problem show: short, with names, classes, signs and certificates."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from learn.data import numbers, three_classes, two_classes
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import dcopt
from dcopt.errors import BadSettings
from dcopt.fit.penalties import LAM_SHARE, LAM_SHARE_WIDE
from dcopt.fit.tuning import Pace, Step
from dcopt.learn.callbacks import PathLines
from dcopt.learn.table import Table
from dcopt.regularizers import L1, MCP, SCAD, TopK

C, R = dcopt.DCClassifier, dcopt.DCRegressor
NAMES = [f"column {j}" for j in range(8)]


def frame(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=NAMES[: X.shape[1]])


# ---- λ


@pytest.mark.parametrize("name", ["scad", "mcp", "l1", "elastic-net", "mcp(gamma=2.5)"])
def test_the_default_is_a_share_of_lam_max(name):
    """The same model for data in other units: the default was 0.1 whatever they are."""
    X, y = numbers()
    model = R(penalty=name).fit(X, y)
    share = R(penalty=name, lam=LAM_SHARE, lam_scale="max").fit(X, y)
    assert model.lam_ == share.lam_ and model.coef_.any() and model.status_ == "CONVERGED"
    other = R(penalty=name).fit(X, 1e3 * y) if "(" not in name and name != "elastic-net" else None
    if other is not None:
        assert other.lam_ == pytest.approx(1e3 * model.lam_)


def test_the_default_for_classes_with_more_features_than_rows_is_larger():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)), np.arange(20) % 2
    top = C(penalty="scad").path(X, y, n_lams=1).lams[0]
    assert C().fit(X, y).lam_ == pytest.approx(LAM_SHARE_WIDE * top)
    assert C().fit(X, y, np.full(20, 3)).lam_ == pytest.approx(LAM_SHARE * top)  # 60 observations


def test_an_instance_keeps_its_own_lam():
    X, y = numbers()
    assert R(penalty=MCP(lam=0.3)).fit(X, y).lam_ == 0.3
    assert R(penalty=MCP(lam=0.3), lam=0.2).fit(X, y).lam_ == 0.2
    assert R(penalty="mcp", lam=0.2).fit(X, y).lam_ == 0.2


def test_penalties_without_lam_max_ask_for_lam():
    X, y = numbers()
    with pytest.raises(BadSettings, match="lam_max .also where lam is None.; else give lam"):
        R(penalty="l2").fit(X, y)
    assert R(penalty="l2", lam=0.01).fit(X, y).status_ == "CONVERGED"
    assert R(penalty="nonnegative").fit(X, y).lam_ is None


def test_a_name_with_settings_is_that_penalty():
    X, y = numbers()
    named, made = R(penalty="scad(a=3)", lam=0.1).fit(X, y), R(penalty=SCAD(lam=0.1, a=3.0)).fit(X, y)
    np.testing.assert_array_equal(named.coef_, made.coef_)
    three = R(penalty="top-k(k=3)", lam=0.01).fit(X, y)
    np.testing.assert_array_equal(three.coef_, R(penalty=TopK(lam=0.01, k=3)).fit(X, y).coef_)
    assert R("huber(c=2)", lam=0.1).get_params()["loss__c"] == 2
    path = C(penalty="scad(a=3)").path(*two_classes(), n_lams=3)
    assert len(path.lams) == 3


MISTAKES = [
    ({"penalty": SCAD}, "an instance, not the class: SCAD.lam=….* or 'scad'"),
    ({"penalty": "lasso"}, "write 'l1'"),
    ({"penalty": "Ridge"}, "write 'l2'"),
    ({"penalty": None}, "write 'zero' for no penalty"),
    ({"penalty": "group-lasso"}, "write 'l1' with groups"),
    ({"penalty": "scad(3)"}, r"settings with their names, as in 'scad\(a=3.0\)'"),
    ({"penalty": "scad(b=3)"}, "setting of scad = 'b': expected a known name; known: a, groups, weights"),
    ({"penalty": "scad(lam=3)"}, "no lam in the brackets: it is a setting of the estimator, lam=3"),
    ({"penalty": "scad(a=x)"}, "settings with their names"),
    ({"loss": dcopt.losses.Huber}, r"an instance, not the class: Huber\(\) or 'huber'"),
    ({"loss": "log_loss"}, "write 'logistic'"),
    ({"loss": "hinge"}, r"write dcopt.losses.SmoothedHinge\(\)"),
    ({"loss": None}, "write 'logistic' or 'squared'"),
    ({"unpenalized": "colum 3"}, "unpenalized = 'colum 3': .*did you mean 'column 3'"),
    ({"unpenalized": [True, False]}, "unpenalized = True: .*a mask of 8 booleans"),
    ({"groups": [["column 1", "column 2"], ["column 2"]]}, "feature .column 2.*it is in group 0 and group 1"),
    ({"groups": [["column 1"], []]}, "groups that are not empty: group 1 is"),
    ({"groups": [["colum 1"]]}, "groups = 'colum 1'.*did you mean 'column 1'"),
    ({"groups": [0, 0, 1]}, "3 labels.*one label for each of 8 features"),
    ({"groups": {"a": [0, 1]}}, r"write groups=list\(groups.values\(\)\)"),
    ({"groups": [0, 0, 1, 1, None, 2, 2, 2]}, "a label for every feature: feature 4 has none"),
]


@pytest.mark.parametrize(("settings", "says"), MISTAKES, ids=lambda v: str(v)[:40] if isinstance(v, dict) else "")
def test_mistakes_say_what_to_write(settings, says):
    X, y = numbers()
    with pytest.raises(BadSettings, match=says):
        R(**({"lam": 0.1} | settings)).fit(frame(X), y)


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1, 2, 3, 3], list("aaabbcdd"), np.array([5, 5, 5, 2, 2, 0, 1, 1])])
def test_one_label_for_each_feature_is_a_list_of_groups(labels):
    X, y = numbers()
    lists = [[0, 1, 2], [3, 4], [5], [6, 7]]
    one, other = (R(penalty="mcp", lam=0.3, groups=groups).fit(X, y) for groups in (labels, lists))
    np.testing.assert_array_equal(one.coef_, other.coef_)


# ---- tables and summaries


def test_a_table_of_two_classes():
    X, y = two_classes()
    model = C(penalty="mcp", lam=0.05).fit(frame(X), y)
    table = model.coef_table()
    chosen = np.flatnonzero(model.coef_[0])
    assert table["feature"].tolist()[-1] == "(intercept)"
    assert table["favours"].tolist() == ["yes" if c > 0 else "no" for c in table["coefficient"]]
    assert set(table["favours"][:-1]) == {"yes", "no"}
    assert set(table["feature"][:-1]) == {NAMES[j] for j in chosen} and len(chosen) < 8
    for _, row in table[:-1].iterrows():
        j = NAMES.index(row["feature"])
        assert row["coefficient"] == model.coef_[0, j]
        assert row["effect"] == pytest.approx(model.coef_[0, j] * X[:, j].std())
    assert np.all(np.diff(np.abs(table["effect"][:-1])) <= 0) and (table["effect"] < 0).any()  # with their signs
    assert table["coefficient"].iloc[-1] == model.intercept_[0] and np.isnan(table["effect"].iloc[-1])
    text = model.summary()
    for word in ("penalty mcp, λ = 0.05", "coefficient favours class yes, a negative one class no", "CONVERGED"):
        assert word in text
    assert repr(text) == str(text) and f"{len(chosen)} of 8 features" in text


def test_tables_of_several_classes_of_numbers_and_of_streams():
    X, y = three_classes()
    model = C(penalty="l1", lam=0.2, lam_scale="max", groups="entries").fit(X, y)
    table = model.coef_table()
    assert set(table["class"]) == {0, 1, 2} and len(table) == 3 * (int((model.coef_ != 0).any(axis=0).sum()) + 1)
    assert "favours the class of its row" in model.summary()
    X, y = numbers()
    model = R(penalty="l1", lam=0.1, fit_intercept=False).fit(X, y)
    table = model.coef_table()
    assert list(table.columns) == ["feature", "coefficient", "effect"] and "(intercept)" not in set(table["feature"])
    stream = C(penalty="l1", lam=0.01, random_state=0).partial_fit(*two_classes(2000), classes=["no", "yes"])
    assert np.isfinite(stream.coef_table()["effect"][:-1]).all() and "samples seen" in stream.summary()
    with pytest.raises(NotFittedError):
        R().coef_table()
    many = R(penalty="zero").fit(np.random.default_rng(0).normal(size=(90, 40)), np.arange(90.0))
    assert "… 20 more rows: coef_table()" in many.summary() and many.summary().count("\n") < 30


def test_a_table_without_pandas(monkeypatch):
    X, y = two_classes()
    model = C(penalty="mcp", lam=0.05).fit(X, y)
    there = model.coef_table()
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = model.coef_table()
    assert isinstance(table, Table) and len(table) == len(there)
    assert table["effect"][:-1] == there["effect"].tolist()[:-1]
    assert str(table).splitlines()[0].split() == ["feature", "coefficient", "effect", "favours"]
    with pytest.raises(KeyError, match="no column 'effects'; there are feature"):
        table["effects"]


def test_the_certificate_is_an_object():
    X, y = two_classes()
    model = C(lam=0.05).fit(X, y)
    found = model.certificate_
    assert found.measure == "criticality" and found.value <= found.tol and f"{found.value:.3g}" in str(found)
    assert str(found) == repr(found) == f"{found}"
    with pytest.warns(UserWarning, match="partial_fit has 100"):
        stream = C(lam=0.05).partial_fit(X[:100], y[:100], classes=["no", "yes"])
    assert stream.certificate_.value is None and "waiting" in str(stream.certificate_)


def test_a_fit_that_begins_at_its_solution_says_so():
    X, y = two_classes()
    model = C(lam=0.05, warm_start=True).fit(X, y)
    assert "passes of dca-local" in str(model.certificate_)
    again = str(model.fit(X, y).certificate_)
    assert "no step of dca-local was needed from where the fit began" in again and "0 passes" not in again
    with pytest.warns(ConvergenceWarning, match="passes of dca"):
        C(lam=0.05, solver="dca", max_passes=0.5).fit(X, y)  # there a step was needed


def test_a_model_without_features_says_so():
    X, y = two_classes()
    assert "no feature is in the model" in C(lam=10.0).fit(X, y).summary()


# ---- the choice of λ


def test_the_extended_bic_chooses_as_its_path_does():
    X, y = numbers()
    model = dcopt.DCRegressorCV(penalty="mcp", rule="ebic").fit(X, y)
    assert model.index_ == model.path_.best("ebic") and model.cv_loss_.shape == (100, 0) and model.notes_ == ()
    np.testing.assert_array_equal(np.flatnonzero(model.coef_), [0, 1])


@pytest.mark.parametrize("rule", ["best", "1se", "ebic"])
@pytest.mark.parametrize("make", [dcopt.DCClassifierCV, dcopt.DCRegressorCV])
def test_a_choice_that_is_no_better_than_none_says_so(rule, make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = rng.permutation(np.r_[np.zeros(28), np.ones(52)]) if make is dcopt.DCClassifierCV else rng.normal(size=80)
    model = make(rule=rule, n_lams=8, random_state=0).fit(X, y)
    assert any("no better than no features" in note or "without features" in note for note in model.notes_)
    assert "note: " in model.summary()
    if make is dcopt.DCClassifierCV and rule != "ebic":
        assert "0.65 without features (the share of the largest class)" in model.notes_[-1]


def test_the_scores_are_those_of_the_rows_left_out():
    X, y = two_classes()
    at = np.arange(len(y))
    folds = [(at[at % 3 != k], at[at % 3 == k]) for k in range(3)]
    model = dcopt.DCClassifierCV(penalty="l1", n_lams=4, cv=folds, tol=1e-8).fit(X, y)
    for i, lam in enumerate(model.lams_):
        by_hand = [C(penalty="l1", lam=lam, tol=1e-8).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]
        np.testing.assert_allclose(model.cv_scores_[i], by_hand, atol=1e-12)
    for k, (a, b) in enumerate(folds):
        values, counts = np.unique(y[a], return_counts=True)
        assert model.null_scores_[k] == np.mean(y[b] == values[np.argmax(counts)])
    assert model.notes_ == ()
    X, y = numbers()
    model = dcopt.DCRegressorCV(penalty="l1", n_lams=4, cv=folds).fit(X, y)
    assert np.all(model.null_scores_ == 0.0)  # R² against the mean of the rows that were fitted
    assert model.cv_scores_[-1].min() > 0.8


# ---- progress


def test_cross_validation_says_where_it_is(capsys):
    X, y = two_classes()
    dcopt.DCClassifierCV(n_lams=4, cv=2, verbose=2).fit(X, y)
    said = capsys.readouterr().out
    for word in ("all rows  λ 1/4", "fold 1/2  λ 4/4 = ", "fold 2/2", "F 0.", "non-zeros", " s left", "CONVERGED"):
        assert word in said
    assert said.count("\n") == 13
    dcopt.DCClassifierCV(n_lams=4, cv=2, verbose=1).fit(X, y)
    said = capsys.readouterr().out
    assert said.count("4/4") == 3 and said.count("\n") < 13
    C(verbose=2).path(X, y, n_lams=3)
    assert capsys.readouterr().out.count("all rows  λ") == 3


def test_lines_of_a_fit_say_f_and_the_measure(capsys):
    X, y = two_classes()
    model = C(lam=0.05, verbose=2, solver="dca", tol=1e-3).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if "] pass" in line]
    words = lines[-1].split()
    assert words[words.index("F") + 1] == f"{model.objective_:.6g}"
    assert float(words[words.index("criticality") + 1]) == pytest.approx(model.certificate_.value, rel=1e-2)


def test_the_time_that_is_left(monkeypatch):
    """Ten λ of 1, 2, …, 10 s on all rows; two folds, one after the other, that take half as long."""
    from types import SimpleNamespace

    now, said = [0.0], []
    monkeypatch.setattr("dcopt.fit.tuning.time.monotonic", lambda: now[0])
    pace = Pace(2, 10, said.append)
    done = SimpleNamespace(result=SimpleNamespace(certificate=SimpleNamespace(F=1.0, nnz=2)))
    for k in range(10):
        now[0] += k + 1.0
        pace(0, k, 0.1, done)
    pace.begin_folds()
    for part in (1, 2):
        for k in range(10):
            now[0] += 0.5 * (k + 1.0)
            pace(part, k, 0.1, done)
    assert [round(step.left, 9) for step in said[10:]][::9][:2] == [54.5, 27.5]  # of 55 s; half of them after fold 1
    assert said[-1].left == 0.0 and said[-1][:4] == (2, 2, 10, 10)


def test_lines_of_a_path_come_at_most_once_in_a_second(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr("dcopt.learn.callbacks.time.monotonic", lambda: now[0])
    lines = PathLines(1)
    for at in range(1, 11):
        now[0] += 0.3
        lines(Step(1, 5, at, 10, 0.1, 0.5, 3, 60.0 - at))
    assert [line.split()[4] for line in capsys.readouterr().out.splitlines()] == ["4/10", "8/10", "10/10"]


def test_folds_in_other_processes_do_not_guess_the_time(capfd):
    from joblib import parallel_config

    X, y = two_classes()
    with parallel_config("loky"):
        model = dcopt.DCClassifierCV(n_lams=3, cv=2, n_jobs=2, verbose=2).fit(X, y)
    alone = dcopt.DCClassifierCV(n_lams=3, cv=2).fit(X, y)
    np.testing.assert_allclose(model.cv_loss_, alone.cv_loss_, atol=1e-12)


# ---- short reprs


def test_paths_problems_and_quadratics_print_a_few_lines():
    X, y = two_classes()
    path = C(penalty="mcp").path(frame(X), y, n_lams=30)
    text = repr(path)
    assert text.count("\n") <= 10 and "30 λ from" in text and "column 1" in text and "CONVERGED" in text
    assert path.names == tuple(NAMES) and "x1" in repr(C(penalty="mcp").path(X, y, n_lams=5))
    for P in (
        dcopt.problems.trimmed_lasso(X, np.arange(120.0), k=3, lam=1.0),
        dcopt.erm(X, y, "logistic", L1(0.1, weights=np.arange(8.0), groups=[[j] for j in range(8)])),
        dcopt.convex.Diagonal(np.arange(1.0, 1000.0)),
    ):
        assert len(repr(P)) < 500 and "array" not in repr(P)
    wide = dcopt.erm(np.ones((2, 500)), [0, 1], "logistic", L1(0.1, weights=np.arange(500.0)))
    assert len(repr(wide)) < 500


def test_the_coefficients_at_a_lam():
    X, y = two_classes()
    path = C(penalty="mcp").path(X, y, n_lams=10)
    np.testing.assert_array_equal(path.coef_at(path.lams[4]), path.coefs[4])
    np.testing.assert_array_equal(path.coef_at(path.lams[4] * 0.99), path.coefs[4])
    for lam in (2.0 * path.lams[0], 0.5 * path.lams[-1]):
        with pytest.raises(BadSettings, match="lam = .*on the path, from"):
            path.coef_at(lam)
    to_zero = C(penalty="mcp").path(X, y, lams=[0.1, 0.0])
    np.testing.assert_array_equal(to_zero.coef_at(0.0), to_zero.coefs[1])


def test_columns_of_a_trace():
    trace = C(lam=0.05).fit(*two_classes()).trace_
    assert trace[0].t == 0 and trace[-1].F == trace["F"][-1]
    for name in ("foo", "count"):
        with pytest.raises(BadSettings, match=f"column = '{name}': expected a known name; known: F, gradients"):
            trace[name]


def test_figures_have_names_colours_and_counts():
    pytest.importorskip("matplotlib")
    X, y = two_classes(d=14)
    with pytest.raises(NotFittedError):
        dcopt.DCClassifierCV().plot_cv()
    with pytest.raises(NotFittedError):
        dcopt.DCClassifierCV().plot_path()
    pandas = pytest.importorskip("pandas")
    names = [f"f{j}" for j in range(14)]
    model = dcopt.DCClassifierCV(penalty="l1", ratio=1e-3, n_lams=8, cv=3).fit(pandas.DataFrame(X, columns=names), y)
    ax = model.plot_path()
    named = [text.get_text() for text in ax.texts]
    lines = [line for line in ax.lines if line.get_label().startswith("f")]
    colours = [line.get_color() for line in lines if line.get_color() != "0.75"]
    assert len(colours) == len(set(colours)) == 10 and sum(name.startswith("f") for name in named) == 10
    top = ax.child_axes[0]
    assert top.get_xlabel() == "features in the model"
    assert [int(t.get_text()) for t in top.get_xticklabels()][-1] == model.path_.nnz[-1]
    effects = model.path_.plot_path(effects=True)
    assert effects.get_ylabel().startswith("effect") and ax.get_ylabel() == "coefficient"
    assert "chosen (rule='best')" in [t.get_text() for t in model.plot_cv().get_legend().get_texts()]
    assert dcopt.DCRegressorCV(rule="ebic", n_lams=4).fit(*numbers()).plot_cv().get_ylabel() == "EBIC"


def test_figures_of_paths_of_several_classes_name_the_class_and_the_choice():
    pytest.importorskip("matplotlib")
    X, y = three_classes()
    model = dcopt.DCClassifierCV(penalty="l1", n_lams=6, cv=3).fit(X, y)
    ax = model.plot_path()
    named = [text.get_text() for text in ax.texts]
    lines = [name for name in named if name.startswith("x")]
    assert len(lines) == len(set(lines)) and any(name.endswith(" (class 2)") for name in lines)
    assert " chosen" in named and " least ebic" not in named
    assert any(np.allclose(line.get_xdata(), model.lam_) for line in ax.lines)
    assert " least ebic" in [text.get_text() for text in model.path_.plot_path().texts]  # a path alone chooses no λ


def test_the_solution_that_separates_the_classes_does_not_set_the_scale():
    """Its coefficients have no bound but the penalty's: the lines of all other λ would be flat."""
    pytest.importorskip("matplotlib")
    from dcopt.fit.plots import draw_path

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    y = np.where(X[:, 0] > 0, "yes", "no")
    path = C().path(X, y, ratio=3e-3, n_lams=30)
    coefs = path.coefs.reshape(len(path.lams), -1)
    assert path.loss[-1] <= 1e-3 * path.loss[0] and np.abs(coefs[-1]).max() > 2 * np.abs(coefs[:-1]).max()
    low, high = draw_path(path, None, None, False, chosen=path.lams[1]).get_ylim()
    assert max(-low, high) < 1.2 * np.abs(coefs[:-1]).max()
    low, high = draw_path(path, None, None, False, chosen=path.lams[-1]).get_ylim()
    assert max(-low, high) > np.abs(coefs[-1]).max()  # it is drawn if it is chosen


# ---- streams that wait


def test_a_stream_says_once_that_it_only_collects():
    X, y = two_classes(900)
    model = C(lam=0.02, random_state=0)
    with pytest.warns(UserWarning, match="has 50 samples and needs 512 for its first step, 462 more.*256 are kept"):
        model.partial_fit(X[:50], y[:50], classes=["no", "yes"])
    assert model.status_ == "WAITING" and "the stream ended" not in str(model.certificate_)
    assert "50 samples" in model.notes_[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[50:300], y[50:300])
        assert model.n_iter_ == 0 and "212 more" in model.notes_[0]
        model.partial_fit(X[300:], y[300:])
        assert model.n_iter_ > 0 and model.notes_ == () and model.status_ in ("WAITING", "ACCEPTABLE")
        C(lam=0.02, random_state=0).partial_fit(X, y, classes=["no", "yes"])
    other = C(lam=0.02, holdout=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.partial_fit(X[:50], y[:50], classes=["no", "yes"])
    assert other.n_iter_ > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        kept = C(lam=0.02)
        with pytest.raises(UserWarning, match="partial_fit has 50"):
            kept.partial_fit(X[:50], y[:50], classes=["no", "yes"])
    assert kept.status_ == "WAITING"  # the samples are there
