"""The bases of sums: what a sum need not write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..xp import Array
from .curvature import Curvature
from .protocol import Facts, Look, Source, Sum

if TYPE_CHECKING:
    from .constants import Smoothness

_NOTHING = Facts()


class SumBase:
    """What a sum need not write: a subclass gives n, shape, dtype, `all` and `sample`."""

    def look(self: Any, x: Array) -> Look:
        f, grad = self.all().value_grad(x)
        return Look(x.copy(), f, grad, None, self.n)

    def facts(self) -> Facts:
        return _NOTHING

    def curvature(self, here: Look) -> Curvature | None:
        return None

    def smoothness(self) -> Smoothness | None:
        return None

    def best_constant(self) -> Array | None:
        return None

    def rounding(self, x: Array) -> float | None:
        return None

    @property
    def evaluation(self: Any) -> Sum:
        out: Sum = self
        return out

    @property
    def source(self) -> Source | None:
        return None

    @property
    def broken(self) -> BaseException | None:
        return None

    def spread(self, x: Array) -> float:
        return 0.0

    def notes(self) -> tuple[str, ...]:
        return ()


class Around(SumBase):
    """A sum around another one, `of`, with its components."""

    of: Sum

    @property
    def n(self) -> int | None:
        return self.of.n

    @property
    def shape(self) -> tuple[int, ...]:
        return self.of.shape

    @property
    def dtype(self) -> Array:
        return self.of.dtype
