"""Recipes: experiments as TOML. A misspelt key or name is refused with the nearest one that exists."""

from __future__ import annotations

import json
import tomllib
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import BadInput, BadSettings

KINDS = (  # In the order of the report.
    "binary", "multiclass", "multiclass-kappa", "gap", "online", "scaling", "general", "theorems", "statements",
)  # fmt: skip


def read(name: str, quick: bool = False, path: Path | None = None) -> dict[str, Any]:
    """The table of a recipe that ships with dcopt, or of the user's file, [quick] put over it if asked."""
    place = path or files(__package__) / "recipes" / f"{name}.toml"
    if not place.is_file():  # Reading a pipe would block, and a device has no end.
        raise BadInput(str(path or name), "is not a file")
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise BadInput(str(path or name), f"cannot be read ({why})") from None
    try:
        table = tomllib.loads(text)
    except ValueError as why:  # This is a TOMLDecodeError, or an integer with thousands of digits.
        raise BadInput(str(path or name), f"is not TOML ({why})") from None
    except RecursionError:
        raise BadInput(str(path or name), "has lists or tables that are nested too deeply") from None
    small = table.pop("quick", {})
    if not isinstance(small, dict):
        raise BadSettings(f"recipe {path or name}: quick", small, "a table")
    return table | small if quick else table


def digest(table: Any) -> str:
    """Results of different recipes are not mixed."""
    return sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:12]
