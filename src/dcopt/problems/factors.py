"""The sum of a matrix factorisation: a component is a row of X, its gradient lies in one row of U and in all of V."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..draw import Draw, Sampling
from ..sums import SumBase
from ..xp import Array


class FactorBatch(NamedTuple):
    """f_B(Z) = (1/|B|) Σ_{i∈B} ½ ‖V u_i − a_i‖²"""

    sum: Factors
    rows: Array | None
    size: int

    def _parts(self, x: Array) -> tuple[Array, Array, Array]:
        """u_i, V and V u_i − a_i of the batch"""
        n = self.sum.n
        u, V, a = x[:n], x[n:], self.sum.a
        if self.rows is not None:
            u, a = u[self.rows], a[self.rows]
        return u, V, u @ V.T - a

    def _gather(self, per_row: Array, V: Array) -> Array:
        """The gradient in the shape of Z, from its part for every u_i (rows may repeat) and its part for V."""
        n = self.sum.n
        out = np.zeros((n + len(V), V.shape[1]), V.dtype)
        if self.rows is None:
            out[:n] = per_row
        else:
            np.add.at(out, self.rows, per_row)
        out[n:] = V
        out /= self.size
        return out

    def value_grad(self, x: Array) -> tuple[float, Array]:
        u, V, e = self._parts(x)
        return 0.5 * float(np.sum(e * e, dtype=np.float64)) / self.size, self._gather(e @ V, e.T @ u)

    def grad(self, x: Array) -> Array:
        u, V, e = self._parts(x)
        return self._gather(e @ V, e.T @ u)

    def diff(self, x: Array, prev: Array) -> Array:
        return self.grad(x) - self.grad(prev)

    def slopes(self, x: Array) -> Array:
        """(b, d + 1, rank): the part for u_i, then the part for V"""
        u, V, e = self._parts(x)
        return np.concatenate([(e @ V)[:, None, :], e[:, :, None] * u[:, None, :]], axis=1)

    def pull(self, c: Array) -> Array:
        return self._gather(c[:, 0], c[:, 1:].sum(axis=0))


@dataclass(frozen=True, eq=False)
class Factors(SumBase):
    """f(Z) = (1/N) Σ ½ ‖V u_i − a_i‖², Z = (U; V)"""

    a: Array
    rank: int

    @property
    def n(self) -> int:
        return int(self.a.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.a.shape), self.rank

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    def all(self) -> FactorBatch:
        return FactorBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> FactorBatch:
        return FactorBatch(self, draw.rows(self.n, int(b), sampling), int(b))
