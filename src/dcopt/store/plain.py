"""Strict JSON: no duplicate keys, no NaN literals, limited nesting, and infinities by name."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ..errors import BadSettings

_FLOAT = "$float"  # JSON has no infinity and no NaN: {"$float": "inf"} stands for infinity.
_ODD = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_KINDS = "numbers, strings, True, False, None, and lists and dicts of them"


def dumps(value: Any) -> str:
    """Settings as text: the same value always gives the same text, and numbers come back bit for bit."""
    return json.dumps(_down(value), separators=(",", ":"), allow_nan=False)


def loads(text: str) -> Any:
    """The value; ValueError (or RecursionError) for text that `dumps` would not write."""
    return _up(strict(text))


def strict(text: str) -> Any:
    """JSON with duplicate keys, NaN, Infinity and numbers beyond the floats refused: ValueError."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)


def _down(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_FLOAT: repr(value)}
    if isinstance(value, (list, tuple)):
        return [_down(v) for v in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key.startswith("$"):
                raise BadSettings("header", key, "keys that are strings and do not begin with '$'")
        return {key: _down(v) for key, v in value.items()}
    raise BadSettings("header", type(value).__name__, _KINDS)


def _up(value: Any) -> Any:
    if isinstance(value, list):
        return [_up(v) for v in value]
    if isinstance(value, dict):
        if _FLOAT in value:
            if len(value) != 1 or value[_FLOAT] not in _ODD:
                raise ValueError(f"{_FLOAT} is not one of {', '.join(_ODD)}")
            return _ODD[value[_FLOAT]]
        return {key: _up(v) for key, v in value.items()}
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is beyond the floats")
    return value
