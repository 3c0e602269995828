"""r = r₁ - r₂, both convex: the protocol of regularizers, and defaults for convex ones."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from ..errors import require_count, require_number
from ..xp import Array, namespace

Down: TypeAlias = Callable[[], Array]  # It gives −∇(G − H)(x), and is called only where r₂ has a kink at x.
Stationarity: TypeAlias = Literal["d-stationary", "critical"]


class Regularizer(ABC):
    """r(x) = r₁(x) - r₂(x), x of shape (d,) or (d, c); r₁ and r₂ convex, r₂ finite everywhere."""

    @property
    def lower(self) -> float | None:
        """A bound r ≥ lower; None: not known, so that plans need F(x0) − inf F from the user."""
        return None

    @property
    def rho(self) -> float:
        """Strong convexity of r₁."""
        return 0.0

    @property
    @abstractmethod
    def L2(self) -> float | None:
        """Smoothness of r₂ (L_r2); None where r₂ is not smooth, 0 where r₂ = 0."""

    @property
    def certifies(self) -> Stationarity:
        """The property of x that −∇(G − H)(x) + w ∈ ∂r₁(x) certifies, for the w of `steepest`.

        "d-stationary": F'(x; d) ≥ 0 for every d. "critical": only this one w is known to satisfy the inclusion, and F
        may fall along some d. The two are the same where r₂ is smooth.
        """
        return "critical" if self.L2 is None else "d-stationary"

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The first dimensions that x must have, where the settings fix them (weights, groups, bounds)."""
        return None

    @property
    def one_step(self) -> bool:
        """Whether the prox takes one number as its step only, because singular values have no step of their own."""
        return False

    @abstractmethod
    def value(self, x: Array) -> float:
        """r(x); not r₁(x) - r₂(x) where that cancels; inf outside the domain."""

    @abstractmethod
    def r1(self, x: Array) -> float:
        """r₁(x)."""

    @abstractmethod
    def prox(self, v: Array, step: Any) -> Array:
        """argmin_x r₁(x) + Σ (x - v)² / (2 step), step > 0 a number or an array that broadcasts to v."""

    @abstractmethod
    def subgrad(self, x: Array) -> Array:
        """Some w ∈ ∂r₂(x), the shape of x; 0 where x is a kink of r₂ at zero."""

    @abstractmethod
    def distance(self, u: Array, x: Array) -> float:
        """dist(u, ∂r₁(x)), Euclidean; inf where x is not in dom r₁."""

    def rounded(self, dtype: Any) -> Regularizer:
        """The regularizer for points of this type. A constraint allows for the rounding of float32 points."""
        return self

    def steepest(self, x: Array, down: Down) -> Array:
        """The w ∈ ∂r₂(x) with the largest dist(down() + w, ∂r₁(x)), which then is max_{|d| ≤ 1} −F'(x; d).

        F'(x; d) = -⟨down(), d⟩ + r₁'(x; d) - max_{w ∈ ∂r₂(x)} ⟨w, d⟩. So x is d-stationary if that distance is 0, and
        otherwise the DCA step with this w lowers F. Where r₂ is smooth there is only one w. A regularizer whose r₂ has
        kinks overrides this method and `certifies`; without that any w is taken.
        """
        return self.subgrad(x)

    def linearize(self, x: Array, down: Down) -> tuple[Array, Regularizer]:
        """(w, b): r ≤ b.r1 - ⟨w, ·⟩ + const, equal at x. Here the DCA step: w ∈ ∂r₂(x), `steepest`, and r₁ itself."""
        return self.steepest(x, down), self


class AboveZero(Regularizer):
    """r ≥ 0."""

    @property
    def lower(self) -> float | None:
        return 0.0


class ButLargest(AboveZero):
    """λ times the sum of all but the k largest of some sizes: r₂ has kinks at ties."""

    lam: float
    k: int

    def __post_init__(self) -> None:
        settle(self, "lam", 0.0)
        require_count("k", self.k, 0)
        object.__setattr__(self, "k", int(self.k))

    @property
    def L2(self) -> float | None:
        return None if self.lam > 0.0 and self.k > 0 else 0.0

    @property
    def certifies(self) -> Stationarity:
        return "d-stationary"


class Wrapping(Regularizer):
    """A wrapper of another regularizer, `of`, with the same bound, smoothness and shape."""

    of: Regularizer

    @property
    def lower(self) -> float | None:
        return self.of.lower

    @property
    def L2(self) -> float | None:
        return self.of.L2

    @property
    def certifies(self) -> Stationarity:
        return self.of.certifies

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.of.shape

    @property
    def one_step(self) -> bool:
        return self.of.one_step


class Convex(Regularizer):
    """r = r₁, r₂ = 0: a subclass writes r1, prox and distance."""

    @property
    def L2(self) -> float | None:
        return 0.0

    def value(self, x: Array) -> float:
        return self.r1(x)

    def subgrad(self, x: Array) -> Array:
        return nothing(x)


def nothing(x: Array) -> Array:
    """0 · x: zeros, with NaN where x is NaN, and without the warning at infinity."""
    xp = namespace(x)
    return xp.minimum(xp.abs(x), 0.0)


def total(a: Array) -> float:
    """Σ a, a Python float."""
    return float(namespace(a).sum(a))


def length(a: Array) -> float:
    """|a|₂ over all entries, a Python float."""
    return math.sqrt(total(a * a))


def ranks(a: Array) -> Array:
    """The rank of every entry of a vector, from 0 for the least; of equal entries the last ranks highest."""
    xp = namespace(a)
    return xp.argsort(xp.argsort(a, stable=True), stable=True)


def stepsize(step: Any, v: Array) -> Any:
    """The step as a Python float, or as an array of v's precision, so that float32 stays float32."""
    if getattr(step, "ndim", 0) == 0:
        return float(step)
    return step if step.dtype == v.dtype else namespace(v).astype(step, v.dtype)


def settle(me: object, name: str, low: float, high: float = math.inf, *, open_low: bool = False) -> None:
    """Validate one number of a frozen dataclass and make it a Python float (NumPy's would widen float32)."""
    require_number(name, getattr(me, name), low, high, open_low=open_low)
    object.__setattr__(me, name, float(getattr(me, name)))
