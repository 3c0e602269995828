"""What the documents show is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dcopt

ROOT = Path(__file__).parents[2]


def blocks(name: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.S)


def test_the_readme_example_prints_what_it_says() -> None:
    code, said = blocks("README.md", "python")[0], blocks("README.md", "text")[0]
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == said.split()


def test_the_readme_lists_every_method() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", text, re.M)) >= set(dcopt.METHODS)


@pytest.mark.parametrize("name", ["LogCosh", "Arctan", "Storm"])
def test_the_components_of_contributing_keep_the_laws(name: str, tmp_path: Path, monkeypatch) -> None:
    """The worked examples, as files of their own, under the laws of their kind."""
    code = next(block for block in blocks("CONTRIBUTING.md", "python") if f"class {name}" in block)
    (tmp_path / f"example_{name.lower()}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__(f"example_{name.lower()}")
    component = {"LogCosh": {}, "Arctan": {"lam": 0.3, "theta": 0.5}, "Storm": {"a": 0.3, "b": 2}}[name]
    assert len(dcopt.check(getattr(module, name)(**component))) >= 5
