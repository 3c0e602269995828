"""The base of quadratics that majorize a loss over given rows."""

from __future__ import annotations

import math
from abc import abstractmethod

from ..sums import SumOverRows
from ..theory.formulas import steady
from .base import Part


class Majorizer(Part):
    """G(x) = τ/2 ⟨x, Qx⟩, −Q ⪯ ∇²f ⪯ Q everywhere, τ ≥ 1: G − f is convex, whatever ρ and L̄ say.

    The theorems hold in the metric ‖x‖² = ⟨x, Qx⟩ (⟨e, Q⁻¹e⟩ for errors of gradients), by a change of variables. There
    κ = τ and L̄ ≤ 1.
    """

    tau: float

    def __repr__(self) -> str:
        return f"{type(self).__name__}({(self.shape or ('any',))[0]} features, tau={self.tau:.6g})"

    @abstractmethod
    def scaled(self, by: float) -> Majorizer:
        """The same majorizer with τ multiplied by `by`."""

    @abstractmethod
    def spread(self, f: SumOverRows) -> float:
        """λ_max((τQ)⁻¹ (1/N) Σ w_i² |a_i|² a_i a_iᵀ),  |a|² = ⟨a, (τQ)⁻¹a⟩"""

    def steady(self, f: SumOverRows, s: float) -> Majorizer:
        """A majorizer with a τ for which an estimator of spread s descends: itself if its τ is large enough."""
        tau = self.tau if s == 0.0 else steady(s * self.tau * variance_smoothness(f, self))
        return self if tau <= self.tau * (1 + 1e-6) else self.scaled(tau / self.tau)


def variance_smoothness(f: SumOverRows, G: Majorizer) -> float:
    """E‖(∇f_i(x) − ∇f_i(y)) − (∇f(x) − ∇f(y))‖²_{Q⁻¹} ≤ ℓ²‖x − y‖²_Q,  ℓ² = s² λ_max(Q⁻¹ (1/N) Σ w_i² |a_i|² a_i a_iᵀ).

    |a|² = ⟨a, Q⁻¹a⟩: L_v in the metric of G = ½ ⟨x, Qx⟩, with τ it falls like 1/τ. For a Gram matrix it is at least the
    root of its rank; √N where a row has a column to itself.
    """
    return max(f.loss.curvature[1], -f.loss.curvature[0]) * math.sqrt(max(0.0, G.spread(f)))
