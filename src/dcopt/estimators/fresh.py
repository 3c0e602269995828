"""The plain mean over fresh samples, the estimator of online DCA."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..draw import Draw, Sampling
from ..errors import require_number
from ..sums import Cost, Sum
from ..xp import Array
from .base import Estimate, OnlyG, check_batch, check_sampling, cost_of

_CHUNK = 8192  # The largest number of samples of a stream that are held at once.


@dataclass(frozen=True)
class Fresh:
    """g_t = ∇f_I(x_t), |I| = b_t = ⌈b (t+1)^growth⌉ samples that are used once; all N where b_t ≥ N.

    growth = 0 leaves an error of variance σ²/b; with growth = 1 it falls as 1/t, and t steps take about b t²/2 samples.
    """

    b: int
    growth: float = 0.0
    sampling: Sampling = "iid"

    def __post_init__(self) -> None:
        check_batch("b", self.b, None)
        require_number("growth", self.growth, 0.0, 4.0)
        check_sampling(self.sampling)

    def check(self, n: int | None) -> None:
        check_batch("b", self.b, n)

    def spread(self, n: int) -> float:
        """0: its error is that of the samples and does not depend on the lengths of the steps"""
        return 0.0

    def size(self, t: int) -> int:
        """b_t"""
        return math.ceil(self.b * math.pow(t + 1, self.growth))

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        b = self.size(draw.t)
        if f.n is None and b > _CHUNK:
            return self._in_chunks(f, x, draw, b)
        batch = f.all() if f.n is not None and b >= f.n else f.sample(b, draw, self.sampling)
        g = batch.grad(x)
        return Estimate(g, OnlyG(g), cost_of(batch))

    def _in_chunks(self, f: Sum, x: Array, draw: Draw, b: int) -> Estimate:
        g = x * 0.0
        for done in range(0, b, _CHUNK):
            size = min(_CHUNK, b - done)
            g = g + f.sample(size, draw, self.sampling).grad(x) * (size / b)
        return Estimate(g, OnlyG(g), Cost(b, b))

    def step(self, f: Sum, x: Array, prev: Array, memory: Any, draw: Draw) -> Estimate:
        return self.start(f, x, draw)
