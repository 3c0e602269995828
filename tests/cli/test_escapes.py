"""Control characters in headers, labels, models and file names do not reach the terminal."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from cli.shell import Here, run
from cli.test_screen import on_a_terminal

import dcopt
from dcopt.cli.printable import printable
from dcopt.learn.files import save_estimator

EVIL = "\x1b]0;PWNED\x07\x1b[2J\x9b31m\u202e"
SHOWN = "\\x1b]0;PWNED\\x07\\x1b[2J\\x9b31m\\u202e"


def clean(text: str) -> bool:
    return not any(c in text for c in "\x1b\x07\x9b\u202e")


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A column, a label and a file with an escape sequence."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    path = tmp_path / f"{EVIL}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"a{EVIL}", "b", "y"])
        writer.writerows([*x, f"yes{EVIL}" if x[0] > 0 else "no"] for x in X.tolist())
    return str(path)


def test_what_is_printable_stays() -> None:
    assert printable("κ ≤ 10⁻³, naïve, 日本, 👩‍🔬") == "κ ≤ 10⁻³, naïve, 日本, 👩‍🔬"
    assert printable(EVIL) == SHOWN and printable("a\nb\tc") == "a\nb\tc" and printable("a\rb\u2028") == "a\\rb\\u2028"


def test_control_characters_are_shown(data: str, tmp_path: Path, here: Here) -> None:
    model, ckpt = str(tmp_path / "m.dcm"), str(tmp_path / "run.ckpt")
    fit = ("fit", data, "--target", "y", "--lams", "5", "--folds", "2", "--out", model, "--checkpoint", ckpt)
    for words in (
        fit,
        ("resume", ckpt, data),
        ("inspect", data, "--target", "y"),
        ("inspect", model),
        ("inspect", ckpt + ".fit"),
    ):
        code, out, err = here.run(*words)
        assert code == 0 and clean(out + err) and "\\x1b]0;PWNED" in out + err, (words, out, err)
        code, out, _ = here.run(*words, "--json", *(("--force",) if words == fit else ()))
        assert code == 0 and clean(out) and json.loads(out), words
    for words in (("fit", data), ("fit", data, "--target", EVIL), ("predict", data, data), ("inspect", EVIL), (EVIL,)):
        code, out, err = here.run(*words)
        assert code == 1 and clean(err) and "PWNED" in err, err
    code, out, _ = here.run("predict", model, data)
    assert code == 0 and EVIL in out  # a pipe gets the labels as they are: they are data
    _, text = on_a_terminal("predict", model, data, code="from dcopt.cli import main; main()")
    assert "\\x1b]0;PWNED" in text and f"yes{EVIL}" not in text and "\x1b]0" not in text and "\x9b" not in text


def test_a_model_of_a_stranger_is_shown_as_text(tmp_path: Path, here: Here) -> None:
    X, y = dcopt.load_dataset("breast_cancer")
    model = dcopt.DCClassifier(lam=0.1, standardize=True).fit(X, y)
    save_estimator(tmp_path / "m.dcm", model, {"data": EVIL, EVIL: EVIL})
    header, arrays = dcopt.load_model(tmp_path / "m.dcm", allow_nonfinite=True)
    header["fitted"]["certificate"] = header["fitted"]["status"] = EVIL
    dcopt.save_model(tmp_path / "m.dcm", header, arrays, allow_nonfinite=True)
    code, out, err = here.run("inspect", str(tmp_path / "m.dcm"))
    assert code == 0 and clean(out + err) and out.count(SHOWN) >= 4


def test_an_error_with_its_traceback_is_text(data: str) -> None:
    done = run("fit", data, "--debug")
    assert done.returncode == 1 and clean(done.stderr) and "Traceback" in done.stderr
