"""fit, resume, predict, inspect: from data to predictions, cut off on the way, refused by name."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from cli.shell import Here, command, environ

import dcopt
from dcopt.datasets.tables import Columns, read
from dcopt.fit.steps import Fit
from dcopt.fit.task import Progress
from dcopt.learn.files import load_estimator, save_estimator


def table(path: Path, n: int = 150, words: bool = True, seed: int = 0) -> Path:
    """Five columns of very different scales, of which two matter, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * [1.0, 100.0, 1.0, 0.01, 1.0] + [5.0, 0.0, 0.0, 0.0, 1.0]
    z = 2.0 * (X[:, 0] - 5.0) - 0.02 * X[:, 1] + rng.normal(size=n)
    y = np.where(z > 0, "yes", "no") if words else z
    lines = [
        "age,income,noise,small,other,buys",
        *(",".join([*map(repr, map(float, x)), str(t)]) for x, t in zip(X, y, strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_from_a_table_to_predictions(tmp_path: Path, here: Here) -> None:
    train, test = table(tmp_path / "train.csv"), table(tmp_path / "test.csv", seed=1)
    model, page = tmp_path / "model.dcm", tmp_path / "fit.html"
    words = ("fit", str(train), "--target", "buys", "--lams", "8", "--folds", "3", "--test", str(test))
    code, out, err = here.run(*words, "--out", str(model), "--report", str(page))
    assert code == 0, err
    assert "loss logistic, the default" in err and "3-fold cross-validation" in err
    lines = out.splitlines()
    assert lines[0].startswith("lam = ") and lines[1].startswith("CONVERGED: criticality") and "accuracy:" in out
    assert {line.split()[0] for line in lines if line.startswith(("age", "income"))} == {"age", "income"}
    text = page.read_text(encoding="utf-8")
    assert (
        "The path along λ" in text
        and "The choice of λ" in text
        and "Chosen features" in text
        and 'id="claims" hidden' in text
    )

    fitted = load_estimator(model)
    assert fitted.feature_names_in_.tolist() == ["age", "income", "noise", "small", "other"]
    del fitted.feature_names_in_  # the rows below come without names
    data = read(str(test), Columns("buys"))
    assert fitted.score(data.X, data.y) > 0.75  # in the units of the data
    shuffled = tmp_path / "shuffled.csv"
    rows = [line.split(",") for line in test.read_text(encoding="utf-8").splitlines()]
    shuffled.write_text(
        "\n".join(",".join([r[1], r[0], *r[2:5], "7"]) for r in rows).replace(",7", ",extra", 1), encoding="utf-8"
    )
    code, out, err = here.run("predict", str(model), str(shuffled))
    assert code == 0, err
    assert out.splitlines() == ["prediction", *fitted.predict(data.X)]
    code, out, _ = here.run("predict", str(model), str(test), "--proba", "--json")
    said = json.loads(out)
    np.testing.assert_allclose(said["values"], fitted.predict_proba(data.X))
    assert len(out.splitlines()) < 150 + 20  # one line a row
    assert said["columns"] == ["p(no)", "p(yes)"] and said["score"]["accuracy"] == fitted.score(data.X, data.y)
    code, out, _ = here.run("inspect", str(model), "--json")
    said = json.loads(out)
    assert said["what"] == "model: DCClassifier" and said["status"] == "CONVERGED" and said["classes"] == ["no", "yes"]
    assert here.run("predict", str(model), str(test), "--out", str(tmp_path / "p.csv"))[0] == 0
    assert here.run("predict", str(model), str(test), "--out", str(tmp_path / "p.csv"))[0] == 1


def test_regression_and_ebic_and_json(tmp_path: Path, here: Here) -> None:
    file = table(tmp_path / "data.csv", words=False)
    words = ("fit", str(file), "--target", "-1", "--rule", "ebic", "--lams", "10", "--json")
    code, out, err = here.run(*words)
    said = json.loads(out)
    assert code == 0 and err == "" and said["loss"] == "squared" and said["scores"]["train"] > 0.6
    assert [one["name"] for one in said["features"]] == ["income", "age"] or {
        o["column"] for o in said["features"]
    } >= {0, 1}
    assert said["lam_by"] == "EBIC, 10 values" and said["files"]["model"] is None


def test_parquet_is_read_as_csv_is(tmp_path: Path) -> None:
    pyarrow, _ = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = table(tmp_path / "data.csv")
    same = read(str(file), Columns("buys"))
    columns = {name: same.X[:, j] for j, name in enumerate(same.names or ())} | {"buys": same.y}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "data.parquet")
    again = read(str(tmp_path / "data.parquet"), Columns("buys"))
    assert np.array_equal(again.X, same.X) and np.array_equal(again.y, same.y) and again.names == same.names
    bad = pyarrow.table({"a": [1.0, None], "y": [0, 1]})
    pyarrow.parquet.write_table(bad, tmp_path / "bad.parquet")
    with pytest.raises(dcopt.BadFile, match="row 2, column 1: a: the cell is missing; --missing drop"):
        read(str(tmp_path / "bad.parquet"), Columns("y"))


BAD = {
    "a word": ("a,b,y\n1,2,0\n1,x,1\n", "line 3, column 2: b: 'x' is not a number"),
    "nothing": ("a,b,y\n1,,0\n1,2,1\n", "line 2, column 2: b: the cell is missing; --missing drop leaves"),
    "nan": ("a,b,y\n1,2,0\nnan,2,1\n", "line 3, column 1: a: the cell is missing; --missing drop leaves"),
    "underscore": ("a,b,y\n1_0,2,0\n", "line 2, column 1"),
    "too few": ("a,b,y\n1,2\n", "line 2: 2 cells, where the first line has 3"),
    "twice": ("a,a,y\n1,2,3\n", "line 1, column 2: two columns are called 'a'"),
    "no target": ("a,b,y\n1,2,\n", "line 2, column 3: the target is missing; --missing drop leaves"),
    "no rows": ("a,b,y\n", "has no rows"),
    "empty": ("", "is empty"),
    "a quote": ('a,b,y\n1,"2,3\n', "cannot be read as CSV"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused_by_its_place(case: str, tmp_path: Path, here: Here) -> None:
    text, says = BAD[case]
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    code, out, err = here.run("fit", str(tmp_path / "bad.csv"), "--target", "y")
    assert code == 1 and says in err and out == "" and err.count("\n") == 1, err


def test_bad_words_are_refused_by_name(tmp_path: Path, here: Here) -> None:
    file, model = table(tmp_path / "data.csv"), tmp_path / "m.dcm"
    base = ("fit", str(file), "--target", "buys", "--lam", "0.1", "--out", str(model))
    assert here.run(*base)[0] == 0
    for words, says in (
        (("fit", str(file)), "--target, a column of"),
        (("fit", str(file), "--target", "buy"), "expected a column or a number from 1 to 6; did you mean 'buys'?"),
        ((*base[:2], "--target", "age", "--drop", "buys", "--loss", "logistic"), "expected one for numbers, such as"),
        ((*base[:-1], "nowhere/m.dcm"), "a folder that exists"),
        (base, "--force replaces the file"),
        ((*base, "--force", "--lam", "much"), "lam"),
        ((*base, "--force", "--loss", "squared"), "one for classes"),
        ((*base, "--force", "--set", "lamb=1"), "did you mean 'lam'?"),
        ((*base, "--force", "--penalty", "zero"), "no --lam: zero has none"),
        (("predict", str(model), "digits"), "has 64 features, the model was fitted to 5"),
        (("predict", str(file), "digits"), "data.csv"),
        (("resume", str(model), str(file)), "is not a checkpoint of dcopt fit"),
        (("inspect", "nowhere"), "does not exist"),
    ):
        code, out, err = here.run(*words)
        assert code == 1 and says in err and out == "" and err.count("\n") == 1, (words, err)
    (tmp_path / "less.csv").write_text("age,incom,noise,small\n1,2,3,4\n", encoding="utf-8")
    code, _, err = here.run("predict", str(model), str(tmp_path / "less.csv"))
    assert code == 1 and "has no column 'income', which the model was fitted to; did you mean 'incom'?" in err


def test_columns_without_names_do_not_stand_for_a_models_unless_asked(tmp_path: Path, here: Here) -> None:
    model, data = tmp_path / "m.dcm", table(tmp_path / "data.csv")
    assert here.run("fit", str(data), "--target", "buys", "--lam", "0.1", "--out", str(model))[0] == 0
    (tmp_path / "d.svm").write_text("1 1:5 3:2\n0 2:1\n", encoding="utf-8")  # three columns, as far as can be seen
    (tmp_path / "d.csv").write_text("5,0,2,0,0\n0,1,0,0,0\n", encoding="utf-8")
    for name in ("d.svm", "d.csv"):
        code, out, err = here.run("predict", str(model), str(tmp_path / name))
        assert code == 1 and out == "" and "has no names of columns" in err, err
        assert "fitted to age, income, noise, small, other: --by-position takes" in err
        code, out, err = here.run("predict", str(model), str(tmp_path / name), "--by-position")
        assert code == 0 and len(out.splitlines()) == 3, err


def test_a_fit_that_ends_early_is_written_and_goes_on_to_the_same_bits(tmp_path: Path, here: Here) -> None:
    """Exit code 2, a model all the same; then resume, against one that was never stopped."""
    how = ("breast_cancer", "--lam", "0.02", "--solver", "dca-page", "--tol", "1e-3")
    whole, part, ckpt = (str(tmp_path / name) for name in ("whole.dcm", "part.dcm", "run.ckpt"))
    assert here.run("fit", *how, "--out", whole, "--max-passes", "400")[0] in (0, 2)
    code, out, err = here.run("fit", *how, "--out", part, "--max-passes", "30", "--checkpoint", ckpt)
    assert code == 2 and "not converged: BUDGET" in err and "BUDGET: criticality" in out
    assert load_estimator(part).status_ == "BUDGET"
    code, out, _ = here.run("inspect", ckpt, "--json")
    assert json.loads(out)["method"] == "dca-page" and json.loads(out)["told"]["passes"] == 30
    assert "journal of dcopt fit" in here.run("inspect", ckpt + ".fit")[1]
    code, out, err = here.run("resume", ckpt, "breast_cancer", "--max-passes", "400", "--out", part, "--force")
    assert code in (0, 2) and "the run goes on" in err
    a, b = load_estimator(whole), load_estimator(part)
    assert np.array_equal(a.x_, b.x_) and a.certificate_ == b.certificate_ and a.trace_["F"] == b.trace_["F"]
    code, _, err = here.run("resume", ckpt, "digits")
    assert code == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_checkpoint(number: signal.Signals, code: int, tmp_path: Path) -> None:
    ckpt, model = tmp_path / "run.ckpt", tmp_path / "a model.dcm"
    words = ("fit", "breast_cancer", "--lam", "1e-4", "--solver", "dca-page", "--tol", "0", "--max-passes", "1e9")
    words = (*words, "--checkpoint", str(ckpt), "--out", str(model))
    program = subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True, env=environ())
    for _ in range(600):
        if ckpt.exists() or program.poll() is not None:
            break
        time.sleep(0.1)
    time.sleep(0.5)
    program.send_signal(number)
    _, err = program.communicate(timeout=60)
    assert program.returncode == code and err.endswith("dcopt: interrupted\n") == (code == 130), err
    assert f"to go on: dcopt resume {ckpt} breast_cancer --out '{model}'\n" in err, err
    assert dcopt.peek(ckpt).header["state"]["t"] > 100


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_the_choice_of_lam(number: signal.Signals, code: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 60))
    lines = [" ".join([str(int(x[0] > 0)), *(f"{j + 1}:{v}" for j, v in enumerate(x.tolist()))]) for x in X]
    (tmp_path / "a.svm").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ckpt = tmp_path / "run.ckpt"
    words = ("fit", str(tmp_path / "a.svm"), "--tol", "1e-9", "--folds", "200", "--checkpoint", str(ckpt))
    program = subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True, env=environ())
    for _ in range(600):
        if (tmp_path / "run.ckpt.fit").exists() or program.poll() is not None:
            break
        time.sleep(0.1)
    time.sleep(1.0)
    program.send_signal(number)
    _, err = program.communicate(timeout=60)
    assert program.returncode == code and f"to go on: dcopt resume {ckpt}" in err and "Traceback" not in err, err


def test_cross_validation_goes_on_after_the_folds_that_are_done(tmp_path: Path, here: Here, monkeypatch) -> None:
    from dcopt.cli.journal import Journal, read_journal

    file, ckpt = table(tmp_path / "data.csv"), str(tmp_path / "run.ckpt")
    how = ("fit", str(file), "--target", "buys", "--lams", "6", "--folds", "3", "--json")
    code, out, _ = here.run(*how)
    real = Journal.folds

    def stop(self: Journal, tuning) -> None:
        real(self, tuning)
        if len(tuning.losses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "folds", stop)
    assert here.run(*how, "--checkpoint", ckpt)[0] == 130
    monkeypatch.setattr(Journal, "folds", real)
    found = read_journal(ckpt)
    assert found.tuning is not None and len(found.tuning.losses) == 2 and found.at is None
    code, again, err = here.run("resume", ckpt, str(file), "--json")
    assert code == 0, err
    same = ("lam", "certificate", "features", "scores")
    assert {k: json.loads(out)[k] for k in same} == {k: json.loads(again)[k] for k in same}


def test_data_are_inspected(tmp_path: Path, here: Here) -> None:
    code, out, _ = here.run("inspect", str(table(tmp_path / "data.csv")), "--target", "buys")
    assert code == 0 and "2 classes (no:" in out and "differ by a factor of" in out and "income" in out
    (tmp_path / "a.svm").write_text("1 1:1 3:2\n-1 2:1\n", encoding="utf-8")
    said = json.loads(here.run("inspect", str(tmp_path / "a.svm"), "--json")[1])
    assert (said["rows"], said["columns"], said["stored"]) == (2, 3, "sparse")


def test_a_loaded_estimator_is_the_one_that_was_saved(tmp_path: Path) -> None:
    X, y = dcopt.load_dataset("wine")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weights = {0: 1.0, 1: 2.0, 2: 1.0}
    model = dcopt.DCClassifier(penalty="mcp", lam=0.05, class_weight=weights, unpenalized=[0], random_state=1).fit(X, y)
    save_estimator(tmp_path / "m.dcm", model)
    again = load_estimator(tmp_path / "m.dcm")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X)) and again.class_weight == weights
    for name in ("lam_", "status_", "certificate_", "objective_", "n_iter_", "solver_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
    assert again.get_params()["unpenalized"] == [0] and again.trace_["F"] == model.trace_["F"]
    again.fit(X, y)
    assert np.array_equal(again.coef_, model.coef_)
    chosen = dcopt.DCRegressorCV(n_lams=4, cv=2, random_state=0).fit(X[:, 1:], X[:, 0])
    save_estimator(tmp_path / "cv.dcm", chosen)
    again = load_estimator(tmp_path / "cv.dcm")
    assert isinstance(again, dcopt.DCRegressor) and again.lam == chosen.lam_
    assert np.array_equal(again.predict(X[:, 1:]), chosen.predict(X[:, 1:]))
    dcopt.save_model(tmp_path / "other.dcm", {"a": 1}, {})
    with pytest.raises(dcopt.BadModel, match="without an estimator"):
        load_estimator(tmp_path / "other.dcm")
    header, arrays = dcopt.load_model(tmp_path / "m.dcm")
    for spoil in ({"fitted": {}}, {"estimator": "os.system"}, {"loss": "x"}):
        dcopt.save_model(tmp_path / "bad.dcm", header | spoil, arrays, allow_nonfinite=True)
        with pytest.raises(dcopt.BadModel):
            load_estimator(tmp_path / "bad.dcm")


@pytest.mark.parametrize("stop", [3, 8, 20, 30])
def test_a_fit_of_two_methods_goes_on_to_the_same_bits_wherever_it_stopped(stop: int, tmp_path: Path) -> None:
    X, y = dcopt.load_dataset("breast_cancer")

    def fit(*callbacks) -> Fit:
        how = {"lam": 0.001, "tol": 1e-17, "max_passes": 60, "random_state": 0, "callbacks": list(callbacks)}
        return Fit(dcopt.DCClassifier(**how), X[:, :12], y)

    one, steps, kept = fit(), iter(range(1, 10**6)), []
    assert len(one.ways) == 2
    whole = one.run(Progress(one.start()))
    other, path = fit(lambda state: next(steps) == stop), tmp_path / "run.ckpt"
    part = other.run(Progress(other.start()), path, kept.append)
    assert part.result.status is dcopt.Status.INTERRUPTED
    again = fit().run(kept[-1], path, kept.append, go_on=True)
    assert np.array_equal(again.x, whole.x) and again.result.certificate == whole.result.certificate
    assert [r.F for r in again.seen.records] == [r.F for r in whole.seen.records]
    assert (again.seen.passes, again.seen.steps) == (whole.seen.passes, whole.seen.steps)


# ---- tables that are read wrong by who only counts


def test_a_delimiter_is_what_is_between_quotes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"len, cm";"wid, ""a, b""";"c, d";"y, z"\n1.5;2;3;yes\n2.5;1;0;no\n', encoding="utf-8")
    data = read(str(path), Columns("y, z"))
    assert data.names == ("len, cm", 'wid, "a, b"', "c, d") and data.X.tolist() == [[1.5, 2, 3], [2.5, 1, 0]]


def test_targets_that_python_would_take_for_numbers_are_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,1_0\n2,1_1\n3,1_0\n", encoding="utf-8")
    data = read(str(path), Columns("y"))
    assert data.y is not None and data.y.tolist() == ["1_0", "1_1", "1_0"] and not data.real


@pytest.mark.parametrize("cell, said", [("nan", "missing"), ("NaN", "missing"), ("-inf", "-inf"), ("Infinity",) * 2])
def test_a_target_that_is_no_number_has_a_place(tmp_path: Path, cell: str, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,y\n1,2.5\n2,{cell}\n", encoding="utf-8")
    with pytest.raises(dcopt.errors.BadFile, match=f"line 3, column 2: the target is {said}"):
        read(str(path), Columns("y"))


def test_lam_has_an_option_of_its_own(tmp_path: Path, here: Here) -> None:
    train = str(table(tmp_path / "train.csv"))
    for words, said in (("--set lam=0.05", "expected --lam"), ("--lam abc", "as in --lam 0.01")):
        code, _, err = here.run("fit", train, "--target", "buys", *words.split())
        assert code == 1 and said in err


def test_words_in_a_message_are_words(tmp_path: Path, here: Here) -> None:
    code, _, err = here.run("fit", str(table(tmp_path / "train.csv")), "--target", "buys", "--loss", "squared")
    assert code == 1 and "np.str_" not in err and "such as '" in err
