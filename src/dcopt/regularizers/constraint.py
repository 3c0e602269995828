"""Constraints, and other regularizers that depend on rounding, at points of float32 that are checked in float64."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ..xp import Array, namespace
from .base import AboveZero, Convex, Regularizer

# The relative rounding of a sum over the entries of x: some hundred units of each type.
_ROOM, _ROOM_SINGLE = 1e-13, 1e-5


@dataclass(frozen=True)
class Rounded(Regularizer):
    """A regularizer that allows for the rounding of its points.

    `single`: its points are float32, also where they are checked in float64.
    """

    single: bool = field(default=False, init=False, repr=False, compare=False)

    def rounded(self, dtype: Any) -> Self:
        return self if self.single or np.dtype(dtype).itemsize >= 8 else self.of_single

    @cached_property
    def of_single(self) -> Self:
        """The regularizer for float32 points."""
        made = replace(self)
        object.__setattr__(made, "single", True)
        return made


@dataclass(frozen=True)
class Constraint(Rounded, AboveZero, Convex):
    """r(x) = ∞ outside of a convex set."""

    def room(self, x: Array) -> float:
        """The relative rounding error of a sum over x that is allowed."""
        return _ROOM_SINGLE if self.single or is_single(x) else _ROOM


def is_single(x: Array) -> bool:
    """Whether the entries of x have fewer bits than those of float64."""
    return bool(namespace(x).finfo(x.dtype).bits < 64)
