"""Makes the tables of rooms and walls in docs/architecture.md from pyproject.toml: `make rooms`, or with --check."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCUMENT, SETTINGS = HERE / "architecture.md", HERE.parent / "pyproject.toml"
BEGIN, END = "<!-- made by docs/rooms.py: {} -->", "<!-- end: {} -->"


def settings() -> dict[str, Any]:
    return tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["tool"]


def layers(tool: dict[str, Any]) -> list[str]:
    """The layers of the package, the highest first, without the brackets of import-linter."""
    contract = next(c for c in tool["importlinter"]["contracts"] if c["id"] == "layers")
    return [re.sub(r"[()]", "", layer) for layer in contract["layers"]]


def rooms(tool: dict[str, Any]) -> str:
    lines = tool["dcopt"]["rooms"]
    order = [name for layer in layers(tool) for name in re.findall(r"\w+", layer)]
    package = HERE.parent / "src" / "dcopt"
    named = [f"`{name}/`" if (package / name).is_dir() else f"`{name}`" for name in order]
    return "\n".join(["| room | what it is for |", "|---|---|"] + [
        f"| {name} | {lines[key]} |" for name, key in zip(named, order, strict=True)
    ])  # fmt: skip


def walls(tool: dict[str, Any]) -> str:
    drawn = "\n".join(f"    {layer.replace(' : ', '  ').replace(' | ', ' | ')}" for layer in layers(tool))
    why = tool["dcopt"]["walls"]
    table = ["| wall | why |", "|---|---|"] + [
        f"| {c['name'].replace('|', chr(92) + '|')} | {why[c['id']]} |" for c in tool["importlinter"]["contracts"]
    ]  # fmt: skip
    return f"{drawn}\n\n" + "\n".join(table)


def filled(text: str) -> str:
    """The document with both parts as the settings have them."""
    tool = settings()
    for name, part in (("rooms", rooms(tool)), ("walls", walls(tool))):
        begin, end = BEGIN.format(name), END.format(name)
        head, rest = text.split(begin)
        text = f"{head}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    before = DOCUMENT.read_text(encoding="utf-8")
    after = filled(before)
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if after == before else "docs/architecture.md differs from pyproject.toml: run `make rooms`")
    DOCUMENT.write_text(after, encoding="utf-8")
