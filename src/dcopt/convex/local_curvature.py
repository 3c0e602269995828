"""A G that the method chooses anew at every point."""

from __future__ import annotations

from dataclasses import dataclass

from .scaled_identity import ScaledIdentity


@dataclass(frozen=True)
class LocalCurvature(ScaledIdentity):
    """G(v) = τ/2 ⟨v − x, Q_x (v − x)⟩, Q_x the curvature of f at x, in steps; κ/2 ‖v‖² where a fixed one is asked for.

    The gap is that of κ; the critical distance does not depend on G.
    """

    def shift(self, eta: float) -> LocalCurvature:
        return LocalCurvature(self.kappa + eta)
