"""Negative binomial regression: counts with mean μ = eᶻ and variance μ + α μ²."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import require_number
from ..xp import Array, namespace
from .base import exp, expit, log1p
from .log_link import LogLink


@dataclass(frozen=True)
class NegativeBinomial(LogLink):
    """ϕ(z) = (y + 1/α) log((1 + α eᶻ)/(1 + α y)) − y z + y log y,   ϕ″ = (y + 1/α) s(1 − s),   s = σ(z + log α)

    Half the deviance of a count y ≥ 0 of variance μ + α μ² from the mean μ = eᶻ. ϕ″ ≤ (y + 1/α)/4 has no bound that
    serves all labels.
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        require_number("alpha", self.alpha, 1e-100, 1e100)

    def value(self, z: Array, labels: Array) -> Array:
        t, r = z + math.log(self.alpha), 1.0 / self.alpha
        xp = namespace(t)
        above, below = xp.clip(t, 0.0, math.inf), xp.clip(-t, 0.0, math.inf)
        own = (labels + r) * log1p(exp(-xp.abs(t))) + (r * above + labels * below)  # y t is cancelled for t > 0.
        some = namespace(labels).where(labels > 0.0, labels, namespace(labels).ones_like(labels))
        return own - (labels * log1p(r / some) + r * log1p(self.alpha * labels))

    def slope(self, z: Array, labels: Array) -> Array:
        return (labels + 1.0 / self.alpha) * expit(z + math.log(self.alpha)) - labels

    def bend(self, z: Array, labels: Array) -> Array:
        t = z + math.log(self.alpha)
        return (labels + 1.0 / self.alpha) * (expit(t) * expit(-t))
