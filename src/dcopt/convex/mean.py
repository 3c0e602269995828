"""G(x) = (1/N) Σ φ(⟨a_i, x⟩, label_i) + μ/2 ‖x‖²: a convex part that is itself a sum over the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..data.rows import gram
from ..errors import require, require_number
from ..sums import LinearSum, SumOverRows
from ..sums.constants import Smoothness
from ..xp import Array, namespace
from .base import Part, columns_of_hessian, inner


@dataclass(frozen=True, eq=False)
class Mean(Part):
    """G(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i) + μ/2 ‖x‖².

    The loss is convex, or μ ≥ m_f, where −m_f is the least curvature of the mean, compensates for its curvature.
    """

    sum: SumOverRows
    mu: float = 0.0
    columns = False  # The loss decides whether x is (d,) or (d, c).

    def __post_init__(self) -> None:
        require_number("mu", self.mu, 0.0)
        object.__setattr__(self, "mu", float(self.mu))
        low = self.sum.loss.curvature[0]
        if low < 0.0:
            least = self.smoothness.m_f
            require(self.mu >= least * (1 - 1e-12), "mu", self.mu, f"at least {least:.6g}: G must be convex")

    @cached_property
    def smoothness(self) -> Smoothness:
        return self.sum.smoothness()

    @property
    def rho(self) -> float:
        """μ − m_f. The strong convexity that the rows add is not counted"""
        low = self.sum.loss.curvature[0]
        return self.mu if low >= 0.0 else max(0.0, self.mu - self.smoothness.m_f)

    @property
    def L(self) -> float:
        return math.inf if self.sum.loss.curvature[1] == math.inf else self.smoothness.Lbar + self.mu

    @property
    def L_component(self) -> float:
        """Smoothness of every component φ(⟨a_i, ·⟩) by itself"""
        return math.inf if self.sum.loss.curvature[1] == math.inf else self.smoothness.L_f

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sum.shape

    @property
    def components(self) -> int:
        return self.sum.n

    def shift(self, eta: float) -> Mean:
        require_number("eta", eta, 0.0)
        return Mean(self.sum, self.mu + eta)

    def value(self, x: Array) -> float:
        return float(self.sum.total(_values, x)) / self.sum.n + 0.5 * self.mu * inner(x, x)

    def grad(self, x: Array) -> Array:
        return self.sum.all().grad(x) + self.mu * x

    def hess_dot(self, x: Array, v: Array) -> Array:
        """Aᵀ (φ''(Ax) ∘ Av) / N + μ v; for softmax diag(p) − ppᵀ in place of φ''"""
        return self.sum.total(_bent, x, v) / self.sum.n + self.mu * v

    def hessian(self, x: Array) -> NDArray[np.float64]:
        """Aᵀ diag(φ''(Ax)) A / N + μI, for x (d,); column by column for more classes"""
        f = self.sum
        if f.loss.wide:
            return columns_of_hessian(self, x)
        return np.asarray(f.total(_bent_gram, x) / f.n + self.mu * np.eye(x.size))

    def bregman(self, x: Array, y: Array) -> float:
        """Row by row, (1/N) Σ w_i D_φ(⟨a_i, x⟩, ⟨a_i, y⟩) + μ/2 ‖x − y‖²"""
        h = x - y
        return float(self.sum.total(_distances, x, y)) / self.sum.n + 0.5 * self.mu * inner(h, h)


# Of one part of the sum, sums over its rows.


def _weighted(f: LinearSum, rows: Array) -> float:
    xp = namespace(rows)
    return float(xp.sum(rows if f.weights is None else rows * f.weights, dtype=xp.float64))


def _values(f: LinearSum, x: Array) -> float:
    return _weighted(f, f.loss.value(f.a.dot(x), f.labels))


def _bent(f: LinearSum, x: Array, v: Array) -> Array:
    z, t = f.a.dot(x), f.a.dot(v)
    if f.loss.wide:
        c = _softmax_bend(z, t) if f.loss.labels == "class" else t
        return f.a.tdot(c if f.weights is None else c * f.weights[:, None])
    c = f.loss.bend(z, f.labels) * t
    return f.a.tdot(c if f.weights is None else c * f.weights)


def _bent_gram(f: LinearSum, x: Array) -> Array:
    bend = f.loss.bend(f.a.dot(x), f.labels)
    return gram(f.a, bend if f.weights is None else bend * f.weights, np.arange(f.shape[0]))


def _distances(f: LinearSum, x: Array, y: Array) -> float:
    one, two, t = f.a.dot(x), f.a.dot(y), f.a.dot(x - y)
    linear = f.loss.slope(two, f.labels) * t
    if linear.ndim == 2:
        linear = namespace(linear).sum(linear, axis=-1)
    return _weighted(f, f.loss.value(one, f.labels) - f.loss.value(two, f.labels) - linear)


def _softmax_bend(z: Array, t: Array) -> Array:
    """(diag(p) − ppᵀ) t per row, p = softmax(z)"""
    xp = namespace(z)
    p = xp.exp(z - xp.max(z, axis=-1, keepdims=True))
    p = p / xp.sum(p, axis=-1, keepdims=True)
    return p * (t - xp.sum(p * t, axis=-1, keepdims=True))
