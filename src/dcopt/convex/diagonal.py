"""G(x) = ½ Σ m_j x_j²: a metric with one number for each feature, for which the step is a prox."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import BadSettings, require, require_number
from ..xp import Array, namespace
from .base import Part, moved


@dataclass(frozen=True, eq=False, repr=False)
class Diagonal(Part):
    """G(x) = ½ Σ_j m_j x_j², m > 0 of shape (d,); for x (d, c), m_j belongs to row j."""

    m: Array
    made_of: Any = field(default=None, repr=False, compare=False)  # The data from which m was computed.

    def __post_init__(self) -> None:
        try:
            m = np.array(self.m, np.float64)
        except (TypeError, ValueError):
            raise BadSettings("m", self.m, "finite numbers > 0, one per feature") from None
        good = m.ndim == 1 and m.size > 0 and bool(np.all((m > 0.0) & (m < np.inf)))
        require(good, "m", self.m, "finite numbers > 0, one per feature")
        m.flags.writeable = False
        object.__setattr__(self, "m", m)

    def __repr__(self) -> str:
        return f"Diagonal({self.m.size} entries from {self.m.min():g} to {self.m.max():g})"

    @property
    def rho(self) -> float:
        return float(self.m.min())

    @property
    def L(self) -> float:
        return float(self.m.max())

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.m.size,)

    def shift(self, eta: float) -> Diagonal:
        require_number("eta", eta, 0.0)
        return Diagonal(self.m + eta, moved(self.made_of, f"shifted by {eta:.9g}"))

    def along(self, x: Array) -> Array:
        """m as an array of x's library and precision that multiplies it."""
        xp = namespace(x)
        m = self.m.astype(x.dtype, copy=False) if xp is np else xp.asarray(self.m, dtype=x.dtype, device=x.device)
        return m[:, None] if x.ndim == 2 else m

    def value(self, x: Array) -> float:
        return 0.5 * float(namespace(x).sum(self.along(x) * x * x))

    def grad(self, x: Array) -> Array:
        return self.along(x) * x

    def hess_dot(self, x: Array, v: Array) -> Array:
        return self.along(v) * v

    def bregman(self, x: Array, y: Array) -> float:
        return self.value(x - y)
