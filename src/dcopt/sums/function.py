"""An H that is no mean over rows: a function with a gradient, or a square that is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..draw import Draw, Sampling
from ..errors import BadInput, a_kind, require
from ..xp import Array, namespace
from .base import Around, SumBase
from .protocol import Facts, Sum


class _One(NamedTuple):
    """The only component of a function."""

    of: Function
    rows: None = None
    size: int = 1

    def value_grad(self, x: Array) -> tuple[float, Array]:
        value = self.of.value(x)
        try:
            return float(value), self.grad(x)
        except TypeError:
            raise BadInput("Function", f"value(x) is {_described(value)}, not a number") from None

    def grad(self, x: Array) -> Array:
        g = self.of.gradient(x)
        if getattr(g, "shape", None) != x.shape:
            raise BadInput("Function", f"gradient(x) is {_described(g)}, x has shape {tuple(x.shape)}")
        return g

    def diff(self, x: Array, prev: Array) -> Array:
        return self.grad(x) - self.grad(prev)

    def slopes(self, x: Array) -> Array:
        return self.grad(x)[None]

    def pull(self, c: Array) -> Array:
        return c[0]


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return a_kind(value) if shape is None else f"of shape {tuple(shape)}"


@dataclass(frozen=True, eq=False)
class Function(SumBase):
    """H as a convex function with a gradient: one component, so that a pass is one gradient.

    L is its smoothness and rho its strong convexity, where they are known: plans need them.
    """

    value: Callable[[Array], float]
    gradient: Callable[[Array], Array]
    shape: tuple[int, ...]
    L: float | None = None
    rho: float = 0.0
    n: int = 1
    dtype: Any = np.dtype(np.float64)
    L_v: float = 0.0  # one component has no variance

    def __post_init__(self) -> None:
        for name in ("value", "gradient"):
            require(callable(getattr(self, name)), name, getattr(self, name), "a function of x")
        good = isinstance(self.shape, tuple) and all(isinstance(n, int) and n > 0 for n in self.shape)
        require(good and len(self.shape) > 0, "shape", self.shape, "that of x, a tuple such as (4,)")

    def facts(self) -> Facts:
        return Facts(rho=self.rho, L_H=self.L, L=self.L, L_v=self.L_v, tables=False)

    def all(self) -> _One:
        return _One(self)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> _One:
        return _One(self)


class _Nothing(NamedTuple):
    """The batch of a function that is known: it costs no component."""

    mu: float
    size: int = 0
    rows: None = None

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return 0.5 * self.mu * float(namespace(x).sum(x * x)), self.mu * x

    def grad(self, x: Array) -> Array:
        return self.mu * x

    def diff(self, x: Array, prev: Array) -> Array:
        return self.mu * (x - prev)

    def slopes(self, x: Array) -> Array:
        return x

    def pull(self, c: Array) -> Array:
        return self.mu * c


@dataclass(frozen=True, eq=False)
class KnownSquare(Around):
    """H(x) = μ/2 ‖x‖²: nothing in it is stochastic. Counts passes in components of another sum."""

    mu: float
    of: Sum

    def facts(self) -> Facts:
        return Facts(tables=False)

    def all(self) -> _Nothing:
        return _Nothing(self.mu)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> _Nothing:
        return _Nothing(self.mu)
