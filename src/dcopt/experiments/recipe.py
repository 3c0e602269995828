"""Recipes: experiments as TOML. A misspelt key or name is refused with the nearest one that exists."""

from __future__ import annotations

import json
import tomllib
from dataclasses import MISSING, fields, is_dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from ..errors import BadInput, BadSettings, pick

T = TypeVar("T")
KINDS = ("binary", "multiclass", "gap", "online", "scaling")  # in the order of the report


def read(name: str, quick: bool = False, path: Path | None = None) -> dict[str, Any]:
    """The table of a recipe that ships with dcopt, or of the user's file, [quick] put over it if asked."""
    place = path or files(__package__) / "recipes" / f"{name}.toml"
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise BadInput(str(path or name), f"cannot be read ({why})") from None
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise BadInput(str(path or name), f"is not TOML ({why})") from None
    small = table.pop("quick", {})
    return table | small if quick else table


def build(kind: type[T], table: dict[str, Any], where: str) -> T:
    """A frozen dataclass from a table: unknown and missing keys are named, lists become tuples."""
    assert is_dataclass(kind)
    known = {f.name: f for f in fields(kind)}
    for key in table:
        pick(f"{where}: key", key, known)
    for f in known.values():
        if f.default is MISSING and f.default_factory is MISSING and f.name not in table:
            raise BadSettings(f"{where}: {f.name}", None, "a value: this key is required")
    return kind(**{key: _frozen(value) for key, value in table.items()})


def digest(table: Any) -> str:
    """Results of different recipes are not mixed."""
    return sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:12]


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
