"""What the tutorials show is what comes out: their code and commands, one after the other, in an empty folder."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```", re.S | re.M)
DIGITS = re.compile(r"criticality \S+")  # near 0 the digits are those of rounding


def ran(line: str) -> str:
    """What a command line `dcopt …` prints on both streams; progress, which names seconds, is left out."""
    words = shlex.split(line, comments=True)
    assert words[0] == "dcopt", line
    run = subprocess.run(
        [sys.executable, "-m", "dcopt.cli", *words[1:]], capture_output=True, text=True, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    return run.stdout + ("" if words[1] == "fit" else run.stderr)


def played(page: str) -> list[tuple[str, str]]:
    """(what the page shows, what came out) for every block of text."""
    names: dict[str, Any] = {"__name__": "__main__"}
    pairs, out = [], ""
    for kind, body in BLOCK.findall(page):
        if kind == "text":
            pairs.append((body, out))
        elif kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(body, "page", "exec"), names)
            out = printed.getvalue()
        else:
            for command in re.split(r"^\$ ", body, flags=re.M)[1:]:
                line, _, shown = command.partition("\n")
                out = ran(line)
                if shown.strip():
                    pairs.append((shown, out))
    return pairs


def words(text: str) -> list[str]:
    return DIGITS.sub("", text).split()


@pytest.mark.parametrize("name", ["index.md", "tutorial-fit.md", "tutorial-research.md", "choose.md"])
def test_a_tutorial_shows_what_comes_out(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH")])))
    for shown, said in played((ROOT / "docs" / name).read_text(encoding="utf-8")):
        assert words(shown) == words(said), said


def test_a_page_that_is_wrong_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert played(page) == [("3\n", "2\n")]
