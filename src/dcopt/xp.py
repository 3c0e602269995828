"""One text for NumPy and torch: the array namespace of an argument."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any  # a NumPy array, or any array of the array API standard
_OURS = (np.ndarray, np.generic, float, int)


class Functions:
    """The base of a namespace for objects that are no arrays: a number whose formula is traced has one."""


def namespace(a: Array, *more: Array) -> Any:
    """The array-API namespace of the arguments; NumPy at once, so that a step pays little for it."""
    if type(a) is np.ndarray and not more:
        return np
    if isinstance(a, _OURS) and all(isinstance(b, _OURS) for b in more):
        return np
    if isinstance(own := getattr(a, "functions", None), Functions):
        return own
    from array_api_compat import array_namespace

    return array_namespace(a, *more)


def finite(*arrays: Array) -> bool:
    """Whether no entry of the arrays is NaN or infinite."""
    return all(bool(namespace(a).all(namespace(a).isfinite(a))) for a in arrays)
