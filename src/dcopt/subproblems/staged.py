"""Stochastic inner solvers with a schedule over the outer steps (Xu et al.): deterministic DCA outside."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..convex import Convex, Mean
from ..draw import Draw
from ..regularizers import Regularizer
from ..sums import Cost
from ..xp import Array
from .base import Inner, Solver, Subsolver
from .svrg import InnerSVRG


def _own_seed(draw: Draw) -> int:
    """The seed of the inner draws, a function of (seed, t), which differs from that of the outer draws."""
    return (0x9E3779B97F4A7C15 * (draw.seed + 1) + draw.t) % 2**64


@dataclass(frozen=True)
class StagedSVRG:
    """SSDC-SVRG: ⌈log₂(k+1)⌉ epochs of prox-SVRG in stage k, and one certificate of the result.

    The epochs are `InnerSVRG`'s, steps of 1/(3L) on batches for about a pass. That one halves the error is proven for
    steps of .05/L on single rows, 200 L/γ of them, which take longer. For the settings here it is an observation.
    """

    def at(self, draw: Draw) -> Subsolver:
        solver = InnerSVRG(epochs=math.ceil(math.log2(draw.t + 2)) + 1, seed=_own_seed(draw))
        # The schedule decides the number of epochs, not a tolerance.
        return lambda G, r, y, warm, tol: solver(G, r, y, warm=warm, tol=0.0)


@dataclass(frozen=True)
class StagedSPG:
    """SSDC-SPG: ⌈k/3⌉ + 1 stochastic proximal gradient steps in stage k."""

    gamma: float  # The strong convexity that is kept exact.
    b: int

    def at(self, draw: Draw) -> SPG:
        return SPG(self.gamma, self.b, math.ceil((draw.t + 1) / 3) + 1, _own_seed(draw))


@dataclass(frozen=True)
class SPG(Solver):
    """x_{s+1} = argmin ⟨v_s − y, x⟩ + γ/2 ‖x‖² + r1(x) + ‖x − x_s‖²/(2η_s),   η_s = 4/(γ s);   Σ s x_s / Σ s.

    v_s is a gradient of G − γ/2 ‖x‖² on b fresh rows. Nothing is certified here (residual = ∞): the method bounds
    the error of a stage in expectation, and the certificate of the run is recomputed at its end.
    """

    gamma: float
    b: int
    steps: int
    seed: int
    name = "spg"

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return isinstance(G, Mean) and G.mu >= self.gamma

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        assert isinstance(G, Mean)
        x = average = warm
        for s in range(1, self.steps + 1):
            v = G.sum.sample(self.b, Draw(self.seed, s)).grad(x) + (G.mu - self.gamma) * x
            rate = self.gamma * s / 4.0
            stiff = self.gamma + rate
            x = r.prox((rate * x - v + y) / stiff, 1.0 / stiff)
            # Rounding must not move x beyond a bound.
            average = x if s == 1 else average + (2.0 / (s + 1)) * (x - average)
        spent = self.steps * self.b
        return Inner(average, math.inf, self.steps, Cost(spent, spent))
