"""Matrices of spectral norm at most 1: the convex hull of those with orthonormal columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..xp import Array, namespace
from .base import length, settle
from .constraint import Constraint
from .spectral import bad, matrix, number, spectrum, symmetric, values


@dataclass(frozen=True)
class SpectralBall(Constraint):
    """r(X) = 0 if ‖X‖₂ ≤ radius (the largest singular value; of a vector, its length), else ∞."""

    radius: float = 1.0

    def __post_init__(self) -> None:
        settle(self, "radius", 0.0, open_low=True)

    @property
    def one_step(self) -> bool:
        return True

    def r1(self, x: Array) -> float:
        if bad(x):
            return math.nan if bool(namespace(x).any(namespace(x).isnan(x))) else math.inf
        return 0.0 if float(values(x)[0]) <= self.radius * (1.0 + self.room(x)) else math.inf

    def prox(self, v: Array, step: Any) -> Array:
        """U diag(min(s, radius)) Vᵀ: the polar factor where all singular values are above the radius."""
        number(step)
        if bad(v):
            return v * math.nan
        xp, at = namespace(v), spectrum(v)
        if not float(at.s[0]) > self.radius:
            return v + 0.0
        return xp.reshape((at.U * xp.minimum(at.s, self.radius)) @ at.Vt, v.shape)

    def distance(self, u: Array, x: Array) -> float:
        """The normals at X are P S Qᵀ, S ≥ 0 symmetric, P and Q the singular vectors of the values at the radius.

        The nearest one to u has for S the positive part of the symmetric part of PᵀuQ.
        """
        if bad(u) or not (at_all := self.r1(x)) < math.inf:
            return math.nan if bad(u) else at_all
        xp, at = namespace(u, x), spectrum(x)
        held = int(xp.count_nonzero(at.s >= self.radius * (1.0 - self.room(x))))
        if held == 0:
            return length(u)
        P, Q, M = at.U[:, :held], at.Vt[:held, :].T, matrix(u)
        e, Z = xp.linalg.eigh(symmetric(P.T @ M @ Q))
        return length(M - ((P @ Z) * xp.maximum(e, 0.0)) @ (Q @ Z).T)
