"""`dcopt reproduce` with the real experiments, made small: interrupted, continued, finished, not overwritten."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli.shell import command, environ, run

from dcopt.report.panels import MEANING

RECIPE = """
title = "Small"
data = ["breast_cancer"]
loss = "squared-sigmoid"
penalty = { name = "exponential", lam = "1/N", alpha = 5.0 }
shown = ["dca-page", "dca-svrg"]
methods = ["dca-page", "dca-svrg", "dca-saga", "sdca", "mm-saga-sqrt"]
passes = 4.0
every = 1.0
runs = 3
test = 0.1
reference = 8.0
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupted_and_continued(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "mine.toml").write_text(RECIPE, encoding="utf-8")
    words = ("reproduce", "binary", "--recipe", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out"))
    words += "--jobs", jobs
    traces = tmp_path / "out" / "traces" / "binary.jsonl"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command(*words), stdout=pipe, stderr=pipe, text=True, env=environ(), start_new_session=True
    ) as p:
        while not traces.exists() or traces.read_bytes().count(b"\n") < 3:  # the recipe, and two runs
            assert p.poll() is None, "ended before it was interrupted"
            time.sleep(0.005)
        os.killpg(p.pid, signal.SIGINT)  # as a terminal does
        out, err = p.communicate(timeout=60)
    kept = traces.read_bytes().count(b"\n") - 1
    assert p.returncode == 130 and out == "" and "Traceback" not in err and err.endswith("dcopt: interrupted\n")
    assert 2 <= kept < 18 and not (tmp_path / "out" / "report.html").exists()

    again = run(*words)
    assert again.returncode == 0 and f"Small: 18 runs, {kept} of them kept from before" in again.stderr, again.stderr
    assert again.stdout.splitlines()[-1] == f"report: {tmp_path / 'out' / 'report.html'}"
    keys = [json.loads(line).get("key") for line in traces.read_text(encoding="utf-8").splitlines()[1:]]
    assert len(keys) == len(set(keys)) == 18

    page = (tmp_path / "out" / "report.html").read_bytes()
    refused = run(*words)
    assert refused.returncode == 1 and "--force" in refused.stderr and refused.stderr.count("\n") == 1
    assert (tmp_path / "out" / "report.html").read_bytes() == page

    said = run(*words, "--force", "--json")
    assert said.returncode == 0 and said.stderr == ""
    data = json.loads(said.stdout)
    assert data["experiments"] == ["binary"] and all(Path(file).exists() for file in data["files"])
    assert {claim["verdict"] for claim in data["claims"]} <= set(MEANING)
