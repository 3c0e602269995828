"""The convex part G of a decomposition F = G − H + r."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..xp import Array, namespace


class Convex(Protocol):
    """G: ρ-strongly convex and L-smooth (L = inf: smooth on bounded sets only)."""

    @property
    def rho(self) -> float: ...

    @property
    def L(self) -> float: ...

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The first dimensions that x must have; None if any are allowed."""

    @property
    def components(self) -> int:
        """What one ∇G costs, in component gradients: 0 unless G is itself a sum over the data."""

    def shift(self, eta: float) -> Convex:
        """G + η/2 ‖x‖²"""

    def value(self, x: Array) -> float:
        """G(x)"""

    def grad(self, x: Array) -> Array:
        """∇G(x)"""

    def bregman(self, x: Array, y: Array) -> float:
        """G(x) − G(y) − ⟨∇G(y), x − y⟩, without cancellation where a formula is known"""


class Part(ABC):
    """Defaults for a G. A subclass defines value and grad, and rho and L where they are known."""

    columns: bool = True  # Whether x may be (d, c) as well as (d,).

    @property
    def rho(self) -> float:
        return 0.0

    @property
    def L(self) -> float:
        return math.inf

    @property
    def shape(self) -> tuple[int, ...] | None:
        return None

    @property
    def components(self) -> int:
        return 0

    @abstractmethod
    def value(self, x: Array) -> float:
        """G(x)"""

    @abstractmethod
    def grad(self, x: Array) -> Array:
        """∇G(x)"""

    def bregman(self, x: Array, y: Array) -> float:
        return self.value(x) - self.value(y) - inner(self.grad(y), x - y)

    def shift(self, eta: float) -> Convex:
        from .shifted import Shifted

        return Shifted(self, eta)


class OverComponents(Part):
    """The base of a G that is a mean of components: G is as expensive as these, which fix the shape of x."""

    sum: Any
    columns = False

    @property
    def shape(self) -> tuple[int, ...]:
        own: tuple[int, ...] = self.sum.shape
        return own

    @property
    def components(self) -> int:
        return int(self.sum.n)


def columns_of_hessian(G: Any, x: Array) -> NDArray[np.float64]:
    """∇²G(x), a row and a column for every entry of x, by `G.hess_dot` on unit vectors"""
    out, unit = np.empty((x.size, x.size)), np.zeros(x.size, x.dtype)
    for j in range(x.size):
        unit[j] = 1.0
        out[j] = np.asarray(G.hess_dot(x, unit.reshape(x.shape)), np.float64).reshape(-1)
        unit[j] = 0.0
    return 0.5 * (out + out.T)


def moved(made_of: Any, how: str) -> Any:
    """The description of the data of a G that was made from another one; None where it is not known."""
    return None if made_of is None else (how, made_of)


def inner(a: Array, b: Array) -> float:
    """⟨a, b⟩ over all entries"""
    return float(namespace(a, b).sum(a * b))
