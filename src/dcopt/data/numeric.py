"""Checks of tables: dates, durations and text are refused, although NumPy can convert them to numbers."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np

from ..errors import BadInput

_TEXT = (str, bytes)
_TIMES = (date, timedelta, np.datetime64, np.timedelta64)  # datetime and pandas.Timestamp are subclasses of date.
_ADVICE = {
    "text": "encode the column as numbers, for example with OneHotEncoder, or leave it out",
    "a date or a duration": "convert the column to a number, such as days since a fixed day, or leave it out",
}
_KINDS = {"U": "text", "S": "text", "T": "text", "M": "a date or a duration", "m": "a date or a duration"}


def numeric(values: Any, name: str) -> None:
    """Refuse dates, durations and text in a table or a vector, with the first cell that holds one."""
    if hasattr(values, "columns") and hasattr(values, "dtypes"):  # Each column of a data frame has a type of its own.
        for j, (column, dtype) in enumerate(zip(values.columns, values.dtypes, strict=True)):
            if getattr(dtype, "kind", "O") not in "biufc":
                _examine(values[column], name, j, f"column {str(column)!r}: ")
    else:
        _examine(values, name, None, "")


def _examine(values: Any, name: str, column: int | None, called: str) -> None:
    try:
        a = np.asarray(values)
    except (TypeError, ValueError):
        return  # An array that is not rectangular is refused later, by the code that converts it.
    kind = _KINDS.get(a.dtype.kind)
    at = 0
    if a.dtype.kind == "O":
        at, kind = next(((i, _kind(v)) for i, v in enumerate(a.flat) if isinstance(v, _TEXT + _TIMES)), (0, None))
    if kind is None or not a.size:
        return
    place = np.unravel_index(at, a.shape)
    shown = str(a.flat[at])
    shown = shown if len(shown) <= 30 else shown[:30] + "…"
    if column is None and a.ndim == 2:
        column = int(place[1])
    reason = f"{called}{shown!r} is {kind}, not a number: {_ADVICE[kind]}"
    raise BadInput(name, reason, row=int(place[0]) if place else None, column=column)


def _kind(value: Any) -> str:
    return "text" if isinstance(value, _TEXT) else "a date or a duration"
