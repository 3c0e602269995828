"""The command line as a person uses it: real processes, real exit codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import dcopt


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    where = {k: v for k, v in os.environ.items() if k != "DCOPT_DATA"} | environment
    code = "from dcopt.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=where)


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"dcopt {dcopt.__version__}"
    text = run("--help").stdout
    assert all(command in text for command in ("reproduce", "plan", "datasets"))


def test_reproduce_without_data_uses_the_bundled_sets() -> None:
    done = run("reproduce", "--passes", "4")
    assert done.returncode == 0 and "sets of scikit-learn instead" in done.stdout
    assert "breast_cancer" in done.stdout and "digits" in done.stdout
    rows = re.findall(r"^([a-z-]+) +(\d\.\d{5}) .* (\d\.\d{5})  ", done.stdout, re.M)
    assert {name for name, _, _ in rows} == set(dcopt.METHODS)  # pdcae on digits, where f is convex
    assert all(float(last) <= float(first) for _, first, last in rows)
    assert max(map(len, done.stdout.splitlines())) <= 90


def test_datasets_say_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "a9a").write_text("+1 3:1 7:0.5\n-1 1:1\n", encoding="utf-8")
    lines = dict(line.split(maxsplit=1) for line in run("datasets", DCOPT_DATA=str(tmp_path)).stdout.splitlines())
    assert lines["a9a"] == "in DCOPT_DATA" and lines["w8a"] == "not here" and lines["digits"] == "with scikit-learn"


def test_plan_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "two.svm"
    file.write_text("".join(f"{(-1) ** i} 1:{1 + i % 3} 2:{i % 5}\n" for i in range(40)), encoding="utf-8")
    done = run("plan", str(file), "--penalty", "scad", "--set", "lam=0.01", "--eps", "0.1", "--compare")
    assert done.returncode == 0, done.stderr
    assert "N = 40" in done.stdout and "Every condition holds" in done.stdout and "cheapest:" in done.stdout


def test_bad_words_are_one_line_and_exit_code_one(tmp_path: Path) -> None:
    (tmp_path / "bad.svm").write_text("1 1:x\n", encoding="utf-8")
    for words, says in (
        (("plan", "nowhere.svm", "--eps", "1"), "is not a file"),
        (("plan", str(tmp_path / "bad.svm"), "--eps", "1"), "not LIBSVM"),
        (("plan", "digits", "--eps", "-1", "--loss", "softmax"), "eps"),
        (("plan", "breast_cancer", "--eps", "1", "--penalty", "scat"), "did you mean 'scad'?"),
        (("plan", "breast_cancer", "--eps", "1", "--penalty", "scad", "--set", "lamb=1"), "did you mean 'lam'?"),
    ):
        done = run(*words)
        assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)
