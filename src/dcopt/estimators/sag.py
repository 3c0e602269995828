"""SAG, the estimator of SDCA."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..draw import Draw
from ..sums import Sum
from ..xp import Array
from .base import Estimate, cost_of
from .saga import SAGA
from .table import Table, renew


@dataclass(frozen=True)
class SAG(SAGA):
    """g_t = ȳ, the mean of the table after the batch was renewed at x_t.

    `quadratic="inside"` is SDCA: ∇G is taken at x̄, the mean of the points of the last visits.
    """

    def spread(self, n: int) -> float:
        """√(1−q) / (1−√(1−q)): as for SAGA, but the error of rows that were not visited does not fall with b"""
        q = self.visits(n)
        root = math.sqrt(1.0 - q)
        return root * (1.0 + root) / q

    def step(self, f: Sum, x: Array, prev: Array, memory: Table, draw: Draw) -> Estimate:
        batch = f.sample(self.b, draw, self.sampling)
        table, _, _ = renew(memory, batch, x)
        return Estimate(table.mean, table, cost_of(batch), None if table.stale is None else table.stale.mean)
