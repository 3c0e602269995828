"""Values of TOML and JSON against type hints: a value that does not fit is refused with the name of its place."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ..errors import BadSettings, pick, require

T = TypeVar("T")
_WORDS = {str: "a text", int: "an integer", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


def build(kind: type[T], table: Any, where: str) -> T:
    """A dataclass or NamedTuple from a table: unknown keys, missing keys and values of a wrong type are named."""
    _require(table, dict, where)
    hints = get_type_hints(kind)
    for key in table:
        pick(f"{where}: key", key, hints)
    for name in _needed(kind):
        if name not in table:
            raise BadSettings(f"{where}: {name}", None, "a value: this key is required")
    values = {key: convert(value, hints[key], f"{where}: {key}") for key, value in table.items()}
    try:
        return kind(**values)
    except BadSettings as why:  # The value is outside of its domain.
        raise BadSettings(f"{where}: {why.setting}", why.value, why.expected) from None


def _needed(kind: Any) -> list[str]:
    """The fields without a default."""
    if is_dataclass(kind):
        return [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    return [name for name in kind._fields if name not in kind._field_defaults]


def convert(value: Any, hint: Any, where: str) -> Any:
    """The value as its hint has it: lists become tuples where the hint says so, tables become records."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (tuple, list):
        _require(value, list, where)
        return origin(convert(v, args[0], f"{where}, entry {k}") for k, v in enumerate(value, 1))
    if origin is dict:
        _require(value, dict, where)
        return {key: convert(v, args[1], f"{where}.{key}") for key, v in value.items()}
    if is_dataclass(hint) or (isinstance(hint, type) and issubclass(hint, tuple)):
        return build(hint, value, where)  # type: ignore[arg-type]
    if args and type(None) in args:
        return None if value is None else convert(value, args[0], where)
    if hint is not Any:
        _require(value, hint, where)
    return value


def _require(value: Any, kind: type, where: str) -> None:
    fits = isinstance(value, int | float if kind is float else kind)
    require(fits and (kind is bool or not isinstance(value, bool)), where, value, _WORDS[kind])
