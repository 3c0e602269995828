"""The sum of matrix completion: a component is one observed entry of X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..draw import Draw, Sampling
from ..sums import Facts, SumBase
from ..sums.constants import Smoothness
from ..xp import Array


class ObservedBatch(NamedTuple):
    """f_B(X) = (1/|B|) Σ_{e∈B} ½ (X_ij − v_e)², (i, j) the place of e"""

    sum: Observed
    rows: Array | None
    size: int

    def _mine(self, a: Array) -> Array:
        return a if self.rows is None else a[self.rows]

    def value_grad(self, x: Array) -> tuple[float, Array]:
        e = self.slopes(x)
        return 0.5 * float(np.sum(e * e, dtype=np.float64)) / self.size, self.pull(e)

    def grad(self, x: Array) -> Array:
        return self.pull(self.slopes(x))

    def diff(self, x: Array, prev: Array) -> Array:
        places = self._mine(self.sum.places)
        return self.pull(x.reshape(-1)[places] - prev.reshape(-1)[places])

    def slopes(self, x: Array) -> Array:
        """The residuals X_ij − v_e"""
        return np.asarray(x.reshape(-1)[self._mine(self.sum.places)] - self._mine(self.sum.values))

    def pull(self, c: Array) -> Array:
        """Σ c_e E_ij / |B|; a component that was drawn twice counts twice."""
        out = np.bincount(self._mine(self.sum.places), weights=c, minlength=self.sum.entries) / self.size
        return out.reshape(self.sum.shape).astype(c.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class Observed(SumBase):
    """f(X) = (1/N) Σ ½ (X_ij − v_e)² over N different places (i, j) of X (m, n), numbered i n + j."""

    places: Array
    values: Array
    shape: tuple[int, int]

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    def all(self) -> ObservedBatch:
        return ObservedBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> ObservedBatch:
        return ObservedBatch(self, draw.rows(self.n, int(b), sampling), int(b))

    def facts(self) -> Facts:
        s = self.smoothness()
        return Facts((0.0, 1.0), True, 0.0, L_H=s.Lbar, L=s.L_v, L_v=s.L_v)

    def smoothness(self) -> Smoothness:
        """∇²f is 1/N at an observed entry, and E‖∇f_e(X) − ∇f_e(Y)‖² = (1/N) Σ (X_ij − Y_ij)² ≤ ‖X − Y‖²/N."""
        n = float(self.n)
        return Smoothness(L_f=1.0, Lbar=1.0 / n, L_v=n**-0.5, m_f=0.0, m_i=0.0)
