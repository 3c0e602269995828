"""Constraints whose points may be of float32, and are looked at in float64 all the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..xp import Array, namespace
from .base import AboveZero, Convex

_ROOM, _ROOM_SINGLE = 1e-13, 1e-5  # relative rounding of a sum over the entries of x: some hundred units of each type


@dataclass(frozen=True)
class Constraint(AboveZero, Convex):
    """r(x) = ∞ outside of a convex set. `single`: its points are of float32, whatever type they are looked at in."""

    single: bool = field(default=False, init=False, repr=False, compare=False)

    def rounded(self, dtype: Any) -> Self:
        return self if self.single or np.dtype(dtype).itemsize >= 8 else self.of_single

    @cached_property
    def of_single(self) -> Self:
        """The same for points of float32."""
        made = replace(self)
        object.__setattr__(made, "single", True)
        return made

    def room(self, x: Array) -> float:
        """By how much a sum over x may differ from what it is for an exact point, relative."""
        return _ROOM_SINGLE if self.single or is_single(x) else _ROOM


def is_single(x: Array) -> bool:
    """Whether the entries of x have fewer bits than those of float64."""
    return bool(namespace(x).finfo(x.dtype).bits < 64)
