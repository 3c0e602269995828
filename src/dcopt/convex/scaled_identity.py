"""G(x) = κ/2 ‖x‖², the paper's choice: with a given κ, as a marker of the local method, and with an unknown κ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ..errors import BadSettings, require_number
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


@dataclass(frozen=True)
class LocalCurvature(ScaledIdentity):
    """A marker: the local method makes G(v) = τ/2 ⟨v − x, Q_x (v − x)⟩ anew at every x; other code sees κ/2 ‖v‖².

    The gap is that of κ; the critical distance does not depend on G.
    """

    def shift(self, eta: float) -> LocalCurvature:
        return LocalCurvature(self.kappa + eta)


@dataclass(frozen=True)
class UnknownScale(Part):
    """G(x) = κ/2 ‖x‖², κ not known: a run with kappa="adaptive" finds it, and everything else is refused."""

    @property
    def rho(self) -> float:
        self._refuse()

    @property
    def L(self) -> float:
        self._refuse()

    def shift(self, eta: float) -> NoReturn:
        self._refuse()

    def value(self, x: Array) -> float:
        self._refuse()

    def grad(self, x: Array) -> Array:
        self._refuse()

    def _refuse(self) -> NoReturn:
        expected = (
            "the smoothness of f, which is not known: give it to f (L=…) or as G (dcopt.convex.ScaledIdentity(κ)), "
            'estimate it (dcopt.estimate_constants), or let a run find it (solve(…, kappa="adaptive"))'
        )
        raise BadSettings("kappa", None, expected)
