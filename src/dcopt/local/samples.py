"""Samples that grow to all of the data: a step far from a solution needs no more than a rough idea of f."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..draw import Draw
from ..sums import Sum


@dataclass(frozen=True)
class Samples:
    """f_t = (1/n_t) Σ_{i: u_i < s_t} f_i,   u_i uniform, one for each row and run;   s_t = 1/16, 1/4, 1/2, then 1

    Each sample holds the one before, so that little of what was learnt is lost. Which rows a step sees is a function of
    (seed, t) alone. `steps` are those on each share; samples with fewer than `rows` rows for each unknown are left out,
    as what they choose among the columns is chance.
    """

    shares: tuple[float, ...] = (1 / 16, 1 / 4, 1 / 2)
    steps: tuple[int, ...] = (3, 2, 2)
    rows: float = 2.0

    def share(self, t: int, f: Sum) -> float:
        """s_t"""
        for share, steps in zip(self.shares, self.steps, strict=True):
            if share * (f.n or 0) < self.rows * math.prod(f.shape):
                continue
            if t < steps:
                return share
            t -= steps
        return 1.0

    def length(self, f: Sum) -> int:
        """The number of steps on samples"""
        return next(t for t in range(sum(self.steps) + 1) if self.share(t, f) >= 1.0)

    def sum(self, f: Sum, draw: Draw) -> Sum:
        """f_t, the same object for all steps that see the same rows."""
        share, rows = self.share(draw.t, f), f.facts().rows
        return f if share >= 1.0 or rows is None else rows.part(draw.seed, share)


ALL = Samples((), ())  # every step sees all rows
