"""An unpenalised intercept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ..errors import require, require_count
from ..xp import Array, namespace
from .base import Down, Regularizer, Wrapping
from .zero import Zero

_FREE = Zero()


@dataclass(frozen=True)
class Except(Wrapping):
    """r(x) = of(x[:-last]) + 0(x[-last:]): the last entries (rows) of x are left unpenalised."""

    of: Regularizer
    last: int = 1

    def __post_init__(self) -> None:
        require(isinstance(self.of, Regularizer), "of", self.of, "a regularizer")
        require_count("last", self.last)

    @property
    def shape(self) -> tuple[int, ...] | None:
        inner = self.of.shape
        return None if inner is None else (inner[0] + self.last, *inner[1:])

    def value(self, x: Array) -> float:
        return self.of.value(x[: -self.last, ...]) + _FREE.value(x[-self.last :, ...])

    def r1(self, x: Array) -> float:
        return self.of.r1(x[: -self.last, ...]) + _FREE.r1(x[-self.last :, ...])

    def prox(self, v: Array, step: Any) -> Array:
        if getattr(step, "ndim", 0) > 0 and step.shape[0] == v.shape[0]:
            step = step[: -self.last, ...]
        return self._join(self.of.prox(v[: -self.last, ...], step), v[-self.last :, ...])

    def subgrad(self, x: Array) -> Array:
        return self._join(self.of.subgrad(x[: -self.last, ...]), _FREE.subgrad(x[-self.last :, ...]))

    def steepest(self, x: Array, down: Down) -> Array:
        w = self.of.steepest(x[: -self.last, ...], self._head(down))
        return self._join(w, _FREE.subgrad(x[-self.last :, ...]))

    def distance(self, u: Array, x: Array) -> float:
        head = self.of.distance(u[: -self.last, ...], x[: -self.last, ...])
        return math.hypot(head, _FREE.distance(u[-self.last :, ...], x[-self.last :, ...]))

    def rounded(self, dtype: Any) -> Except:
        of = self.of.rounded(dtype)
        return self if of is self.of else replace(self, of=of)

    def linearize(self, x: Array, down: Down) -> tuple[Array, Regularizer]:
        w, base = self.of.linearize(x[: -self.last, ...], self._head(down))
        w = self._join(w, _FREE.subgrad(x[-self.last :, ...]))
        return w, self if base is self.of else Except(base, self.last)

    def _head(self, down: Down) -> Down:
        return lambda: down()[: -self.last, ...]

    def _join(self, head: Array, tail: Array) -> Array:
        return namespace(head, tail).concat([head, tail])
