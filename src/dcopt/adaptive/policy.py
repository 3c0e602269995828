"""The numbers that decide how κ is adapted. docs/policies.md says what was measured, and which test holds each."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import require, require_number


@dataclass(frozen=True)
class Adaptive:
    """How κ (in problem (M) the shift η) follows what a run sees.

    Between two points with known F, the steps promised to lower F by Σ κ‖Δ‖²; q is the share that came true. κ is
    multiplied by (1 − q)/(1 − target), between 1/factor and factor.
    """

    target: float = 0.75  # the share q that κ is steered to
    sigma: float = 0.1  # the share below which the last good point is restored
    factor: float = 2.0  # the most by which one test changes κ
    window: float = 3.0  # passes between two tests, at most; the first window is one pass, and each may double
    margin: float = 8.0  # the first κ, in units of the curvature of f along the first step
    first: float = 1.0  # the κ at which the search for the first one begins

    def __post_init__(self) -> None:
        require_number("target", self.target, 0.0, 1.0, open_low=True)
        require(self.target < 1.0, "target", self.target, "a number below 1: no step keeps all that it promises")
        require_number("sigma", self.sigma, 0.0, self.target, open_low=True)
        require_number("factor", self.factor, 1.0, open_low=True)
        require_number("window", self.window, 0.0, open_low=True)
        require_number("margin", self.margin, 1.0)
        require_number("first", self.first, 0.0, open_low=True)

    def ratio(self, q: float) -> float:
        """What κ is multiplied by after a window in which the share q of its promise came true."""
        return min(max((1.0 - q) / (1.0 - self.target), 1.0 / self.factor), self.factor)
