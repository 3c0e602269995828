"""Gamma regression: positive numbers with mean eᶻ and a spread in proportion to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..xp import Array, namespace
from .base import Domain
from .log_link import FAR, LogLink, parts


@dataclass(frozen=True)
class Gamma(LogLink):
    """ϕ(z) = eᵗ − 1 − t,   t = log y − z,   ϕ″ = eᵗ = y e⁻ᶻ, without a bound;   y > 0

    Half the deviance of y from the mean eᶻ.
    """

    domain: ClassVar[Domain] = "positive"

    def value(self, z: Array, labels: Array) -> Array:
        t = namespace(labels).log(labels) - z
        xp = namespace(t)
        low = xp.clip(t, -math.inf, FAR)
        e, v = parts(t)
        return (xp.expm1(low) - low) + (e * (v * (1.0 + 0.5 * v)) - v)

    def slope(self, z: Array, labels: Array) -> Array:
        t = namespace(labels).log(labels) - z
        e, v = parts(t)
        xp = namespace(t)
        return -(xp.expm1(xp.clip(t, -math.inf, FAR)) + e * v)

    def bend(self, z: Array, labels: Array) -> Array:
        e, v = parts(namespace(labels).log(labels) - z)
        return e + 0.0 * v  # NaN stays NaN.
