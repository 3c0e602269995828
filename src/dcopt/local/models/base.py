"""What a model of f on the working set is."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...subproblems.parts import Parts
from ...sums.curvature import Curvature


class Model(Protocol):
    """½ ⟨d, Qd⟩, Q = C + μR ⪰ μR ≻ 0 with the curvature C of f on the working set, d (m, k)."""

    def quad(self, d: NDArray[Any]) -> float:
        """⟨d, Qd⟩"""

    def ridge_quad(self, d: NDArray[Any]) -> float:
        """⟨d, μRd⟩"""

    def minimize(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩, to a distance of about tol"""

    def shorter(
        self, tau: float, step: NDArray[Any], x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float
    ) -> NDArray[np.float64]:
        """A step that descends by τ/2 ⟨·, Q·⟩ of itself where τQ majorizes f along it; `step` is that of τ = 1."""

    def minus_negative(self, C: Curvature, columns: NDArray[np.int64], shares: tuple[float, ...]) -> Model | None:
        """Q − θE, E what C has more than ∇²f; θ is the first share for which that is positive definite; None if there
        is none
        """

    def minus_penalty_curvature(
        self, r2_bend: NDArray[Any], x: NDArray[Any], shares: tuple[float, ...]
    ) -> Model | None:
        """Q − θE, E the curvature of r2 at x, `r2_bend` as `PenaltyOnWorkingSet.r2_bend` gives it in two shapes:

        - (m, k), a number for every entry of x: E = diag(r2_bend);
        - (m,), a number for every row: E has the blocks r2_bend_j x_j x_jᵀ/|x_j|².

        θ is the first share for which Q − θE is positive definite; None if there is none.
        """
