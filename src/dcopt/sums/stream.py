"""A stream as the stochastic part: every batch is made of fresh samples, and a held-out sample stands for the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.intercept import WithIntercept
from ..data.rows import RowMatrix
from ..data.stream import Stream
from ..draw import Draw, Sampling
from ..errors import NeedsFiniteSum
from ..losses import Loss
from ..xp import Array
from .base import SumBase
from .batch import LinearBatch
from .linear import LinearSum
from .protocol import Facts, Look, Source

_ROUNDING = 1.0 + 1e-6  # rows that were scaled to one length differ by rounding


class StreamBase(SumBase):
    """A sum over samples that are seen once: `holdout`, taken first and never drawn from, stands for the mean."""

    stream: Any
    holdout: Any

    @property
    def n(self) -> None:
        return None

    @property
    def shape(self) -> tuple[int, ...]:
        own: tuple[int, ...] = self.holdout.shape
        return own

    @property
    def dtype(self) -> Array:
        return self.holdout.dtype

    def all(self) -> Any:
        raise NeedsFiniteSum("a full gradient")

    def look(self, x: Array) -> Look:
        raise NeedsFiniteSum("a look at all components")

    @property
    def evaluation(self) -> Any:
        return self.holdout

    @property
    def source(self) -> Source:
        own: Source = self.stream
        return own

    @property
    def broken(self) -> BaseException | None:
        """The last error that came from the source or from one of its blocks."""
        error: BaseException | None = self.stream.broken
        return error


@dataclass(eq=False)
class StreamSum(StreamBase):
    """f(x) = E φ(⟨a, x⟩, label) over samples that come and go. Not frozen: a stream has a position.

    `holdout` was taken first and is never drawn from: F, measures and constants are estimated on it.
    """

    stream: Stream
    loss: Loss
    holdout: LinearSum
    limit: float = math.inf  # the ‖a‖² from which κ was estimated; inf: κ was given
    larger: int = field(default=0, init=False)  # samples beyond it
    largest: float = field(default=0.0, init=False)
    told: tuple[int, int] = field(default=(0, 0), init=False)  # rows skipped and too long that results have mentioned

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> LinearBatch:
        """The next b samples, as the whole of a sum of their own: both points of a correction see the same ones."""
        a, labels = self.stream.take(int(b))
        if isinstance(self.holdout.a, WithIntercept):
            a = WithIntercept(a)
        self._measure(a)
        return LinearSum(a, self.loss, labels, None, self.holdout.classes).all()

    def facts(self) -> Facts:
        return replace(self.holdout.facts(), rows=None)

    def _measure(self, a: RowMatrix) -> None:
        if self.limit == math.inf:
            return
        norms = a.norms2()
        most = float(norms.max())
        limit = self.limit * _ROUNDING
        if most > limit:
            self.larger += int(np.count_nonzero(norms > limit))
            self.largest = max(self.largest, most)

    def spread(self, x: Array) -> float:
        """σ̂(x), σ̂² = (1/(m−1)) Σ ‖∇f_i(x) − ∇f̂(x)‖² over the held-out sample: the deviation of one gradient."""
        f = self.holdout
        if f.n < 2:
            return math.inf
        batch = f.all()
        slopes = np.asarray(batch.slopes(x), np.float64)
        g = batch.pull(slopes)
        size2 = np.sum(slopes.reshape(f.n, -1) ** 2, axis=1)
        squares = float(np.sum(size2 * f.a.norms2())) - f.n * float(np.sum(g * g))
        return math.sqrt(squares / (f.n - 1)) if not squares < 0.0 else 0.0  # NaN stays

    def notes(self) -> tuple[str, ...]:
        """What a result should say about the data that went by since the last result."""
        now = self.stream.skipped, self.larger
        skipped, larger = (count - told for count, told in zip(now, self.told, strict=True))
        self.told = now
        said = []
        if skipped:
            said.append(f"{skipped} bad rows were skipped")
        if larger:
            said.append(
                f"kappa was estimated from {self.holdout.n} samples and is too small for {larger} later ones: "
                f"the largest needs {self.largest / self.limit if self.limit else math.inf:.3g} times as much"
            )
        return tuple(said)
