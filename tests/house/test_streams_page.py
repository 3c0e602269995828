"""The page on streams and its example say what happens."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np

from dcopt import Status

ROOT = Path(__file__).parents[2]


def test_the_page_prints_what_it_says() -> None:
    text = (ROOT / "docs/streams.md").read_text(encoding="utf-8")
    code, said = ("".join(re.findall(rf"```{kind}\n(.*?)```", text, re.S)) for kind in ("python", "text"))
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == said.split()


def test_the_example_finds_the_features_and_the_end() -> None:
    module = runpy.run_path(str(ROOT / "examples/streaming.py"))
    for method in ("dca-page", "online-dca"):
        result = module["fit"](method)
        assert result.status is Status.BUDGET and result.certificate.at == "4096"
        assert np.flatnonzero(result.x).tolist() == [0, 1, 2]
        assert result.certificate.value < result.trace["measure"][0] / 3
    assert module["fit"]("dca-page", samples=50_000).status is Status.OUT_OF_DATA
