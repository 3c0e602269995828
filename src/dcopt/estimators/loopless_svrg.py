"""SVRG with snapshots at random steps, the estimator of MM-SVRG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..draw import Draw
from ..errors import require_number
from .base import distinct
from .svrg import SVRG


@dataclass(frozen=True)
class LooplessSVRG(SVRG):
    """g_t = ∇f(x̃) + ∇f_I(x_t) − ∇f_I(x̃), with a new snapshot x̃ = x_t with probability q."""

    q: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("q", self.q, 0.0, 1.0, open_low=True)

    def spread(self, n: int) -> float:
        """√(1−q) / ((1−√(1−q)) √b): δ = E‖x − x̃‖² has δ⁺ ≤ (1−q)((1+β)δ + (1+1/β)‖x⁺ − x‖²), β = 1/√(1−q) − 1"""
        root = math.sqrt(1.0 - self.q)
        own = distinct(self.sampling, self.b_small, n)
        return own * root * (1.0 + root) / (self.q * math.sqrt(self.b_small))  # 1 − √(1−q) = q/(1 + √(1−q))

    def refresh(self, draw: Draw) -> bool:
        return draw.coin() < self.q
