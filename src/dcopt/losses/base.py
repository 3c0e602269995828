"""A loss: ϕ(z) of the score z of one row, with its slope ϕ′, its bend ϕ″ and the exact range of ϕ″."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ..errors import require_number
from ..xp import Array, namespace

_SCALES = 1e-150, 1e150  # The largest scale of a loss, with finite squares.


Domain: TypeAlias = Literal["any", "nonnegative", "positive"]


class Loss(ABC):
    """ϕ(z, label), row by row: z is (m,), or (m, k) with labels (m, 1) for k points at once."""

    labels: ClassVar[Literal["binary", "class", "real"]]
    # A bound ϕ ≥ lower; None: not known, so that plans need F(x0) − inf F from the user.
    lower: float | None = 0.0

    # sup |∂ϕ/∂z| (‖·‖₂ of the slopes of c scores); infinite where there is none or it is not known.
    steepest: float = math.inf

    wide: ClassVar[bool] = False  # It is of several scores of a row: z is (m, c), and x (d, c).
    # The labels it takes: any number, numbers >= 0 (counts), or numbers > 0.
    domain: ClassVar[Domain] = "any"
    link: ClassVar[Literal["identity", "log"]] = "identity"  # The mean of a label is z, or eᶻ.

    elementwise: ClassVar[bool] = False  # Its formulas are arithmetic and functions of this file: they can be compiled.
    formulas: Any = None  # of a loss from a function: its formulas as data, which can be compiled too.

    @property
    @abstractmethod
    def curvature(self) -> tuple[float, float]:
        """(inf ϕ″, sup ϕ″), exact: methods are slow with a larger constant and wrong with a smaller one."""

    @property
    def bounded(self) -> bool:
        """Whether ϕ″ has a bound, from which κ = L follows"""
        return math.isfinite(max(map(abs, self.curvature)))

    @property
    def remark(self) -> str:
        """What results should say of the loss"""
        return ""

    @abstractmethod
    def value(self, z: Array, labels: Array) -> Array:
        """ϕ(z)"""

    @abstractmethod
    def slope(self, z: Array, labels: Array) -> Array:
        """∂ϕ/∂z, in the shape of z"""

    @abstractmethod
    def bend(self, z: Array, labels: Array) -> Array:
        """ϕ″(z)"""

    def both(self, z: Array, labels: Array) -> tuple[Array, Array]:
        """ϕ(z) and ∂ϕ/∂z; a loss whose formulas share a part may compute it once."""
        return self.value(z, labels), self.slope(z, labels)

    def mean(self, z: Array) -> Array:
        """The prediction that belongs to the score z: z itself, or eᶻ"""
        return z if self.link == "identity" else namespace(z).exp(z)

    def centre(self, labels: Array, weights: Array) -> Any:
        """A constant score near the best, for real labels: their weighted median"""
        return weighted_quantile(labels, weights, 0.5)


def weighted_quantile(labels: Array, weights: Array, q: float) -> float:
    """The least label below which, itself included, lies the share q of the weight"""
    order = np.argsort(labels, kind="stable")
    at = np.searchsorted(np.cumsum(weights[order]), q * weights.sum() * (1.0 - 1e-12))
    return float(labels[order][min(int(at), len(order) - 1)])


class Margin(Loss):
    """ϕ(m), m = label · z, labels −1 and +1. A subclass writes phi, dphi, ddphi."""

    labels = "binary"

    @abstractmethod
    def phi(self, m: Array) -> Array:
        """ϕ(m)"""

    @abstractmethod
    def dphi(self, m: Array) -> Array:
        """ϕ′(m)"""

    @abstractmethod
    def ddphi(self, m: Array) -> Array:
        """ϕ″(m)"""

    def value(self, z: Array, labels: Array) -> Array:
        return self.phi(labels * z)

    def slope(self, z: Array, labels: Array) -> Array:
        return labels * self.dphi(labels * z)

    def bend(self, z: Array, labels: Array) -> Array:
        return self.ddphi(labels * z)


@dataclass(frozen=True)
class Residual(Loss):
    """c² ϕ(e/c), e = z − label: the range of the second derivative is that of ϕ at every scale c > 0."""

    labels = "real"
    c: float = 1.0

    unit_steepest: ClassVar[float] = math.inf  # sup |ϕ′| at unit scale

    def __post_init__(self) -> None:
        require_number("c", self.c, *_SCALES)

    @property
    def steepest(self) -> float:  # type: ignore[override]  # c sup |ϕ′|
        return self.c * self.unit_steepest

    @abstractmethod
    def phi(self, e: Array) -> Array:
        """ϕ(e) at unit scale"""

    @abstractmethod
    def dphi(self, e: Array) -> Array:
        """ϕ′(e) at unit scale"""

    @abstractmethod
    def ddphi(self, e: Array) -> Array:
        """ϕ″(e) at unit scale"""

    def value(self, z: Array, labels: Array) -> Array:
        return self.c**2 * self.phi((z - labels) / self.c)

    def slope(self, z: Array, labels: Array) -> Array:
        return self.c * self.dphi((z - labels) / self.c)

    def bend(self, z: Array, labels: Array) -> Array:
        return self.ddphi((z - labels) / self.c)


# Functions in ϕ and ϕ′. Plain names allow the same text to be compiled with the rows of a matrix (fused.py).


def absolute(z: Array) -> Array:
    """|z|"""
    return namespace(z).abs(z)


def exp(z: Array) -> Array:
    """eᶻ"""
    return namespace(z).exp(z)


def expm1(z: Array) -> Array:
    """eᶻ − 1"""
    return namespace(z).expm1(z)


def log1p(z: Array) -> Array:
    """log(1 + z)"""
    return namespace(z).log1p(z)


def clip(z: Array, low: float, high: float) -> Array:
    """min(max(z, low), high)"""
    return namespace(z).clip(z, low, high)


def expit(z: Array) -> Array:
    """1 / (1 + e⁻ᶻ), accurate in the left tail and without overflow."""
    if isinstance(z, (np.ndarray, np.generic, float)):
        return _scipy_expit()(z)  # This is one pass; array operations would take five.
    xp = namespace(z)
    e = xp.exp(-xp.abs(z))
    return xp.where(z < 0.0, e, xp.ones_like(e)) / (1.0 + e)


@cache
def _scipy_expit() -> Any:
    """Imported at first use: scipy.special takes longer to import than everything else here."""
    from scipy.special import expit

    return expit
