"""SAGA, the estimator of MM-SAGA and (quadratic inside) of DCA-SAGA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..draw import Draw, Sampling
from ..errors import pick
from ..sums import Cost, Sum
from ..theory.formulas import table_spread, visits
from ..xp import Array
from .base import Estimate, check_batch, check_sampling, cost_of, distinct, needs_finite_sum
from .table import Table, first_table, renew


@dataclass(frozen=True)
class SAGA:
    """g_t = ȳ + (1/b) Σ_{i∈I} (∇f_i(x_t) − y_i), y_i the gradient at the last visit of i and ȳ their mean.

    `quadratic="inside"` applies the estimator to h_i = G − f_i: the point at which ∇G is taken is then estimated
    in the same way, x̄ + (1/b) Σ (x_t − φ_i). That is DCA-SAGA; "outside" keeps ∇G(x_t) exact and is MM-SAGA.
    """

    b: int
    quadratic: Literal["inside", "outside"] = "outside"
    sampling: Sampling = "iid"

    def __post_init__(self) -> None:
        check_batch("b", self.b, None)
        pick("quadratic", self.quadratic, ("inside", "outside"))
        check_sampling(self.sampling)

    def check(self, n: int | None) -> None:
        needs_finite_sum(self, n)
        check_batch("b", self.b, n)

    def visits(self, n: int) -> float:
        """q: the probability that a step visits a given row"""
        return visits(n, self.b) if self.sampling == "iid" else self.b / n

    def spread(self, n: int) -> float:
        """1 / ((1−√(1−q)) √b): δ, the mean of ‖∇f_i(x) − y_i‖², has δ⁺ ≤ (1+β)(1−q)δ + (1+1/β) L_v²‖x⁺ − x‖²"""
        return distinct(self.sampling, self.b, n) * table_spread(self.visits(n), self.b)

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        table = first_table(f, x, inside=self.quadratic == "inside")
        n = table.slopes.shape[0]
        return Estimate(table.mean, table, Cost(n, n))

    def step(self, f: Sum, x: Array, prev: Array, memory: Table, draw: Draw) -> Estimate:
        batch = f.sample(self.b, draw, self.sampling)
        table, correction, drift = renew(memory, batch, x)
        at = None if memory.stale is None else memory.stale.mean + drift
        return Estimate(memory.mean + correction, table, cost_of(batch), at)
