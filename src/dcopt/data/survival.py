"""Checks of survival times, events and strata."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .arrays import vector
from .labels import label_array


def survival(
    time: Any, event: Any, n: int, names: tuple[str, str] = ("time", "event")
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times above 0, and events as 0 and 1; refuses times that are not positive, and rows that are all censored"""
    t = np.asarray(vector(time, names[0], n), np.float64)
    bad = np.flatnonzero(t <= 0.0)
    if bad.size:
        raise BadInput(names[0], f"{t[bad[0]]:g}: times are above 0", row=int(bad[0]))
    e = np.asarray(vector(event, names[1], n), np.float64)
    bad = np.flatnonzero((e != 0.0) & (e != 1.0))
    if bad.size:
        raise BadInput(names[1], f"{e[bad[0]]:g}: expected 1 (the event was seen) or 0 (censored)", row=int(bad[0]))
    if not e.any():
        raise BadInput(names[1], "all rows are censored: without an event there is nothing to fit")
    return t, e


def survival_strata(strata: Any, n: int) -> NDArray[np.float64]:
    """The stratum of every row as a number; all 0 where none are given"""
    if strata is None:
        return np.zeros(n)
    return np.unique(label_array(strata, n, "strata"), return_inverse=True)[1].astype(np.float64)


def time_and_event(y: Any) -> tuple[Any, Any]:
    """The two vectors of survival targets: a pair (time, event), an array of two fields of which one is bool, or two
    columns (time, event).
    """
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        flags = [name for name in names if y.dtype[name] == np.bool_]
        if len(names) != 2 or len(flags) != 1:
            raise BadInput("y", f"has the fields {names}: expected two, of which one is bool (the event)")
        (other,) = (name for name in names if name != flags[0])
        return y[other], y[flags[0]]
    if isinstance(y, tuple | list) and len(y) == 2 and all(np.ndim(part) == 1 for part in y):
        return y[0], y[1]
    a = np.asarray(y)
    if a.ndim == 2 and a.shape[1] == 2:
        return a[:, 0], a[:, 1]
    raise BadInput("y", f"of shape {a.shape}: expected (time, event), two columns, or an array with two fields")
