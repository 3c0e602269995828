"""The trimmed lasso; r₁ and r₂ are stated, there is no profile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..errors import require_count
from ..xp import Array, namespace
from .base import AboveZero, settle, total
from .weighted import Kinked, WeightedL1


@dataclass(frozen=True)
class TopK(AboveZero, Kinked):
    """r(x) = λ (|x|₁ - sum of the k largest |x_i|): zero at k-sparse x; r₂ has kinks at ties."""

    lam: float
    k: int

    def __post_init__(self) -> None:
        settle(self, "lam", 0.0)
        require_count("k", self.k, 0)
        object.__setattr__(self, "k", int(self.k))

    @property
    def L2(self) -> float | None:
        return None if self.lam > 0.0 and self.k > 0 else 0.0

    @cached_property
    def kink(self) -> WeightedL1:
        return WeightedL1(self.lam)

    def value(self, x: Array) -> float:
        xp = namespace(x)
        a = xp.reshape(xp.abs(x), (-1,))
        if bool(xp.any(xp.isnan(a))):
            return float("nan")
        return self.lam * total(xp.sort(a)[: max(a.shape[0] - self.k, 0)])

    def subgrad(self, x: Array) -> Array:
        """λ sign(x_i) on the k largest (the last ones of a tie), 0 elsewhere."""
        xp = namespace(x)
        rank = xp.argsort(xp.argsort(xp.reshape(xp.abs(x), (-1,)), stable=True), stable=True)
        top = xp.astype(rank >= rank.shape[0] - self.k, x.dtype)
        return self.lam * xp.reshape(top, x.shape) * xp.sign(x)
