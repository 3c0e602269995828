"""SARAH: PAGE with a refresh every `period` steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..draw import Draw
from ..errors import require_count
from .base import distinct
from .page import PAGE


@dataclass(frozen=True)
class SARAH(PAGE):
    """g_t = ∇f(x_t) every `period` steps, else g_{t−1} + ∇f_I'(x_t) − ∇f_I'(x_{t−1})."""

    p: float | tuple[float, ...] = 1.0  # It is not used: `period` decides.
    b_small: int = 1
    period: int = 1

    def __post_init__(self) -> None:
        require_count("period", self.period)
        super().__post_init__()

    @property
    def corrects(self) -> bool:
        """Whether there are steps that correct the last estimate."""
        return self.period > 1

    def spread(self, n: int) -> float:
        """√((M−1)/b'): every step enters the corrections of at most M − 1 others"""
        return distinct(self.sampling, self.b_small, n) * math.sqrt((self.period - 1) / self.b_small)

    def refresh(self, draw: Draw) -> bool:
        return draw.t % self.period == 0
