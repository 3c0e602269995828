"""What a terminal shows and what a pipe gets: bars, colours, widths, completions."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from cli.shell import FAKE, command, environ, run
from rich.console import Console

from dcopt.cli import progress
from dcopt.cli.progress import Lines, Pace, clock

ESCAPE = "\x1b"


def on_a_terminal(*words: str, code: str = FAKE, columns: int = 100, **environment: str) -> tuple[int, str]:
    """Run with stdout and stderr on a pseudo-terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    where = environ(**({"TERM": "xterm-256color"} | environment))
    with subprocess.Popen(command(*words, code=code), stdout=theirs, stderr=theirs, stdin=theirs, env=where) as program:
        os.close(theirs)
        read = bytearray()
        try:
            while block := os.read(ours, 65536):
                read += block
        except OSError:  # Linux: the other end is closed
            pass
        os.close(ours)
    return program.returncode, read.decode()


def test_a_terminal_shows_a_bar(tmp_path: Path) -> None:
    code, text = on_a_terminal("reproduce", "binary", "--out", str(tmp_path), FAKE_SECONDS="0.3")
    assert code == 0 and "━" in text and ESCAPE in text
    assert "25%" in text and "100%" in text and "4/4" in text and "F 0.12" in text and "left" in text
    assert text.count(f"{ESCAPE}[?25l") == text.count(f"{ESCAPE}[?25h") > 0  # the cursor is given back


def test_an_interrupted_bar_leaves_the_cursor(tmp_path: Path) -> None:
    code, text = on_a_terminal("reproduce", "--out", str(tmp_path), FAKE_ERROR="KeyboardInterrupt()")
    assert code == 130 and "Traceback" not in text and text.endswith("dcopt: interrupted\r\n")
    assert text.rfind(f"{ESCAPE}[?25h") > text.rfind(f"{ESCAPE}[?25l") >= 0


@pytest.mark.parametrize("words", [("-q",), ("--json",)])
def test_no_bar_when_asked_for_none(words: tuple[str, ...], tmp_path: Path) -> None:
    _, text = on_a_terminal("reproduce", *words, "--out", str(tmp_path))
    assert "━" not in text.split("claim")[0] and f"{ESCAPE}[?25l" not in text and "used instead" not in text


def test_colours_can_be_switched_off(tmp_path: Path) -> None:
    green = re.compile(r"\x1b\[[0-9;]*32m")
    assert green.search(on_a_terminal("reproduce", "--out", str(tmp_path / "a"))[1])
    assert not green.search(on_a_terminal("reproduce", "--out", str(tmp_path / "b"), NO_COLOR="1")[1])
    _, dumb = on_a_terminal("reproduce", "--out", str(tmp_path / "c"), TERM="dumb")
    assert ESCAPE not in dumb and "supported" in dumb


@pytest.mark.parametrize("columns", [40, 72, 160])
def test_tables_are_as_wide_as_the_terminal(columns: int, tmp_path: Path) -> None:
    for words in (("reproduce", "--out", str(tmp_path / "x"), "-q"), ("datasets",)):
        text = on_a_terminal(*words, columns=columns, NO_COLOR="1")[1]
        table = [line for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).splitlines() if "report" not in line]
        assert max(map(len, table)) <= columns


@pytest.mark.parametrize("words", [("datasets",), ("--help",), ("plan", "breast_cancer", "--eps", "1"), ("reproduce",)])
def test_a_pipe_gets_no_control_codes(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*words, *(("--out", str(tmp_path)) if words == ("reproduce",) else ()), code=FAKE, TERM="xterm-256color")
    assert done.returncode == 0 and ESCAPE not in done.stdout + done.stderr and "\r" not in done.stdout + done.stderr


def test_in_a_file_a_line_at_most_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    file = io.StringIO()
    watch = Lines(Console(file=file, width=200))
    watch.begin("binary", 101, 1)
    for k in range(100):
        now += 1.0
        watch.advance(f"run {k}")
    watch.end()
    lines = file.getvalue().splitlines()
    assert lines[0] == "binary: 101 runs, 1 of them kept from before"
    assert lines[1] == "binary: 11/101 (11%), 0:10, 1:30 left; run 9"
    assert len(lines) == 1 + 9 + 1 and lines[-1] == "binary: 101/101 in 1:40"


def test_runs_kept_from_before_do_not_make_the_estimate_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    pace = Pace(total=20, done=10)
    assert pace.left is None
    now = 6.0
    pace.advance()
    assert pace.left == 54.0
    now = 10.0
    assert pace.left == 50.0 and pace.elapsed == 10.0
    now = 1000.0
    assert pace.left == 0.0
    assert (clock(0), clock(59.6), clock(3723)) == ("0:00", "1:00", "1:02:03")


# ---- completion


def script(shell: str) -> str:
    done = run("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `dcopt` in it, and with the script that completes it."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "dcopt").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dcopt.cli "$@"\n', encoding="utf-8")
    (folder / "dcopt").chmod(0o755)
    (folder / "complete.sh").write_text(script("bash"), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["da"], {"datasets"}),
        (["datasets", "a9"], {"a9a", "a9a.t"}),
        (["plan", "breast_c"], {"breast_cancer"}),
        (["plan", "digits", "--loss", "so"], {"softmax"}),
        (["plan", "digits", "--penalty", "sc"], {"scad"}),
        (["plan", "digits", "--penalty", "scad", "--set", "la"], {"lam="}),
        (["plan", "digits", "--mode", "p"], {"paper", "practical"}),
        (["reproduce", "--json", "b"], {"binary"}),
        (["reproduce", "--qu"], {"--quick"}),
    ],
)
def test_bash_completes(typed: list[str], offered: set[str], folder: Path) -> None:
    ask = (
        f"source '{folder}/complete.sh'; COMP_WORDS=(dcopt {' '.join(typed)}); COMP_CWORD={len(typed)};"
        '_dcopt_completion dcopt; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    where = environ(PATH=f"{folder}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, env=where, timeout=60)
    assert set(done.stdout.split()) == offered and done.stderr == ""


def test_zsh_completes() -> None:
    assert "compdef _dcopt_completion dcopt" in script("zsh")
    done = run(_DCOPT_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="dcopt datasets a9")
    assert done.stdout.strip() == '_arguments \'*: :(("a9a"\n"a9a.t"))\'' and done.stderr == ""


@pytest.mark.parametrize(("shell", "file"), [("bash", ".bashrc"), ("zsh", ".zshrc")])
def test_completion_installs_itself(shell: str, file: str, tmp_path: Path) -> None:
    where = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", "HOME": str(tmp_path)}
    assert run("--install-completion", shell, **where).returncode == 0
    assert (tmp_path / file).exists()
