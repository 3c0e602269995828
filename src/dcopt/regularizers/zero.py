"""No regularizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..xp import Array, namespace
from .base import AboveZero, Convex, length, nothing, total


@dataclass(frozen=True)
class Zero(AboveZero, Convex):
    """r(x) = 0."""

    def r1(self, x: Array) -> float:
        return total(nothing(x))

    def prox(self, v: Array, step: Any) -> Array:
        return namespace(v).asarray(v, copy=True)

    def distance(self, u: Array, x: Array) -> float:
        return length(u + nothing(x))
