"""G(x) = a/4 ‖x‖⁴ + b/2 ‖x‖²: the Bregman kernel of phase retrieval and of matrix factorisation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import require, require_number
from ..xp import Array
from .base import Part, inner


@dataclass(frozen=True)
class Radial(Part):
    """G(x) = a/4 ‖x‖⁴ + b/2 ‖x‖², a, b ≥ 0, not both 0; not smooth globally unless a = 0."""

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            require_number(name, getattr(self, name), 0.0)
            object.__setattr__(self, name, float(getattr(self, name)))
        require(self.a + self.b > 0.0, "a, b", (self.a, self.b), "numbers >= 0, not both 0")

    @property
    def rho(self) -> float:
        return self.b

    @property
    def L(self) -> float:
        return math.inf if self.a > 0.0 else self.b

    def shift(self, eta: float) -> Radial:
        require_number("eta", eta, 0.0)
        return Radial(self.a, self.b + eta)

    def value(self, x: Array) -> float:
        s = inner(x, x)
        return 0.25 * self.a * s * s + 0.5 * self.b * s

    def grad(self, x: Array) -> Array:
        return (self.a * inner(x, x) + self.b) * x

    def hess_dot(self, x: Array, v: Array) -> Array:
        return (self.a * inner(x, x) + self.b) * v + (2.0 * self.a * inner(x, v)) * x

    def bregman(self, x: Array, y: Array) -> float:
        """a/4 ((⟨x + y, h⟩)² + 2‖y‖²‖h‖²) + b/2 ‖h‖², h = x − y: every term ≥ 0"""
        h = x - y
        t, s = inner(h, h), inner(x + y, h)
        return 0.25 * self.a * (s * s + 2.0 * inner(y, y) * t) + 0.5 * self.b * t
