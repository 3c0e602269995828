"""The tables of rooms and walls in docs/architecture.md are those of pyproject.toml, and leave nothing out."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import dcopt

ROOT = Path(__file__).resolve().parents[2]
MADE = runpy.run_path(str(ROOT / "docs" / "rooms.py"))
TOOL: dict[str, Any] = MADE["settings"]()


def test_the_document_has_the_tables_of_the_settings() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert MADE["filled"](text) == text, "run `make rooms`"


def test_a_changed_wall_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert MADE["filled"](text.replace("| `xp` |", "| `yp` |")) == text


def test_every_room_has_a_layer_and_a_line_and_every_wall_a_reason() -> None:
    package = Path(dcopt.__file__).parent
    found = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    rooms = found - {"__init__"}
    assert rooms == set(re.findall(r"\w+", " ".join(MADE["layers"](TOOL)))) == set(TOOL["dcopt"]["rooms"])
    assert {c["id"] for c in TOOL["importlinter"]["contracts"]} == set(TOOL["dcopt"]["walls"])
    folders = [path for path in package.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    without = [path for path in folders if any(path.glob("*.py")) and not (path / "__init__.py").exists()]
    assert not without, "import-linter does not see folders without __init__.py"
