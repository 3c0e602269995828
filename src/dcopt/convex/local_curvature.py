"""A G that the method chooses anew at every point."""

from __future__ import annotations

from dataclasses import dataclass

from .scaled_identity import ScaledIdentity


@dataclass(frozen=True)
class LocalCurvature(ScaledIdentity):
    """A marker: the local method makes G(v) = τ/2 ⟨v − x, Q_x (v − x)⟩ anew at every x; other code sees κ/2 ‖v‖².

    The gap is that of κ; the critical distance does not depend on G.
    """

    def shift(self, eta: float) -> LocalCurvature:
        return LocalCurvature(self.kappa + eta)
