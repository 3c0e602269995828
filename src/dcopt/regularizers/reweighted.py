"""The reweighted l1 step: another majorizer of the same r."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..errors import require
from ..xp import Array
from .base import Down, Regularizer, Wrapping, nothing
from .excepting import Except
from .profiled import Profiled
from .units import WeightedL1


@dataclass(frozen=True)
class Reweighted(Wrapping):
    """r(y) ≤ Σ weights_j ψ'(|x_j|) |y_j| + const, equal at y = x: tighter than the DCA step, the same step
    until a coordinate would change sign. All other methods are those of the wrapped profile."""

    of: Profiled

    def __post_init__(self) -> None:
        expected = "a profiled one, r(x) = sum psi(|x_j|)"
        require(isinstance(self.of, Profiled), "regularizer of the reweighted step", self.of, expected)

    def value(self, x: Array) -> float:
        return self.of.value(x)

    def r1(self, x: Array) -> float:
        return self.of.r1(x)

    def prox(self, v: Array, step: Any) -> Array:
        return self.of.prox(v, step)

    def subgrad(self, x: Array) -> Array:
        return self.of.subgrad(x)

    def distance(self, u: Array, x: Array) -> float:
        return self.of.distance(u, x)

    def steepest(self, x: Array, down: Down) -> Array:
        return self.of.steepest(x, down)

    def linearize(self, x: Array, down: Down) -> tuple[Array, Regularizer]:
        return nothing(x), WeightedL1(self.of.slopes(x, down), self.of.units)


def reweighted(r: Regularizer) -> Regularizer:
    """r with the reweighted l1 step, also under an unpenalised intercept; a convex or stated r is refused."""
    return replace(r, of=reweighted(r.of)) if isinstance(r, Except) else Reweighted(r)  # type: ignore[arg-type]
