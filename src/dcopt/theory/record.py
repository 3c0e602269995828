"""The contents of a plan: the choices, the constants and conditions behind them, and the cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..estimators import PAGE
from ..problem import Problem
from .origins import Named

if TYPE_CHECKING:
    from .compare import Comparison

Measure: TypeAlias = Literal["gap", "criticality"]


class Condition(NamedTuple):
    """A condition with its numbers on both sides."""

    name: str
    left: float
    sign: str
    right: float
    holds: bool | None  # None: not known

    def __str__(self) -> str:
        verdict = "NOT CERTIFIED" if self.holds is None else "holds" if self.holds else "VIOLATED"
        return f"{self.name}: {self.left:.4g} {self.sign} {self.right:.4g} {verdict}"


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """DCA-PAGE for an accuracy ε: settings, reasons and cost. `print(plan)` explains them."""

    P: Problem  # The problem with the plan's κ.
    mode: str
    setting: str
    measure: Literal["gap", "criticality"]
    eps: float
    constants: Named
    conditions: tuple[Condition, ...]
    remarks: tuple[str, ...]
    b: int | None  # None: all N.
    b_small: int
    p: float
    gamma: float
    kappa: float | None
    eta: float  # The amount that was added to κ.
    a: float | None  # The descent coefficient; None if it is not part of this theorem.
    T: int
    D0: float
    x0: Any = None  # The point at which D0 and sigma were computed; None: zeros.
    tau: float | None = None  # The τ of a G that majorizes f, where the theorem applies in its metric.
    omega: float = 0.0  # Programs are solved to residuals of at most ω ‖x_t − x_{t−1}‖ …
    floor: float = 0.0  # … or ζ, where that is more. Both 0: a formula solves them.

    def __repr__(self) -> str:
        return f"Plan({self.mode}, {self.setting}, E {self.measure} <= {self.eps:g}, T={self.T}, {self.estimator!r})"

    @property
    def violated(self) -> tuple[str, ...]:
        """The conditions that do not hold: with any of them, T carries no guarantee."""
        return tuple(c.name for c in self.conditions if c.holds is False)

    @property
    def uncertified(self) -> tuple[str, ...]:
        """The conditions of which nothing is known all along the path."""
        return tuple(c.name for c in self.conditions if c.holds is None)

    @property
    def estimator(self) -> PAGE:
        return PAGE(p=self.p, b_small=self.b_small, b=self.b)

    @property
    def batch(self) -> int:
        """b as a number."""
        return self.b if self.b is not None else int(self.P.n or 0)

    @property
    def gradients(self) -> float:
        """Expected component gradients, each counted: b + (T−1)(p b + 2(1−p) b')."""
        return self.batch + (self.T - 1) * (self.p * self.batch + 2 * (1 - self.p) * self.b_small)

    @property
    def paper_gradients(self) -> float:
        """As the paper counts: b + T (p b + (1−p) b')."""
        return self.batch + self.T * (self.p * self.batch + (1 - self.p) * self.b_small)

    @property
    def bytes(self) -> int:
        """Memory beside the data: vectors of x's shape, one block of draws, the numbers of one batch."""
        item = int(np.dtype(self.P.dtype).itemsize)
        wide = math.prod(self.P.shape[1:])
        vectors = 10 * math.prod(self.P.shape) * item
        return vectors + 8 * 64 * self.b_small + 4 * item * wide * max(self.batch, 2 * self.b_small)

    @property
    def output(self) -> Literal["uniform", "uniform-before"]:
        """The output to which the theorem applies: one of x_1 … x_T (criticality), or of x_0 … x_{T−1} (gap)."""
        return "uniform" if self.measure == "criticality" else "uniform-before"

    def compare(self) -> Comparison:
        """Table I with numbers: what the theory predicts for each method on this problem and ε."""
        from .compare import compare

        return compare(self)

    def __str__(self) -> str:
        from .prose import paragraph

        return paragraph(self)
