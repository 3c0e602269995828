"""The commands as a person uses them: real processes, what they print, as text and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from cli.shell import FAKE, Here, run

import dcopt
from dcopt.cli import in_front
from dcopt.cli.app import app
from dcopt.cli.datasets import look
from dcopt.cli.names import EXPERIMENTS
from dcopt.datasets.named import BUNDLED, DATASETS
from dcopt.experiments import reproduce
from dcopt.losses import LOSSES
from dcopt.methods import METHODS
from dcopt.regularizers import REGULARIZERS


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"dcopt {dcopt.__version__}"
    text = run("--help").stdout
    assert all(command in text for command in ("reproduce", "plan", "datasets"))
    alone = run()
    assert alone.stdout.split() == text.split() and alone.returncode == 0 and "Start here" in text


@pytest.mark.parametrize("name", ["reproduce", "plan", "datasets", "fit", "resume", "predict", "inspect"])
def test_every_command_teaches_by_example(name: str, here: Here) -> None:
    code, text, _ = here.run(name, "--help")
    assert code == 0
    assert "Examples:" in text and text.count(f" dcopt {name}") >= 3


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("reproduce", "--help"), ("fit", "--help")])
def test_nothing_heavy_for_a_word(words: tuple[str, ...]) -> None:
    heavy = ("numba", "sklearn", "scipy", "matplotlib", "urllib.request")
    code = f"import sys, atexit; atexit.register(lambda: print([m for m in {heavy!r} if m in sys.modules]))\n"
    assert run(*words, code=code + "from dcopt.cli import main; main()").stdout.splitlines()[-1] == "[]"


def test_plan_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCOPT_CACHE", "")
    file = tmp_path / "two.svm"
    file.write_text("".join(f"{(-1) ** i} 1:{1 + i % 3} 2:{i % 5}\n" for i in range(40)), encoding="utf-8")
    words = ("plan", str(file), "--penalty", "scad", "--set", "lam=0.01", "--eps", "0.1", "--compare")
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert "N = 40" in done.stdout and "Every condition holds" in done.stdout and "cheapest:" in done.stdout
    numbers = json.loads(run(*words, "--json").stdout)
    X, y = dcopt.load_libsvm(file)
    P = dcopt.erm(X, y, "squared-sigmoid", dcopt.regularizers.SCAD(lam=0.01))
    plan = dcopt.plan(P, eps=0.1)
    assert (numbers["T"], numbers["b"], numbers["kappa"]) == (plan.T, 40, plan.kappa)
    assert numbers["gradients"] == plan.gradients and numbers["violated"] == []
    assert [c["name"] for c in numbers["conditions"]] == [c.name for c in plan.conditions]
    assert numbers["compare"]["cheapest"] == plan.compare().cheapest.method


def test_plan_reads_tables_too(tmp_path: Path, here: Here) -> None:
    """The same numbers from CSV as from LIBSVM text, with rows of length 1 as well."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)).round(3), rng.integers(0, 2, 60)
    lines = [",".join(map(str, [*x, label])) for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "t.csv").write_text("a,b,c,label\n" + "\n".join(lines) + "\n")
    dcopt.save_libsvm(tmp_path / "t.svm", X, y)
    said: list[tuple[str, int]] = []
    for more in ((), ("--normalize",)):
        for name, target in (("t.csv", ("--target", "label")), ("t.svm", ())):
            code, out, err = here.run("plan", str(tmp_path / name), "--eps", "0.1", "--json", *target, *more)
            assert code == 0, err
            numbers = json.loads(out)
            said.append((f"{numbers['kappa']:.10e}", numbers["T"]))
    assert said[0] == said[1] != said[2] == said[3]
    code, _, err = here.run("plan", str(tmp_path / "t.svm"), "--eps", "0.1", "--drop", "a")
    assert code == 1 and "no --drop: the columns of LIBSVM text have no names" in err
    words = ("plan", str(tmp_path / "t.csv"), "--eps", "0.1")
    code, _, err = here.run(*words, "--target", "lable")
    assert code == 1 and "did you mean 'label'?" in err
    (tmp_path / "t.csv").write_text("a,word,label\n" + "".join(f"{i},w{i},{'yn'[i % 2]}\n" for i in range(8)))
    code, _, err = here.run(*words, "--target", "label")
    assert code == 1 and "word: 8 different words in 8 cells identify rows" in err and "--drop word leaves" in err
    code, out, err = here.run(*words, "--target", "label", "--drop", "word")
    assert code == 0 and "N = 8" in out, err


def test_plan_with_another_decomposition() -> None:
    words = ("plan", "breast_cancer", "--normalize", "--eps", "0.1", "--decomposition", "diagonal")
    numbers = json.loads(run(*words, "--json").stdout)
    X, y = dcopt.load_dataset("breast_cancer", normalize=True)
    plan = dcopt.plan(dcopt.erm(X, y, decomposition="diagonal"), eps=0.1)
    assert (numbers["T"], numbers["tau"], numbers["kappa"]) == (plan.T, plan.tau, None)
    assert f"τ = {plan.tau:.5g}" in " ".join(run(*words).stdout.split())


def test_reproduce_shows_the_claims_and_the_report(tmp_path: Path) -> None:
    done = run("reproduce", "gap", "binary", "--out", str(tmp_path), "--jobs", "3", code=FAKE)
    assert done.returncode == 0, done.stderr
    rows = [re.split(" {2,}", line) for line in done.stdout.splitlines()]
    assert rows[1][0] == "fewer gradients [than DCA] (Table I)" and rows[1][-1] == "supported"
    assert rows[2][-1] == "not supported" and "2 claims; jobs 3" in done.stdout
    assert done.stdout.splitlines()[-1] == f"report: {tmp_path / 'report.html'}"
    assert "breast_cancer is used instead" in done.stderr
    assert [line.split(":")[0] for line in done.stderr.splitlines()[1:]] == ["binary", "binary", "gap", "gap"]


def test_reproduce_as_json(tmp_path: Path) -> None:
    done = run("--json", "reproduce", "--out", str(tmp_path), "--quick", code=FAKE)
    said = json.loads(done.stdout)
    assert said["experiments"] == list(EXPERIMENTS[:-1]) and done.stderr == ""
    assert said["claims"][0]["verdict"] == "supported" and said["claims"][0]["value"] is None  # NaN is no JSON
    assert said["report"] == said["files"][0] == str(tmp_path / "report.html")


def test_quiet_is_quiet(tmp_path: Path) -> None:
    done = run("-q", "reproduce", "--out", str(tmp_path), code=FAKE)
    assert done.stderr == "" and "fewer gradients" in done.stdout


@pytest.mark.parametrize(
    "words", [("--version",), ("datasets",), ("datasets", "digits"), ("plan", "breast_cancer", "--eps", "1")]
)
def test_json_is_one_object_and_nothing_else(words: tuple[str, ...], here: Here) -> None:
    code, out, err = here.run(*words, "--json")
    assert code == 0 and isinstance(json.loads(out), dict) and err == ""


def test_json_of_an_error_is_an_error(here: Here) -> None:
    code, out, err = here.run("plan", "wine", "--eps", "1", "--json")  # three classes, and a loss for two
    assert code == 1 and out == "" and err.count("\n") == 1


def test_datasets_say_where_they_are(tmp_path: Path, here: Here) -> None:
    (tmp_path / "a9a").write_text("+1 3:1 7:0.5\n-1 1:1\n", encoding="utf-8")
    places = {"DCOPT_DATA": str(tmp_path), "DCOPT_CACHE": str(tmp_path / "cache")}
    _, out, _ = here.run("datasets", **places)
    lines = {line.split()[0]: re.split(" {2,}", line)[1:] for line in out.splitlines()}
    assert list(lines) == ["name", *DATASETS]
    assert lines["a9a"] == ["32561", "123", "2", "2.3 MB", "DCOPT_DATA", "Adult: UCI, CC BY 4.0"]
    assert "can be downloaded" in lines["w8a"] and "not available" in lines["cadata"]
    assert lines["digits"][:5] == ["1797", "64", "10", "–", "scikit-learn"]
    said = {one["name"]: one for one in json.loads(here.run("datasets", "--json", **places)[1])["datasets"]}
    assert said["a9a"]["where"] == "DCOPT_DATA" and said["cadata"]["where"] is None and said["a9a"]["rows"] == 32561


@pytest.mark.parametrize("name", BUNDLED)
def test_the_sizes_of_bundled_sets_are_theirs(name: str) -> None:
    X, y = dcopt.load_dataset(name)
    one = look(name)
    assert (one.rows, one.features) == X.shape and one.classes == (0 if one.task == "regression" else len(set(y)))


def test_fetch_says_what_it_does(tmp_path: Path, here: Here) -> None:
    code, out, err = here.run("datasets", "digits", "--fetch")
    assert code == 0 and "1797" in out and err == "digits is here already: scikit-learn\n"
    code, out, err = here.run("datasets", "a9a", "--fetch", DCOPT_CACHE=str(tmp_path))
    first, second = err.splitlines()
    assert code == 1 and out == "" and first == "a9a: 2.3 MB from http://127.0.0.1:9/binary/a9a"
    assert second.startswith("dcopt: the data set a9a is not here and cannot be fetched")
    code, _, err = here.run("datasets", "a9a", "--fetch", DCOPT_CACHE="")
    assert code == 1 and "disables the cache" in err


def test_the_experiments_are_those_that_can_be_run() -> None:
    assert EXPERIMENTS == (*reproduce.EXPERIMENTS, "all")


def test_options_of_the_program_may_follow_the_command() -> None:
    assert in_front(["a", "--json", "b", "-q"]) == ["--json", "-q", "a", "b"]
    assert in_front(["a", "--", "--json"]) == ["a", "--", "--json"]


def test_any_terminal_can_show_it() -> None:
    done = run("plan", "breast_cancer", "--normalize", "--eps", "0.1", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0 and "? = " in done.stdout  # κ


@pytest.mark.parametrize("name", ["fit", "plan", "resume", "predict", "inspect", "reproduce", "datasets"])
def test_every_option_is_explained_in_a_phrase_with_a_subject(name: str) -> None:
    """No fragments such as "Of all draws." or "The same data."; registered names are listed."""
    command = typer.main.get_command(app).commands[name]
    said = {p.name: getattr(p, "help", None) for p in command.params}
    for option, text in said.items():
        assert text and text[0].isupper() and not text.startswith(("Of ", "That ", "For ", "One ")), (option, text)
        assert text.endswith((".", ".html.")) and len(text.split()) >= 3, (option, text)
    for option, known in (("loss", LOSSES), ("penalty", REGULARIZERS), ("solver", METHODS)):
        assert all(one in said.get(option, ", ".join(known)) for one in known)
