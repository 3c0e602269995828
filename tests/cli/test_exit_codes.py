"""How the program ends: exit codes, one line on stderr, signals, pipes."""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.shell import FAKE, Here, command, environ, run

import dcopt
from dcopt.cli.exit_codes import NotConverged, ended
from dcopt.cli.terminal import Terminal

BAD = {
    "no such command": (("datasts",), "Did you mean 'datasets'?"),
    "no such option": (("reproduce", "--quik"), "Did you mean '--quick'?"),
    "nor such option of the program": (("--jsn", "datasets"), "--json"),
    "missing argument": (("plan",), "(see dcopt plan --help)"),
    "missing option": (("plan", "digits"), "--eps"),
    "missing value": (("reproduce", "--jobs"), "--jobs"),
    "not a number": (("plan", "digits", "--eps", "x"), "--eps"),
    "too many": (("datasets", "a9a", "w8a"), "w8a"),
    "no such experiment": (("reproduce", "binry"), "did you mean 'binary'?"),
    "no such data set": (("datasets", "digit"), "did you mean 'digits'?"),
    "no such file": (("plan", "nowhere.svm", "--eps", "1"), "does not exist"),
    "nothing to fetch": (("datasets", "--fetch"), "the name of a data set"),
    "cannot be fetched": (("datasets", "colon-cancer", "--fetch"), "colon-cancer"),
    "a recipe for five": (("reproduce", "--recipe", "mine.toml"), "one experiment"),
    "no such recipe": (("reproduce", "binary", "--recipe", "nowhere.toml", "--out", os.devnull + "/x"), "dev/null"),
    "no such loss": (("plan", "digits", "--eps", "1", "--loss", "sofmax"), "did you mean 'softmax'?"),
    "no such mode": (("plan", "breast_cancer", "--eps", "1", "--mode", "papr"), "did you mean 'paper'?"),
    "no such penalty": (("plan", "breast_cancer", "--eps", "1", "--penalty", "scat"), "did you mean 'scad'?"),
    "no such setting": (("plan", "wine", "--eps", "1", "--penalty", "scad", "--set", "lamb=1"), "did you mean 'lam'?"),
    "no groups": (("plan", "wine", "--eps", "1", "--penalty", "l1", "--set", "mu=1"), "mu"),
    "no number": (("plan", "wine", "--eps", "1", "--penalty", "scad", "--set", "lam=x"), "a number"),
    "out of range": (("plan", "digits", "--eps", "-1", "--loss", "softmax"), "eps"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_words_are_one_line_and_exit_code_one(case: str, here: Here) -> None:
    words, says = BAD[case]
    code, out, err = here.run(*words)
    assert code == 1 and says in err and out == "", err
    assert err.startswith("dcopt: ") and err.count("\n") == 1


def test_bad_words_in_a_process() -> None:
    done = run("reproduce", "--quik")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "dcopt: No such option: --quik. Did you mean '--quick'? (see dcopt reproduce --help)\n"


def test_a_bad_file_is_one_line(here: Here, tmp_path: Path) -> None:
    (tmp_path / "bad.svm").write_text("1 1:x\n", encoding="utf-8")
    code, out, err = here.run("plan", str(tmp_path / "bad.svm"), "--eps", "1")
    assert code == 1 and "bad.svm" in err and err.count("\n") == 1 and out == ""


def test_results_are_not_overwritten_without_force(tmp_path: Path) -> None:
    words = ("reproduce", "--out", str(tmp_path))
    assert run(*words, code=FAKE).returncode == 0
    (tmp_path / "report.html").write_text("mine", encoding="utf-8")
    again = run(*words, code=FAKE)
    assert again.returncode == 1 and "--force" in again.stderr and again.stderr.count("\n") == 1
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "mine"
    assert run(*words, "--force", code=FAKE).returncode == 0
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "report"


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        ("BadSettings('x', 1, 'two')", 1, "x = 1: expected two"),
        ("PermissionError(13, 'Permission denied', 'results')", 1, "Permission denied: 'results'"),
        ("KeyError('a\\nb')", 70, "a bug in dcopt: --debug shows where"),
        ("MemoryError()", 1, "not enough memory"),
        ("SystemExit(143)", 143, ""),
        ("KeyboardInterrupt()", 130, "interrupted"),
    ],
)
def test_errors_are_one_line_and_a_traceback_with_debug(error: str, code: int, says: str, tmp_path: Path) -> None:
    words = ("reproduce", "--out", str(tmp_path / "new"))
    done = run("-q", *words, code=FAKE, FAKE_ERROR=error)
    assert done.returncode == code and says in done.stderr and done.stdout == ""
    assert done.stderr.count("\n") == bool(says), done.stderr
    shown = run(*words, "--debug", code=FAKE, FAKE_ERROR=error)
    assert shown.returncode == code and ("Traceback" in shown.stderr) == (code in (1, 70))


def test_not_converged_is_two(capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        raise NotConverged("gap 1e-3 > tol 1e-6 after 100 passes")

    assert ended(program, Terminal()) == 2
    assert capsys.readouterr().err == "dcopt: not converged: gap 1e-3 > tol 1e-6 after 100 passes\n"


@pytest.mark.parametrize("words", [("datasets",), ("--json", "datasets"), ("--help",), ("plan", "--help")])
def test_nobody_reads(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command(*words), stdout=writer, stderr=subprocess.PIPE, env=environ())
    finally:
        os.close(writer)
    assert done.stderr == b"" and done.returncode == 141


def test_no_place_left_is_one_line() -> None:
    full = Path("/dev/full")
    if not full.exists():
        return
    with full.open("w") as out:
        done = subprocess.run(command("datasets"), stdout=out, stderr=subprocess.PIPE, env=environ(), text=True)
    assert done.returncode == 1 and "No space left" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_in_order(number: signal.Signals, code: int, tmp_path: Path) -> None:
    words = command("reproduce", "--out", str(tmp_path), code=FAKE)
    where = environ(FAKE_SECONDS="30")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=where) as program:
        assert program.stderr is not None and program.stdout is not None
        while "binary: 4 runs" not in (line := program.stderr.readline()):
            assert line, "ended before it began"
        time.sleep(0.1)
        program.send_signal(number)
        rest = program.stderr.read()
        assert program.stdout.read() == ""
    assert program.returncode == code and "Traceback" not in rest
    assert rest.splitlines()[1:] == (["dcopt: interrupted"] if code == 130 else []), rest


def test_the_module_is_a_program_too() -> None:
    words = [sys.executable, "-m", "dcopt.cli", "--version"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == run("--version").stdout


def test_a_signal_that_a_callback_of_compiled_code_loses_ends_the_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that a handler raises in such a callback is printed and dropped."""
    dropped: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", dropped.append)
    X, y = dcopt.load_dataset("breast_cancer")
    results = []

    def program() -> None:
        ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))()
        results.append(dcopt.solve(dcopt.erm(X, y, "logistic", "scad"), "dca", passes=100, tol=0.0))
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGTERM)
    assert ended(program, Terminal()) == 143 and len(dropped) == 1
    assert results[0].status is dcopt.Status.INTERRUPTED and results[0].steps == 1
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_second_signal_does_not_wait_for_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = dcopt.load_dataset("breast_cancer")
    seen = []

    def kill(state: dcopt.State) -> None:
        seen.append(state.t)
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            seen.append("after")

    def program() -> None:
        dcopt.solve(dcopt.erm(X, y, "logistic", "scad"), "dca", passes=100, tol=0.0, callbacks=[kill])

    assert ended(program, Terminal()) == 130 and seen == [1, "after"]


def test_a_closed_stdout_is_none_to_write_to(tmp_path: Path) -> None:
    words = " ".join(map(shlex.quote, command("fit", "wine", "--lam", "0.1", "--out", str(tmp_path / "m.dcm"))))
    done = subprocess.run(["sh", "-c", f"{words} >&-"], stderr=subprocess.PIPE, text=True, env=environ())
    assert done.returncode == 0 and "Traceback" not in done.stderr and (tmp_path / "m.dcm").exists(), done.stderr


@pytest.mark.parametrize("columns", ["0", "-5", "x", ""])
def test_a_width_that_is_none_is_passed_over(columns: str) -> None:
    assert "breast_cancer" in run("datasets", COLUMNS=columns).stdout
