"""The convex part G of a decomposition F = G − H + r."""

from __future__ import annotations

from typing import Protocol

from ..xp import Array


class Convex(Protocol):
    """G: ρ-strongly convex and L-smooth."""

    @property
    def rho(self) -> float: ...

    @property
    def L(self) -> float: ...

    def value(self, x: Array) -> float:
        """G(x)"""

    def grad(self, x: Array) -> Array:
        """∇G(x)"""

    def bregman(self, x: Array, y: Array) -> float:
        """G(x) − G(y) − ⟨∇G(y), x − y⟩, without cancellation where a formula is known"""
