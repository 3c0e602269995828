"""G(x) = κ/2 ‖x‖² with a κ that nobody knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ..errors import BadSettings
from ..xp import Array
from .base import Part


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
            'the smoothness of f, which is not known: give it to f (L=…) or as G (dcopt.convex.ScaledIdentity(κ)), '
            'estimate it (dcopt.estimate_constants), or let a run find it (solve(…, kappa="adaptive"))'
        )
        raise BadSettings("kappa", None, expected)
