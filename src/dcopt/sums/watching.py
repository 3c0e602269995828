"""A sum that writes down what an estimator sees of it in one step."""

from __future__ import annotations

from ..draw import Draw, Sampling
from ..xp import Array, namespace
from .base import SumBase
from .protocol import Batch, Facts, Sum


class WatchingSum(SumBase):
    """f for one step of an estimator, with what that step tells of f at no cost.

    Where the gradient over all components is asked for, f comes with it in the same pass. Where a batch is evaluated at
    two points, the difference of its gradients tells the curvature of f between them.
    """

    def __init__(self, of: Sum) -> None:
        self.of = of
        self.n, self.shape, self.dtype = of.n, of.shape, of.dtype
        self.seen: tuple[Array, float] | None = None  # the last point with all components, and f there
        self.bend: float | None = None  # ⟨∇f_B(x) − ∇f_B(y), x − y⟩ / ‖x − y‖² of the last batch at two points

    def facts(self) -> Facts:
        return self.of.facts()

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> WatchingBatch:
        return WatchingBatch(self, self.of.sample(b, draw, sampling), whole=False)

    def all(self) -> WatchingBatch:
        return WatchingBatch(self, self.of.all(), whole=True)

    def value_at(self, x: Array) -> float | None:
        """f(x), if all components were evaluated there"""
        return self.seen[1] if self.seen is not None and self.seen[0] is x else None


class WatchingBatch:
    """A batch of it"""

    def __init__(self, of: WatchingSum, batch: Batch, whole: bool) -> None:
        self._of, self._batch, self._whole = of, batch, whole
        self.rows, self.size = batch.rows, batch.size

    def grad(self, x: Array) -> Array:
        return self.value_grad(x)[1] if self._whole else self._batch.grad(x)

    def value_grad(self, x: Array) -> tuple[float, Array]:
        f, g = self._batch.value_grad(x)
        if self._whole:
            self._of.seen = (x, f)
        return f, g

    def diff(self, x: Array, prev: Array) -> Array:
        y = self._batch.diff(x, prev)
        d, xp = x - prev, namespace(x)
        length2 = float(xp.sum(d * d))
        if length2 > 0.0:
            self._of.bend = float(xp.sum(y * d)) / length2
        return y

    def slopes(self, x: Array) -> Array:
        return self._batch.slopes(x)

    def pull(self, c: Array) -> Array:
        return self._batch.pull(c)
