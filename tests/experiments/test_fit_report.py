"""The report of a fit: scores against scikit-learn's, signs against the data, and what the page says first and last."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import confusion_matrix, log_loss, r2_score, roc_auc_score

import dcopt
from dcopt.losses import LOSSES
from dcopt.report.fit_figures import prediction_panels
from dcopt.report.fit_report import MOST_LINES, Along, fit_report
from dcopt.report.fit_scores import calibration, codes_of, confusion, mean_loss, r2, roc
from dcopt.report.fit_tables import Fitted, Rows, described, features_table, loading, scores_table
from dcopt.report.html_page import render
from dcopt.report.panels import Panel


def fitted(model: Any, X: Any, y: Any, null: list[float]) -> Fitted:
    model.fit(X, y)
    loss = LOSSES[model.loss]
    loss = LOSSES["softmax"] if len(null) > 1 else loss
    return Fitted(model, loss, np.array(null), lambda j: f"x{j}", np.asarray(X).std(axis=0))


def two_classes() -> tuple[Fitted, Any, Any]:
    """x0 is larger in the rows of "well", x1 in those of "sick", x2 says nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) * [1.0, 10.0, 1.0]
    y = np.where(3 * X[:, 0] - 0.2 * X[:, 1] + rng.normal(size=300) > 1.0, "well", "sick")
    share = np.mean(y == "well")
    return fitted(dcopt.DCClassifier(penalty="l1", lam=0.02), X, y, [math.log(share / (1 - share))]), X, y


def three_classes() -> tuple[Fitted, Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(300, 3)), axis=1) + 7
    null = np.log(np.bincount(y - 7) / 300.0)
    return fitted(dcopt.DCClassifier(penalty="l1", lam=0.01), X, y, null.tolist()), X, y


def regression() -> tuple[Fitted, Any, Any]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3)) * [1.0, 50.0, 1.0]
    y = 2.0 * X[:, 0] - 0.1 * X[:, 1] + 3.0 + rng.normal(size=200)
    return fitted(dcopt.DCRegressor(penalty="l1", lam=0.05), X, y, [float(y.mean())]), X, y


# ---- scores


def test_roc_and_its_area_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    for ties in (1, 3, 1000):
        z = np.round(rng.normal(size=400) * ties) / ties
        positive = rng.random(400) < 1.0 / (1.0 + np.exp(-z))
        curve = roc(z, positive)
        assert curve is not None and curve.area == pytest.approx(roc_auc_score(positive, z), abs=1e-12)
        assert (curve.false_positive[0], curve.true_positive[0]) == (0.0, 0.0)
        assert (curve.false_positive[-1], curve.true_positive[-1]) == (1.0, 1.0)
    assert roc(z, np.ones(400, bool)) is None and roc(z, np.zeros(400, bool)) is None


def test_of_more_classes_the_area_is_that_of_the_probabilities() -> None:
    """Softmax scores of different rows have no common origin: only differences between classes order the rows."""
    fit, X, y = three_classes()
    p = fit.model.predict_proba(X)
    areas = [roc_auc_score(y == c, p[:, k]) for k, c in enumerate((7, 8, 9))]
    rows = Rows("training rows", X, y)
    cells = {row[0]: row[1] for row in scores_table(fit, {}, [rows]).rows}
    assert cells["AUC"] == pytest.approx(np.mean(areas), abs=1e-9)
    assert max(abs(roc_auc_score(y == c, fit.scores(X)[:, k]) - areas[k]) for k, c in enumerate((7, 8, 9))) > 0.01
    labels = [method.label for method in next(prediction_panels(fit, rows)).methods[:3]]
    assert labels == [f"class {c} (area {area:.3f})" for c, area in zip((7, 8, 9), areas, strict=True)]


def test_confusion_and_r2_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    actual, predicted = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    np.testing.assert_array_equal(confusion(actual, predicted, 4)[:3, :3], confusion_matrix(actual, predicted))
    y, prediction = rng.normal(size=50), rng.normal(size=50)
    assert r2(y, prediction) == pytest.approx(r2_score(y, prediction))
    assert math.isnan(r2(np.ones(5), np.ones(5)))


def test_calibration_sees_what_is_predicted() -> None:
    p = np.repeat([0.1, 0.5, 0.9], 400)
    right = np.concatenate([np.arange(400) < 400 * q for q in (0.1, 0.5, 0.7)])
    bins = calibration(p, right)
    assert bins is not None
    assert bins.predicted == pytest.approx([0.1, 0.5, 0.9])  # equal probabilities are together, in whatever order
    assert bins.share == pytest.approx([0.1, 0.5, 0.7])
    inside = (bins.low <= bins.predicted) & (bins.predicted <= bins.high)
    assert inside.tolist() == [True, True, False]  # 0.9 is said, 0.7 is seen
    many = calibration(np.linspace(0.0, 1.0, 400), np.arange(400) >= 200)
    assert many is not None and len(many.share) == 10
    assert np.all((many.low >= -1e-12) & (many.low <= many.share) & (many.share <= many.high))
    assert np.all(many.high <= 1 + 1e-12)
    assert calibration(p[:39], right[:39]) is None


def test_the_mean_loss_is_that_of_the_predictions() -> None:
    for fit, X, y in (two_classes(), three_classes()):
        targets = fit.targets(y)
        assert mean_loss(fit.loss, fit.scores(X), targets) == pytest.approx(log_loss(y, fit.model.predict_proba(X)))
        assert math.isnan(mean_loss(fit.loss, fit.scores(X), codes_of(["?"] * len(y), fit.classes)))
        assert fit.scores(csr_matrix(X)) == pytest.approx(fit.scores(X))


# ---- tables


def test_the_sign_says_which_class_a_feature_favours() -> None:
    fit, X, y = two_classes()
    table = features_table(fit)
    assert table.head == ("feature", "effect", "favours", "coefficient") and table.bars == "effect"
    cells = {row[0]: row[1:] for row in table.rows}
    (effect0, class0, coef0), (effect1, class1, coef1) = cells["x0"], cells["x1"]
    assert class0 == "well" and effect0 > 0 < coef0 and class1 == "sick" and effect1 < 0 > coef1
    assert effect0 == pytest.approx(coef0 * X[:, 0].std()) and effect1 == pytest.approx(coef1 * X[:, 1].std())
    assert [abs(row[1]) for row in table.rows[:-1]] == sorted((abs(row[1]) for row in table.rows[:-1]), reverse=True)
    assert table.rows[-1][0] == "(intercept)" and table.rows[-1][3] == pytest.approx(fit.model.intercept_[0])
    assert "more of the feature favours well, negative where sick" in table.caption


def test_of_more_classes_the_one_whose_score_rises_most_is_named() -> None:
    fit, X, _ = three_classes()
    table = features_table(fit)
    assert table.head == ("feature", "effect", "on", "favours", "class 7", "class 8", "class 9")
    effects = fit.model.coef_ * X.std(axis=0)
    for name, effect, on, label, *coefs in table.rows[:-1]:
        j = int(str(name)[1:])
        k = int(np.abs(effects[:, j]).argmax())
        assert effect == pytest.approx(effects[k, j]) and on == f"class {k + 7}"
        assert label == f"class {fit.model.coef_[:, j].argmax() + 7}"
        assert coefs == pytest.approx(fit.model.coef_[:, j].tolist())


def test_scores_stand_beside_those_of_the_null_model() -> None:
    fit, X, y = two_classes()
    left_out = {"mean loss": (0.4, 0.69), "accuracy": (0.9, 0.6)}
    table = scores_table(fit, left_out, [Rows("test rows", X[:50], y[:50]), Rows("training rows", X, y, seen=True)])
    assert table.head == ("score", "cross-validation", "test rows", "training rows")
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["mean loss"][0] == 0.4 and cells["mean loss of the null model"][0] == 0.69
    assert cells["accuracy"][1:] == pytest.approx((fit.model.score(X[:50], y[:50]), fit.model.score(X, y)))
    most = "well" if np.mean(y == "well") > 0.5 else "sick"
    assert cells["accuracy of the null model"][2] == np.mean(y == most)
    assert cells["mean loss of the null model"][2] == pytest.approx(log_loss(y, np.full(len(y), np.mean(y == "well"))))
    assert cells["AUC"][2] == pytest.approx(roc_auc_score(y == "well", fit.model.decision_function(X)))
    assert (cells["accuracy"][0], cells["accuracy of the null model"][0]) == (0.9, 0.6)
    assert math.isnan(cells["AUC"][0])  # not measured, and no number in its place

    fit, X, y = regression()
    cells = {row[0]: row[1:] for row in scores_table(fit, {}, [Rows("training rows", X, y)]).rows}
    assert cells["R²"][0] == pytest.approx(fit.model.score(X, y))
    assert cells["R² of the null model"][0] == pytest.approx(0.0)
    assert cells["root mean square error of the null model"][0] == pytest.approx(y.std())


def test_rows_of_an_unknown_class_are_wrong_and_said() -> None:
    fit, X, y = two_classes()
    strange = np.where(np.arange(len(y)) < 3, "dead", y)
    rows = Rows("test rows", X, strange)
    cells = {row[0]: row[1:] for row in scores_table(fit, {}, [rows]).rows}
    assert cells["accuracy"][0] < fit.model.score(X, y) and math.isnan(cells["mean loss"][0])
    confusion = next(prediction_panels(fit, rows)).tables[0]
    assert "3 rows of classes that the model does not know" in confusion.caption
    assert sum(sum(row[1:3]) for row in confusion.rows) == len(y) - 3


# ---- figures


def test_figures_fit_the_task_and_name_their_rows() -> None:
    def ids(fit: Fitted, rows: Rows) -> list[str]:
        panels = list(prediction_panels(fit, rows))
        assert all(rows.name in panel.caption for panel in panels)
        return [panel.id for panel in panels]

    fit, X, y = two_classes()
    assert ids(fit, Rows("test rows", X, y)) == ["roc", "calibration"]
    assert ids(fit, Rows("test rows", X[:30], y[:30])) == ["roc"]  # too few for calibration
    roc_panel = next(prediction_panels(fit, Rows("training rows", X, y, seen=True)))
    assert "which the model was fitted to" in roc_panel.caption
    assert [[*row[1:3]] for row in roc_panel.tables[0].rows] == confusion_matrix(y, fit.model.predict(X)).tolist()
    fit, X, y = three_classes()
    assert ids(fit, Rows("training rows", X, y)) == ["roc", "calibration"]
    assert len(next(prediction_panels(fit, Rows("training rows", X, y))).methods) == 4  # three classes and chance
    hinge = fitted(dcopt.DCClassifier(loss="smoothed-ramp", penalty="l1", lam=0.02), *two_classes()[1:], [0.0])
    assert ids(hinge, Rows("test rows", *two_classes()[1:])) == ["roc"]  # scores are no probabilities
    fit, X, y = regression()
    assert ids(fit, Rows("test rows", X, y)) == ["residuals"]


def test_residuals_are_points_and_not_too_many() -> None:
    fit, X, y = regression()
    many = np.tile(np.arange(200), 40)
    (panel,) = prediction_panels(fit, Rows("test rows", X[many], y[many]))
    curve = panel.curves["rows"]["prediction"]
    assert not panel.methods[0].joined and len(curve.x) <= 2000 and "2000 of them" in panel.caption
    residuals = dict(zip((fit.model.predict(X)).tolist(), (y - fit.model.predict(X)).tolist(), strict=True))
    drawn = zip(curve.x, curve.bands["residual"].middle, strict=True)
    assert all(min(abs(p - x) for p in residuals) < 1e-9 and np.isfinite(r) for x, r in list(drawn)[::100])


def along(middle: tuple[float, ...]) -> Along:
    names = tuple(f"x{k}" for k in range(MOST_LINES))
    lams = tuple(2.0**-k for k in range(len(middle)))
    effects = tuple(tuple(float(k) for k in range(len(middle))) for _ in names)
    nnz = tuple(range(len(middle)))
    return Along("loss on the rows left out: mean over the folds of a cross-validation", lams, middle, middle, middle,
                 nnz, names, effects, lams[1])  # fmt: skip


def story(along: Along | None = None) -> Any:
    from browser.test_fit_page import story as made

    return made(along=along)


def test_a_flat_minimum_is_shown_on_a_log_axis() -> None:
    def criterion(middle: tuple[float, ...]) -> Panel:
        return next(p for p in fit_report(story(along(middle))).panels if p.id == "criterion")

    assert criterion((0.7, 0.1, 9.0)).ys[0].log and not criterion((0.7, 0.5, 0.6)).ys[0].log
    assert not criterion((-70.0, -100.0, 9.0)).ys[0].log  # an EBIC has no logarithm
    path = next(p for p in fit_report(story(along((0.7, 0.1, 9.0)))).panels if p.id == "path")
    assert path.xs[0].falls and path.aligned == criterion((0.7, 0.1)).aligned != ""
    assert len({m.ink for m in path.methods}) == MOST_LINES + 1  # every feature has its own colour


def test_the_figures_along_lam_end_before_the_loss_is_worse_than_at_the_first() -> None:
    """Where the classes become separable, effects grow without a bound: one such λ would flatten all the others."""

    def panels(made: Along) -> tuple[Panel, Panel]:
        path, criterion = fit_report(story(made)).panels[:2]
        return path, criterion

    path, criterion = panels(along((0.7, 0.1, 0.6, 0.9, 0.2, 9.0, 99.0)))
    assert path.curves["f0"]["lam"].x == criterion.curves["path"]["lam"].x == (1.0, 0.5, 0.25, 0.125, 0.0625)
    assert path.curves["chosen"]["lam"].bands["coef"].middle == (0.0, 4.0)  # as high as what is shown
    assert "λ below 0.0625 are left out, where the loss is larger than at the largest λ." in criterion.caption
    path, criterion = panels(along((0.7, 0.1, 0.6)))
    assert len(path.curves["f0"]["lam"].x) == 3 and "are left out" not in criterion.caption
    by_criterion = replace(along((-5.0, -9.0, 3.0)), rule="bic")
    assert len(panels(by_criterion)[0].curves["f0"]["lam"].x) == 3  # it is no loss on rows left out


def test_the_solver_comes_last_and_its_internals_not_at_all() -> None:
    text = render(fit_report(story(along((0.7, 0.1, 9.0)))))
    order = ["Chosen features", "Scores", "The path along λ", "The choice of λ", "ROC curve",
             "Convergence of the solver", "Settings of the fit", "load_estimator"]  # fmt: skip
    main = text[text.index("<main") :]
    places = [main.index(word) for word in order]
    assert places == sorted(places)
    assert not re.search(r"groups=None|falls apart|anew at every step", text)
    assert described("scad", dcopt.regularizers.SCAD(lam=0.3)) == "scad (a = 3.7)"
    assert described("l1", dcopt.regularizers.L1(lam=0.3)) == "l1"
    assert "load_estimator('a.dcm')" in loading("a.dcm") and "dcopt fit … --out" in loading(None)


def test_a_run_without_a_step_says_so() -> None:
    made = story(along((0.7, 0.1, 9.0)))
    rested = fit_report(replace(made, records=made.records[:1]))
    assert "convergence" not in [p.id for p in rested.panels]  # one point on an axis from -0.5 to 0.5 says nothing
    assert dict(rested.tables[0].rows)["steps"] == "none: the path along λ ended at this solution"
    assert fit_report(made).panels[-1].id == "convergence" and "steps" not in dict(fit_report(made).tables[0].rows)
    assert dict(fit_report(replace(made, records=(), along=None)).tables[0].rows)["steps"] == "none"


def test_the_page_of_the_command(tmp_path: Path) -> None:
    """By the command itself: the null model's scores and the test rows, and no path where λ is given."""
    from cli.shell import run

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0.4, "yes", "no")
    lines = ["a,b,c,y", *(",".join(map(repr, row.tolist())) + f",{label}" for row, label in zip(X, y, strict=True))]
    for name, part in (("train", lines[:81]), ("test", [lines[0], *lines[81:]])):
        (tmp_path / f"{name}.csv").write_text("\n".join(part) + "\n", encoding="utf-8")
    page = tmp_path / "fit.html"
    done = run("fit", str(tmp_path / "train.csv"), "--target", "y", "--test", str(tmp_path / "test.csv"),
               "--report", str(page), "--folds", "3", "--lams", "8")  # fmt: skip
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    null = max(np.mean(y[80:] == c) if np.mean(y[:80] == c) > 0.5 else 0.0 for c in ("yes", "no"))
    assert "accuracy of the null model" in text and f"{null:.4g}" in text
    tol = re.search(r"<= tol (\S+) \(0.0001 relative\)", done.stdout)
    assert tol is not None and f"tol = {tol[1]}" in text  # in the units of the figure
    assert "cross-validation</th>" in text and "Confusion matrix on the test rows" in text and "Calibration" in text
