"""The program in a real process; `FAKE` has a campaign in the place of the experiments, slow and broken as told."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from dcopt.cli import main

MAIN = "from dcopt.cli import main; main()"
FAKE = """
import os, sys, time, types
from pathlib import Path
from dcopt.errors import BadSettings
from dcopt.report.panels import Claim

def reproduce(names, out, *, quick, jobs, force, recipe, watch):
    report = out / "report.html"
    if report.exists() and not force:
        raise BadSettings("out", str(report), "a folder without it; --force starts over")
    if os.environ.get("FAKE_ERROR"):
        watch.begin("broken", 2, 0)
        raise eval(os.environ["FAKE_ERROR"])
    watch.note("a9a cannot be had: breast_cancer is used instead")
    for name in names:
        watch.begin(name, 4, 1)
        for k in range(3):
            time.sleep(float(os.environ.get("FAKE_SECONDS", 0)))
            watch.advance(f"a9a dca-page {k}  F 0.1{k}")
        watch.end()
    out.mkdir(parents=True, exist_ok=True)
    report.write_text("report", encoding="utf-8")
    claims = (Claim("c1", "Table I", "fewer gradients [than DCA]", "a9a", "0.51", "supported"),
              Claim("c2", "Figure 1", "is faster", "w8a", "1.2", "not supported"))
    return types.SimpleNamespace(report=report, files=(report,), claims=claims, summary=f"2 claims; jobs {jobs}")

module = types.ModuleType("dcopt.experiments.reproduce")
module.reproduce = reproduce
sys.modules[module.__name__] = module
from dcopt.cli import main
main()
"""
_NOT_OURS = {"DCOPT_DATA", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERM"}
_ALONE = {"DCOPT_CACHE": "", "DCOPT_MIRROR": "http://127.0.0.1:9"}  # nothing is kept, and nobody answers there


def environ(**changes: str) -> dict[str, str]:
    """The same on every machine: no data but scikit-learn's, nothing that turns colours on or off."""
    return {k: v for k, v in os.environ.items() if k not in _NOT_OURS} | _ALONE | changes


def command(*words: str, code: str = MAIN) -> list[str]:
    """As a terminal would start it: tests that run in the background of a shell pass on that SIGINT is ignored."""
    hears = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return [sys.executable, "-c", hears + code, *words]


def run(*words: str, code: str = MAIN, **environment: str) -> subprocess.CompletedProcess[str]:
    where = environ(**environment)
    return subprocess.run(command(*words, code=code), capture_output=True, text=True, env=where, timeout=120)


class Here(NamedTuple):
    """The program in this process: a fifth of a second less, for the many small cases."""

    patch: pytest.MonkeyPatch
    captured: pytest.CaptureFixture[str]

    def run(self, *words: str, **environment: str) -> tuple[int, str, str]:
        for name in _NOT_OURS:
            self.patch.delenv(name, raising=False)
        for name, value in (_ALONE | environment).items():
            self.patch.setenv(name, value)
        self.patch.setattr(sys, "argv", ["dcopt", *words])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self.captured.readouterr()
        assert isinstance(end.value.code, int)
        return end.value.code, out, err
