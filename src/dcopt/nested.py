"""Samples that grow to all of the data: a step far from a solution needs no more than a rough idea of f."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .draw import Draw
from .sums import LinearSum


@dataclass(frozen=True)
class Nested:
    """f_t = (1/n_t) Σ_{i: u_i < s_t} f_i,   u_i uniform, one for each row and run;   s_t = 1/16, 1/4, 1/2, then 1

    Each sample holds the one before, so that little of what was learnt is lost. Which rows a step sees is a function of
    (seed, t) alone. `steps` are those on each share; samples with fewer than `rows` rows for each unknown are left out,
    as what they choose among the columns is chance.
    """

    shares: tuple[float, ...] = (1 / 16, 1 / 4, 1 / 2)
    steps: tuple[int, ...] = (3, 2, 2)
    rows: float = 2.0

    def share(self, t: int, f: LinearSum) -> float:
        """s_t"""
        least = max(64.0, self.rows * math.prod(f.shape))
        for share, steps in zip(self.shares, self.steps, strict=True):
            if share * f.n < least:
                continue
            if t < steps:
                return share
            t -= steps
        return 1.0

    def length(self, f: LinearSum) -> int:
        """The number of steps on samples"""
        return next(t for t in range(sum(self.steps) + 1) if self.share(t, f) >= 1.0)

    def grew(self, t: int, f: LinearSum) -> bool:
        """Whether step t sees rows that step t − 1 did not."""
        return t == 0 or self.share(t, f) > self.share(t - 1, f)

    def sum(self, f: LinearSum, draw: Draw) -> LinearSum:
        """f_t, the same object for all steps that see the same rows."""
        share = self.share(draw.t, f)
        return f if share >= 1.0 else f.part(draw.seed, share)
