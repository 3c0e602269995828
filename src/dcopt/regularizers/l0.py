"""At most k coefficients, as an exact penalty."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import require_count
from .top_k import TopK


@dataclass(frozen=True)
class L0(TopK):
    """r(x) = λ (|x|₁ - sum of the k largest |x_i|), for ‖x‖₀ ≤ k: 0 where at most k coefficients are not 0.

    A point x with k coefficients is a minimizer of f + r over all near points, for every λ > max |∇f(x)_j| over the
    others, where it is one of f over its own k coefficients. The estimators take such a λ, look for the k coefficients
    by steps of DCA and exchanges (`dcopt.fit.subset`), and have only the size k as a setting. In a problem of your own
    it is `TopK` with the λ that you give.
    """

    lam: float = 1.0
    k: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("k", self.k)
