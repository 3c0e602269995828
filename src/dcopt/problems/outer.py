"""Losses of u − v as functions of u and v, and their convex increasing parts g − h."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..losses.base import expit
from ..xp import Array

Two = tuple[Array, Array]


class Outer(Protocol):
    """o(u, v, y) for u, v ≥ 0"""

    convex: ClassVar[bool]  # convex, and increasing in u and in v
    lower: ClassVar[float | None]
    slope: ClassVar[float]  # a bound of |∂o/∂u| and |∂o/∂v|
    curvature: ClassVar[float]  # a bound of |∂²o|, for the change of u − v (one number where o has only that)

    def value(self, u: Array, v: Array, y: Array) -> Array: ...

    def slopes(self, u: Array, v: Array, y: Array) -> Two:
        """∂o/∂u and ∂o/∂v"""

    def bend(self, u: Array, v: Array, du: Array, dv: Array) -> Two:
        """The second derivative, (2, 2), times (du, dv)"""


@dataclass(frozen=True)
class LogisticLoss:
    """log(1 + e^−y(u − v)), y = ±1"""

    convex: ClassVar[bool] = False
    lower: ClassVar[float | None] = 0.0
    slope: ClassVar[float] = 1.0
    curvature: ClassVar[float] = 0.25

    def value(self, u: Array, v: Array, y: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * (u - v)))

    def slopes(self, u: Array, v: Array, y: Array) -> Two:
        s = -y * expit(-y * (u - v))
        return s, -s

    def bend(self, u: Array, v: Array, du: Array, dv: Array) -> Two:
        s = expit(u - v) * expit(v - u) * (du - dv)
        return s, -s


@dataclass(frozen=True)
class LogisticG(LogisticLoss):
    """g = log(e^u + e^v)"""

    convex: ClassVar[bool] = True

    def value(self, u: Array, v: Array, y: Array) -> Array:
        return np.asarray(np.logaddexp(u, v))

    def slopes(self, u: Array, v: Array, y: Array) -> Two:
        return expit(u - v), expit(v - u)


@dataclass(frozen=True)
class LogisticH:
    """h = u where y = 1, v where y = −1"""

    convex: ClassVar[bool] = True
    lower: ClassVar[float | None] = 0.0
    slope: ClassVar[float] = 1.0
    curvature: ClassVar[float] = 0.0

    def value(self, u: Array, v: Array, y: Array) -> Array:
        return np.where(y > 0.0, u, v)

    def slopes(self, u: Array, v: Array, y: Array) -> Two:
        return (y > 0.0).astype(u.dtype), (y <= 0.0).astype(u.dtype)

    def bend(self, u: Array, v: Array, du: Array, dv: Array) -> Two:
        return np.zeros_like(du), np.zeros_like(dv)


@dataclass(frozen=True)
class SquaredLoss:
    """½ (u − v − y)²"""

    convex: ClassVar[bool] = False
    lower: ClassVar[float | None] = 0.0
    slope: ClassVar[float] = math.inf
    curvature: ClassVar[float] = 1.0

    def value(self, u: Array, v: Array, y: Array) -> Array:
        return np.asarray(0.5 * (u - v - y) ** 2)

    def slopes(self, u: Array, v: Array, y: Array) -> Two:
        e = u - v - y
        return e, -e

    def bend(self, u: Array, v: Array, du: Array, dv: Array) -> Two:
        return du - dv, dv - du


@dataclass(frozen=True)
class SquaredG:
    """g = u² + v² + y₋ u + y₊ v + y²/2, y₊ = max(y, 0) and y₋ = max(−y, 0)"""

    convex: ClassVar[bool] = True
    lower: ClassVar[float | None] = 0.0
    slope: ClassVar[float] = math.inf
    curvature: ClassVar[float] = math.inf

    def value(self, u: Array, v: Array, y: Array) -> Array:
        return np.asarray(u * u + v * v + np.maximum(-y, 0.0) * u + np.maximum(y, 0.0) * v + 0.5 * y * y)

    def slopes(self, u: Array, v: Array, y: Array) -> Two:
        return 2.0 * u + np.maximum(-y, 0.0), 2.0 * v + np.maximum(y, 0.0)

    def bend(self, u: Array, v: Array, du: Array, dv: Array) -> Two:
        return 2.0 * du, 2.0 * dv


@dataclass(frozen=True)
class SquaredH:
    """h = ½ (u + v)² + y₊ u + y₋ v"""

    convex: ClassVar[bool] = True
    lower: ClassVar[float | None] = 0.0
    slope: ClassVar[float] = math.inf
    curvature: ClassVar[float] = math.inf

    def value(self, u: Array, v: Array, y: Array) -> Array:
        return np.asarray(0.5 * (u + v) ** 2 + np.maximum(y, 0.0) * u + np.maximum(-y, 0.0) * v)

    def slopes(self, u: Array, v: Array, y: Array) -> Two:
        return u + v + np.maximum(y, 0.0), u + v + np.maximum(-y, 0.0)

    def bend(self, u: Array, v: Array, du: Array, dv: Array) -> Two:
        return du + dv, du + dv


PARTS: dict[str, tuple[Outer, Outer, Outer]] = {  # the loss, g and h
    "logistic": (LogisticLoss(), LogisticG(), LogisticH()),
    "squared": (SquaredLoss(), SquaredG(), SquaredH()),
}
