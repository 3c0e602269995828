"""Poisson regression: counts with mean eᶻ."""

from __future__ import annotations

from dataclasses import dataclass

from ..xp import Array
from .log_link import LogLink, parts, y_log_y


@dataclass(frozen=True)
class Poisson(LogLink):
    """ϕ(z) = eᶻ − y z + y log y − y,   ϕ″ = eᶻ, without a bound;   y ≥ 0

    Half the deviance of a count y from the mean eᶻ.
    """

    def value(self, z: Array, labels: Array) -> Array:
        e, v = parts(z)
        return e * (1.0 + v * (1.0 + 0.5 * v)) - labels * z + (y_log_y(labels) - labels)

    def slope(self, z: Array, labels: Array) -> Array:
        e, v = parts(z)
        return e * (1.0 + v) - labels

    def bend(self, z: Array, labels: Array) -> Array:
        e, v = parts(z)
        return e + 0.0 * (v + labels)  # NaN stays NaN.
