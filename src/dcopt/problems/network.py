"""Two-layer networks whose output weights are ±1: the parts of their losses, as sums and as a convex G."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..convex.base import OverComponents, inner
from ..draw import Draw, Sampling
from ..errors import require_number
from ..losses.base import expit
from ..sums import Facts, SumBase
from ..xp import Array
from .outer import Outer

CHUNK = 8192  # Rows whose hidden units are held at once.


class NetworkBatch(NamedTuple):
    """f_B(x) = (1/|B|) Σ_{i∈B} o(u_i, v_i, y_i) + μ/2 ‖x‖²"""

    sum: Network
    rows: Array | None
    size: int

    def values(self, x: Array) -> Array:
        """o(u_i, v_i, y_i)"""
        of = self.sum
        return np.concatenate([of.outer.value(*of.units(a @ x), y) for a, y in self._pieces()])

    def value_grad(self, x: Array) -> tuple[float, Array]:
        total, g, of = 0.0, np.zeros(x.shape, np.float64), self.sum
        for a, y in self._pieces():
            z = a @ x
            u, v = of.units(z)
            total += float(np.sum(of.outer.value(u, v, y), dtype=np.float64))
            g += a.T @ of.joined(*of.outer.slopes(u, v, y), expit(of.beta * z))
        return total / self.size + 0.5 * of.mu * inner(x, x), self._with_mu(g, x)

    def grad(self, x: Array) -> Array:
        return self.value_grad(x)[1]

    def diff(self, x: Array, prev: Array) -> Array:
        return self.grad(x) - self.grad(prev)

    def hess_dot(self, x: Array, v: Array) -> Array:
        """∇²f_B(x) v"""
        g, of = np.zeros(x.shape, np.float64), self.sum
        for a, y in self._pieces():
            z, dz = a @ x, a @ v
            s = expit(of.beta * z)
            units, moved = of.units(z), of.halves(s * dz)
            bent = of.joined(*of.outer.bend(*units, *moved), s)
            g += a.T @ (bent + of.joined(*of.outer.slopes(*units, y), of.beta * s * (1.0 - s) * dz))
        return self._with_mu(g, v)

    def slopes(self, x: Array) -> Array:
        """∂o/∂z of every component and hidden unit, (b, hidden): with μ > 0 they do not tell the gradient (`tables`)"""
        of = self.sum
        found = []
        for a, y in self._pieces():
            z = a @ x
            found.append(of.joined(*of.outer.slopes(*of.units(z), y), expit(of.beta * z)))
        return np.concatenate(found).astype(x.dtype, copy=False)

    def pull(self, c: Array) -> Array:
        a = self.sum.a if self.rows is None else self.sum.a[self.rows]
        return np.asarray(a.T @ c / self.size)

    def _with_mu(self, g: Array, x: Array) -> Array:
        return (g / self.size + self.sum.mu * x).astype(x.dtype, copy=False)

    def _pieces(self) -> Iterator[tuple[Array, Array]]:
        for start in range(0, self.size, CHUNK):
            part: Any = slice(start, start + CHUNK)
            if self.rows is not None:
                part = self.rows[part]
            yield self.sum.a[part], self.sum.y[part]


@dataclass(frozen=True, eq=False)
class Network(SumBase):
    """f(x) = (1/N) Σ o(u_i, v_i, y_i) + μ/2 ‖x‖², x (d, hidden), φ(t) = log(1 + e^βt) / β

    u_i is the sum of φ(⟨x_j, a_i⟩) over the first half of the columns x_j of x (one more where they are odd), v_i over
    the others.

    φ is convex and positive, and so are u and v. If o is convex and increasing in u and in v, f is convex.
    """

    a: Array  # (N, d), with a column of ones where there are intercepts
    y: Array
    hidden: int
    beta: float
    outer: Outer
    mu: float = 0.0

    @property
    def n(self) -> int:
        return int(self.a.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.a.shape[1]), self.hidden

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    @property
    def positive(self) -> int:
        """How many hidden units have the output weight +1."""
        return self.hidden - self.hidden // 2

    def halves(self, per_unit: Array) -> tuple[Array, Array]:
        """The sums over the units of each sign"""
        m = self.positive
        return per_unit[:, :m].sum(axis=1), per_unit[:, m:].sum(axis=1)

    def units(self, z: Array) -> tuple[Array, Array]:
        """u and v"""
        return self.halves(np.logaddexp(0.0, self.beta * z) / self.beta)

    def joined(self, on_u: Array, on_v: Array, per_unit: Array) -> Array:
        """Numbers for u and v, times what each unit has: the transpose of `halves`"""
        m, out = self.positive, np.empty_like(per_unit)
        out[:, :m] = on_u[:, None] * per_unit[:, :m]
        out[:, m:] = on_v[:, None] * per_unit[:, m:]
        return out

    def facts(self) -> Facts:
        return self._facts

    @cached_property
    def _facts(self) -> Facts:
        o = self.outer
        if math.isinf(o.slope) or math.isinf(o.curvature):
            return Facts(lower=o.lower, rho=self.mu if o.convex else 0.0, known_convex=o.convex, tables=self.mu == 0.0)
        c = self.bend_bound
        wide = c * math.sqrt(_top(self.a, np.einsum("ij,ij->i", self.a, self.a)))
        mean = c * _top(self.a, None)
        return Facts(
            lower=o.lower, rho=self.mu if o.convex else 0.0, L_H=mean + self.mu, L=wide + self.mu, L_v=wide,
            known_convex=o.convex, tables=self.mu == 0.0,
        )  # fmt: skip

    @property
    def bend_bound(self) -> float:
        """The curvature of o(u_i, v_i, y_i) in the predictions z: |o''| times the units, and |o'| φ''"""
        return self.hidden * self.outer.curvature + 0.25 * self.beta * self.outer.slope

    def all(self) -> NetworkBatch:
        return NetworkBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> NetworkBatch:
        return NetworkBatch(self, draw.rows(self.n, int(b), sampling), int(b))


def _top(a: Array, weights: Array | None) -> float:
    """λ_max of AᵀWA/N"""
    wide = a.astype(np.float64, copy=False)
    weighed = wide if weights is None else wide * weights.astype(np.float64)[:, None]
    return float(np.linalg.eigvalsh(wide.T @ weighed / len(a))[-1]) * (1.0 + 1e-10)


@dataclass(frozen=True, eq=False)
class NetworkMean(OverComponents):
    """G(x) = (1/N) Σ g(u_i, v_i, y_i) + μ/2 ‖x‖² of a `Network` whose outer function is convex and increasing"""

    sum: Network

    @property
    def rho(self) -> float:
        return self.sum.mu

    @property
    def L(self) -> float:
        known = self.sum.facts().L_H
        return math.inf if known is None else known

    def shift(self, eta: float) -> NetworkMean:
        require_number("eta", eta, 0.0)
        return NetworkMean(replace(self.sum, mu=self.sum.mu + eta))

    def value(self, x: Array) -> float:
        return self.sum.all().value_grad(x)[0]

    def grad(self, x: Array) -> Array:
        return self.sum.all().grad(x)

    def hess_dot(self, x: Array, v: Array) -> Array:
        return self.sum.all().hess_dot(x, v)

    def bregman(self, x: Array, y: Array) -> float:
        """Component by component, which loses less to cancellation than the difference of the means."""
        flat, h = replace(self.sum, mu=0.0).all(), x - y
        rise = float(np.mean(flat.values(x) - flat.values(y)))
        return rise - inner(flat.grad(y), h) + 0.5 * self.sum.mu * inner(h, h)
