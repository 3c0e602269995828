"""Versions agree wherever they are written, and every extra has a check."""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import dcopt

ROOT = Path(__file__).parents[2]


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    try:
        return runpy.run_path(str(ROOT / "packaging" / f"{name}.py"))
    finally:
        sys.modules.pop("bare", None)


def pinned(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w-]+)==([\d.]+)$", text, re.M))


def test_one_version_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    found = script("check_version", monkeypatch)["versions"]()
    assert set(found.values()) == {dcopt.__version__}


def test_the_least_versions_are_those_of_the_project() -> None:
    """Every requirement `name>=version` of the package, and of the extras that are tested with least versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    least = pinned((ROOT / "constraints-min.txt").read_text(encoding="utf-8"))
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["plot"], *extras["arrow"], *extras["cvxpy"]]
    assert len(least) == len(asked)
    for requirement in asked:
        name, version = requirement.split(">=")
        assert (least[name] + ".0.0").startswith(version + "."), requirement


def test_every_extra_has_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("check_extras", monkeypatch)
    assert set(module["NEEDS"]) == set(module["extras"]())
    for code in module["NEEDS"].values():
        compile(code, "check", "exec")


@pytest.mark.parametrize("name", ["tests.yml", "release.yml"])
def test_workflows_call_what_is_there(name: str) -> None:
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"\bmake ([a-z-]+)", text)) <= targets
    for path in re.findall(r"\b(packaging/\w+\.py|\.ci/run)\b", text):
        assert (ROOT / path).exists()
