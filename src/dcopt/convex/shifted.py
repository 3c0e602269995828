"""G(x) + η/2 ‖x‖² for any G."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import require_number
from ..xp import Array
from .base import Convex, Part, inner


@dataclass(frozen=True, eq=False)
class Shifted(Part):
    """G(x) + η/2 ‖x‖²: ρ and L grow by η."""

    G: Convex
    eta: float

    def __post_init__(self) -> None:
        require_number("eta", self.eta, 0.0)
        object.__setattr__(self, "eta", float(self.eta))
        object.__setattr__(self, "columns", getattr(self.G, "columns", False))
        if hasattr(self.G, "hess_dot"):  # The method is absent if G does not have it.
            object.__setattr__(self, "hess_dot", self._hess_dot)

    @property
    def rho(self) -> float:
        return self.G.rho + self.eta

    @property
    def L(self) -> float:
        return self.G.L + self.eta

    @property
    def shape(self) -> tuple[int, ...] | None:
        return getattr(self.G, "shape", None)

    @property
    def components(self) -> int:
        return getattr(self.G, "components", 0)

    def shift(self, eta: float) -> Shifted:
        return Shifted(self.G, self.eta + eta)

    def value(self, x: Array) -> float:
        return self.G.value(x) + 0.5 * self.eta * inner(x, x)

    def grad(self, x: Array) -> Array:
        return self.G.grad(x) + self.eta * x

    def _hess_dot(self, x: Array, v: Array) -> Array:
        return self.G.hess_dot(x, v) + self.eta * v  # type: ignore[attr-defined]  # seen above

    def bregman(self, x: Array, y: Array) -> float:
        return self.G.bregman(x, y) + 0.5 * self.eta * inner(x - y, x - y)
