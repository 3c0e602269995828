"""The sum of a clustering: a component is the squared distance of a point to its nearest centre, smoothed or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..draw import Draw, Sampling
from ..sums import Facts, SumBase
from ..xp import Array

CHUNK = 8192  # Points whose distances are held at once: N k numbers need not fit into memory.


class NearestBatch(NamedTuple):
    """f_B(x) = (1/|B|) Σ_{i∈B} min_j ½ ‖x_j − a_i‖²"""

    sum: Nearest
    rows: Array | None
    size: int

    def value_grad(self, x: Array) -> tuple[float, Array]:
        total, g = 0.0, np.zeros(x.shape, np.float64)
        c = self.sum.centred(x)
        for a, half in self._pieces():
            values, many, added = self.sum.collected(c, a)
            total += float(np.sum(values + half, dtype=np.float64))
            g += many[:, None] * c - added
        return total / self.size, (g / self.size).astype(x.dtype, copy=False)

    def grad(self, x: Array) -> Array:
        return self.value_grad(x)[1]

    def diff(self, x: Array, prev: Array) -> Array:
        return self.grad(x) - self.grad(prev)

    def slopes(self, x: Array) -> Array:
        """The gradient of every component, (b, k, d)"""
        c = self.sum.centred(x)
        parts = [self.sum.shares(c, a)[0][:, :, None] * (c - a[:, None, :]) for a, _ in self._pieces()]
        return np.concatenate(parts)

    def pull(self, c: Array) -> Array:
        return np.asarray(c.sum(axis=0) / self.size)

    def _pieces(self) -> Iterator[tuple[Array, Array]]:
        """Points less their mean, and half their squared lengths"""
        a, half = self.sum.a, self.sum.half
        for start in range(0, self.size, CHUNK):
            part: Any = slice(start, start + CHUNK)
            if self.rows is not None:
                part = self.rows[part]
            yield a[part], half[part]


@dataclass(frozen=True, eq=False)
class Nearest(SumBase):
    """f(x) = (1/N) Σ min_j ½ ‖x_j − a_i‖², x (k, d);   smoothing T > 0:   −T log((1/k) Σ_j exp(−½ ‖x_j − a_i‖² / T))

    The points are kept less their mean, which keeps the digits of distances that are short beside it.
    """

    a: Array  # (N, d), less the mean
    mean: Array
    half: Array  # ½ ‖a_i‖²
    k: int
    smoothing: float = 0.0

    @property
    def n(self) -> int:
        return int(self.a.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        return self.k, int(self.a.shape[1])

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    def facts(self) -> Facts:
        """Curvature is bounded from above, by 1, alone: f has kinks where two centres are nearest, or nearly has."""
        return Facts(lower=0.0)

    def centred(self, x: Array) -> Array:
        return x - self.mean.astype(x.dtype, copy=False)

    def shares(self, c: Array, a: Array) -> tuple[Array, Array]:
        """How much of each point is given to each centre, (b, k), and the values less ½ ‖a_i‖²."""
        d = self._halves(c, a)
        if self.smoothing > 0.0:
            least = d.min(axis=1)
            e = np.exp((least[:, None] - d) / self.smoothing)
            s = e.sum(axis=1)
            return e / s[:, None], least - self.smoothing * np.log(s / self.k)
        own, i = d.argmin(axis=1), np.arange(len(d))
        shares = np.zeros_like(d)
        shares[i, own] = 1.0
        return shares, d[i, own]

    def collected(self, c: Array, a: Array) -> tuple[Array, Array, Array]:
        """Values less ½ ‖a_i‖², how many points each centre is given, and their sums"""
        import scipy.sparse as sp

        if self.smoothing > 0.0:
            shares, values = self.shares(c, a)
            return values, shares.sum(axis=0), shares.T @ a
        d = self._halves(c, a)
        own, i = d.argmin(axis=1), np.arange(len(d))
        many = np.bincount(own, minlength=self.k)
        given = sp.csc_array((np.ones(len(d), a.dtype), own, np.arange(len(d) + 1)), shape=(self.k, len(d)))
        return d[i, own], many, given @ a

    def _halves(self, c: Array, a: Array) -> Array:
        """½ ‖c_j − a_i‖² less ½ ‖a_i‖²"""
        return np.asarray(0.5 * np.einsum("ij,ij->i", c, c) - a @ c.T)

    def all(self) -> NearestBatch:
        return NearestBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> NearestBatch:
        return NearestBatch(self, draw.rows(self.n, int(b), sampling), int(b))
