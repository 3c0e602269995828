"""What a fit says of its coefficients and its scores."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli.shell import Here

import dcopt
from dcopt.cli.coefficients import chosen_features, table_of
from dcopt.cli.printable import as_json
from dcopt.learn.cv import CrossValidated
from dcopt.learn.files import load_estimator


def table(path: Path, labels: tuple[str, ...], n: int = 120, informative: bool = True) -> str:
    """Two columns: the first raises the score of the last label, the second has no influence."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)) * [3.0, 1.0]
    score = X[:, 0] + rng.normal(size=n) if informative else rng.normal(size=n)
    codes = np.searchsorted(np.quantile(score, [k / len(labels) for k in range(1, len(labels))]), score)
    lines = ["age,noise,y", *(f"{a},{b},{labels[k]}" for (a, b), k in zip(X.tolist(), codes, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("labels", "favoured", "sign"), [(("sick", "well"), "well", 1.0), (("well", "sick"), "sick", -1.0)]
)
def test_a_coefficient_says_which_class_it_favours(
    labels: tuple[str, ...], favoured: str, sign: float, tmp_path: Path, here: Here
) -> None:
    data, model = table(tmp_path / "d.csv", labels), str(tmp_path / "m.dcm")
    code, out, err = here.run("fit", data, "--target", "y", "--lams", "8", "--out", model)
    assert code == 0, err
    assert "a positive coefficient favours 'well', a negative one 'sick'" in out and "intercept: " in out
    row = next(line.split() for line in out.splitlines() if line.startswith("age"))
    assert np.sign(float(row[1])) == np.sign(float(row[2])) == sign and row[3] == favoured
    said = json.loads(here.run("fit", data, "--target", "y", "--lams", "8", "--json")[1])
    (age,) = [one for one in said["features"] if one["name"] == "age"]
    assert said["classes"] == ["sick", "well"] and age["favours"] == favoured
    assert np.sign(age["effect"]) == np.sign(age["coefficient"][0]) == sign
    code, out, _ = here.run("inspect", model, "--json")
    said = json.loads(out)
    assert said["favours"]["age"] == favoured and np.sign(said["coefficients"]["age"][0]) == sign
    assert said["intercept"] and said["scores"]["train"] > said["null_scores"]["train"]


def test_of_three_classes_too(tmp_path: Path, here: Here) -> None:
    data = table(tmp_path / "d.csv", ("low", "mid", "top"), 240)
    code, out, err = here.run("fit", data, "--target", "y", "--lams", "8")
    assert code == 0, err
    head = next(line.split() for line in out.splitlines() if line.startswith("feature "))
    assert head == ["feature", "class", "low", "class", "mid", "class", "top", "effect", "on", "favours"]
    row = next(line.split() for line in out.splitlines() if line.startswith("age"))
    assert row[-1] == "top" and float(row[3]) > 0 > float(row[1]) and "intercepts: low" in out
    on, coefs = row[-2], dict(zip(("low", "mid", "top"), map(float, row[1:4]), strict=True))
    assert on == max(coefs, key=lambda c: abs(coefs[c])) and np.sign(float(row[4])) == np.sign(coefs[on])
    model = dcopt.DCClassifier()
    model.coef_, model.classes_ = np.array([[0.0], [-1.0], [0.0]]), np.array(["a", "b", "c"])
    (one,) = chosen_features(model, lambda j: "x", 2.0)
    assert one["favours"] is None and (one["effect"], one["effect_on"]) == (-2.0, "b")
    assert table_of([one], ["a", "b", "c"]).rows[0][-2:] == ("b", "–")


def test_the_path_of_several_classes_keeps_the_signs_of_the_table(tmp_path: Path) -> None:
    """Each line is that of one class, the one that the table's effect is on."""
    from dcopt.cli.fit_setup import bench_of
    from dcopt.cli.journal import Asked, Journal
    from dcopt.cli.lam import choose
    from dcopt.cli.terminal import Terminal

    data = table(tmp_path / "d.csv", ("low", "mid", "top"), 240)
    asked = Asked(data=data, target="y", lams=8)
    terminal = Terminal()
    terminal.quiet = True
    bench, journal = bench_of(terminal, asked), Journal(asked)
    choose(terminal, asked, journal, bench)
    along, tuning = journal.along, journal.tuning
    assert along is not None and tuning is not None and tuning.path is not None
    effects = tuning.path.coefs[tuning.index] * bench.deviations
    k = int(np.abs(effects[:, 0]).argmax())
    line = along.effects[along.names.index(f"age (class {('low', 'mid', 'top')[k]})")]
    assert line[tuning.index] == effects[k, 0] and min(effects[:, 0]) < 0 < max(effects[:, 0])


def test_numbers_that_are_taken_for_classes_are_said(tmp_path: Path, here: Here) -> None:
    """Marks from 1 to 3 have an order that softmax does not see."""
    data = table(tmp_path / "d.csv", ("1", "2", "3"), 90)
    _, _, err = here.run("fit", data, "--target", "y", "--lam", "0.1")
    assert "3 classes (--loss squared takes the targets for numbers); loss softmax" in err
    for words, labels in ((("--loss", "softmax"), ("1", "2", "3")), ((), ("a", "b", "c")), ((), ("0", "1"))):
        data = table(tmp_path / "d.csv", labels, 90)
        assert "for numbers" not in here.run("fit", data, "--target", "y", "--lam", "0.1", *words)[2]


def test_a_path_that_ends_early_says_why_and_the_folds_count_its_values(tmp_path: Path, here: Here) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    rows = [f"{a},{b},{'yes' if a + b > 0 else 'no'}" for a, b in X.tolist()]
    (tmp_path / "d.csv").write_text("\n".join(["a,b,y", *rows]) + "\n", encoding="utf-8")
    code, out, err = here.run("fit", str(tmp_path / "d.csv"), "--target", "y", "--folds", "3")
    n = int(re.search(r"(\d+) values\)", out)[1])  # type: ignore[index]
    assert code == 0 and n < 30
    assert f"3-fold cross-validation: {3 * n} values of lam" in err and f"{3 * n}/{3 * n} in" in err
    assert f"the path ends after {n} values of lam, at " in err and "the classes are separable there" in err
    assert "separable" not in here.run("fit", table(tmp_path / "e.csv", ("a", "b")), "--target", "y", "--lams", "8")[2]


def test_scores_stand_beside_those_of_the_model_without_features(tmp_path: Path, here: Here) -> None:
    data = table(tmp_path / "d.csv", ("no", "yes"))
    code, out, _ = here.run("fit", data, "--target", "y", "--lams", "8", "--folds", "3", "--test", data, "--json")
    said = json.loads(out)
    assert code == 0 and said["no_better"] is False
    assert said["null_scores"] == {"train": 0.5, "test": 0.5} and said["scores"]["train"] > 0.8
    assert said["cross_validation"]["accuracy"] > 0.8 and said["null_cross_validation"]["accuracy"] <= 0.55
    assert (
        said["cross_validation"]["loss"] < said["null_cross_validation"]["loss"] == pytest.approx(np.log(2), abs=0.02)
    )
    code, out, _ = here.run("fit", data, "--target", "y", "--lams", "8", "--folds", "3")
    assert "cross-validation: loss 0." in out and "which predicts 'no' for every row" in out and "no better" not in out
    code, out, _ = here.run("fit", data, "--target", "age", "--drop", "y", "--rule", "1se", "--json")
    said = json.loads(out)  # noise says nothing about age
    assert said["no_better"] is True and said["classes"] is None
    code, out, _ = here.run("fit", "diabetes", "--lams", "8", "--json")
    said = json.loads(out)
    assert said["no_better"] is False and 0.4 < said["cross_validation"]["R²"] < 0.6
    assert said["null_scores"]["train"] == 0.0


@pytest.mark.parametrize("how", [("--rule", "1se"), ("--lam", "100"), ("--rule", "ebic")])
def test_a_choice_no_better_than_the_largest_class_says_so(how: tuple[str, ...], tmp_path: Path, here: Here) -> None:
    data = table(tmp_path / "d.csv", ("no", "yes"), informative=False)
    code, out, _ = here.run("fit", data, "--target", "y", *how)
    assert code == 0 and ("the model has no features: it predicts" in out or "no better than predicting" in out), out
    assert json.loads(here.run("fit", data, "--target", "y", *how, "--json")[1])["no_better"] is True


def test_columns_are_standardised_unless_told_otherwise(tmp_path: Path, here: Here) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) * [1.0, 500.0, 0.0]
    y = (X[:, 0] + X[:, 1] / 500.0 + 0.5 * rng.normal(size=80) > 0).astype(int)
    lines = ["a,b,c,y", *(",".join(map(str, [*x, t])) for x, t in zip(X.tolist(), y, strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    fit = ("fit", str(tmp_path / "d.csv"), "--target", "y", "--lam", "0.05")
    code, out, err = here.run(*fit)
    assert code == 0 and "of the standardised columns" in out and "differ in scale" not in err
    assert {line.split()[0] for line in out.splitlines() if line.startswith(("a ", "b "))} == {"a", "b"}
    code, out, err = here.run(*fit, "--no-standardize")
    assert code == 0 and "standardised" not in out and err.count("differ in scale by a factor of 4") == 1, err


def test_rules_are_those_of_the_estimators(tmp_path: Path, here: Here) -> None:
    data = table(tmp_path / "d.csv", ("no", "yes"), 60)
    lams = {}
    for rule in ("best", "1se", "aic", "bic", "ebic"):
        code, out, err = here.run("fit", data, "--target", "y", "--rule", rule, "--json")
        assert code == 0, err
        lams[rule] = json.loads(out)["lam"]
    assert lams["1se"] >= lams["best"] > 0
    default = json.loads(here.run("fit", data, "--target", "y", "--json")[1])
    assert default["lam"] == lams["best"] and default["lam_by"] == "5-fold cross-validation, least loss, 30 values"
    assert dcopt.DCClassifierCV().rule == dcopt.DCRegressorCV().rule == "best"
    assert issubclass(dcopt.DCClassifierCV, CrossValidated)
    code, _, err = here.run("fit", data, "--target", "y", "--rule", "bset")
    assert code == 1 and "did you mean 'best'?" in err


def test_a_resumed_fit_says_the_same(tmp_path: Path, here: Here) -> None:
    data, ckpt = table(tmp_path / "d.csv", ("no", "yes")), str(tmp_path / "run.ckpt")
    model = str(tmp_path / "m.dcm")
    fit = ("fit", data, "--target", "y", "--lams", "6", "--checkpoint", ckpt, "--out", model, "--json")
    said = json.loads(here.run(*fit)[1])
    again = json.loads(here.run("resume", ckpt, data, "--json")[1])
    same = ("lam", "lam_by", "features", "scores", "cross_validation", "null_cross_validation", "certificate")
    assert {k: said[k] for k in same} == {k: again[k] for k in same}
    assert load_estimator(model).lam_ == said["lam"]


def test_a_finished_fit_does_not_go_on(tmp_path: Path, here: Here) -> None:
    data, ckpt = table(tmp_path / "d.csv", ("no", "yes")), str(tmp_path / "run.ckpt")
    assert here.run("fit", data, "--target", "y", "--lams", "6", "--checkpoint", ckpt)[0] == 0
    _, _, err = here.run("resume", ckpt, data)
    assert "the fit is over (CONVERGED)" in err and "goes on" not in err
    _, _, err = here.run("resume", ckpt, data, "--tol", "1e-6")
    assert "the run goes on" in err and "is over" not in err


def test_json_is_compact_and_the_same_data() -> None:
    data = {"a": [1.5, None, True, "x"], "b": [[1, 2], [3, 4]], "c": {}, "d": [], "e": [{"f": [1]}, 2], "\x9b": "\n"}
    text = as_json(data)
    assert json.loads(text) == data
    lines = text.splitlines()
    assert lines[1] == '  "a": [1.5, null, true, "x"],' and lines[3] == "    [1, 2]," and "\x9b" not in text
