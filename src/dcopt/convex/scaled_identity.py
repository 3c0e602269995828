"""G(x) = κ/2 ‖x‖²: the paper's choice."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import require_number
from ..xp import Array, namespace
from .base import Part


@dataclass(frozen=True)
class ScaledIdentity(Part):
    """G(x) = κ/2 ‖x‖²"""

    kappa: float

    def __post_init__(self) -> None:
        require_number("kappa", self.kappa, 0.0, open_low=True)

    @property
    def rho(self) -> float:
        return self.kappa

    @property
    def L(self) -> float:
        return self.kappa

    def shift(self, eta: float) -> ScaledIdentity:
        return ScaledIdentity(self.kappa + eta)

    def value(self, x: Array) -> float:
        return 0.5 * self.kappa * float(namespace(x).sum(x * x))

    def grad(self, x: Array) -> Array:
        return self.kappa * x

    def hess_dot(self, x: Array, v: Array) -> Array:
        return self.kappa * v

    def bregman(self, x: Array, y: Array) -> float:
        return self.value(x - y)
