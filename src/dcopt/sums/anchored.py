"""A sum whose components at one point were looked at before."""

from __future__ import annotations

from ..draw import Draw, Sampling
from ..xp import Array
from .base import SumBase
from .protocol import Batch, Look, SumOverRows


class AnchoredSum(SumBase):
    """f as a sum whose components at one point are known: what is asked there needs no pass over the rows."""

    def __init__(self, f: SumOverRows, seen: Look) -> None:
        self.f, self.seen = f, seen
        self.n, self.shape, self.dtype = f.n, f.shape, f.dtype
        self.served = 0  # component gradients that were not evaluated

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Batch:
        return self.f.sample(b, draw, sampling)

    def all(self) -> AnchoredBatch:
        return AnchoredBatch(self)


class AnchoredBatch:
    """All components, likewise."""

    def __init__(self, of: AnchoredSum) -> None:
        self._of: AnchoredSum = of
        self._batch: Batch = of.f.all()
        self.rows, self.size = self._batch.rows, self._batch.size
        self._slopes: Array | None = None  # those at the known point

    def _there(self, x: Array) -> bool:
        known = x is self._of.seen.x or bool((x == self._of.seen.x).all())
        self._of.served += self.size if known else 0
        return known

    def grad(self, x: Array) -> Array:
        return self._of.seen.grad if self._there(x) else self._batch.grad(x)

    def slopes(self, x: Array) -> Array:
        if not self._there(x):
            return self._batch.slopes(x)
        self._slopes = self._of.f.slopes_at(self._of.seen)
        return self._slopes

    def pull(self, c: Array) -> Array:
        return self._of.seen.grad if c is self._slopes else self._batch.pull(c)

    def diff(self, x: Array, prev: Array) -> Array:
        return self._batch.diff(x, prev)

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return self._batch.value_grad(x)
