"""Where the laws of an estimator look: sums of four rows, and doubles of them that count, hide or repeat rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.dense import DenseRows
from ..draw import Draw, Sampling
from ..errors import NeedsFiniteSum
from ..losses.base import Loss
from ..losses.softmax import Softmax
from ..losses.squared_sigmoid import SquaredSigmoid
from ..sums import Batch, LinearSum, SumBase
from ..sums.base import Around
from ..xp import Array

N = 4


class Counting(Loss):
    """A loss that counts the rows at which its slope was asked for, at each of the points."""

    def __init__(self, of: Loss) -> None:
        self.of, self.seen = of, 0
        self.labels = of.labels  # type: ignore[misc]  # as the instance says

    @property
    def curvature(self) -> tuple[float, float]:
        return self.of.curvature

    def value(self, z: Array, labels: Array) -> Array:
        return self.of.value(z, labels)

    def slope(self, z: Array, labels: Array) -> Array:
        self.seen += math.prod(z.shape[:-1] if self.of.wide else z.shape)
        return self.of.slope(z, labels)

    def bend(self, z: Array, labels: Array) -> Array:
        return self.of.bend(z, labels)


@dataclass(frozen=True, eq=False)
class Watched(Around):
    """A sum that counts the rows evaluated in each batch; the same draw twice is one batch."""

    of: LinearSum
    drawn: dict[Any, tuple[int, Counting]] = field(default_factory=dict)

    def all(self) -> Batch:
        return self._watch("all", self.of.n).all()

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Batch:
        return self._watch((b, sampling), b).sample(b, draw, sampling)

    def _watch(self, name: Any, size: int) -> LinearSum:
        return replace(self.of, loss=self.drawn.setdefault(name, (size, Counting(self.of.loss)))[1])

    def seen(self) -> tuple[int, int]:
        """Rows evaluated since the last call: every time, and once for each batch."""
        used = [(size, loss.seen) for size, loss in self.drawn.values() if loss.seen]
        self.drawn.clear()
        return sum(count for _, count in used), sum(size for size, _ in used)


@dataclass(frozen=True, eq=False)
class Stream(SumBase):
    """Samples without identity, endlessly many: here the rows of `of`, in secret."""

    of: LinearSum
    n: None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.of.shape

    @property
    def dtype(self) -> Array:
        return self.of.dtype

    def all(self) -> Batch:
        raise NeedsFiniteSum("a law's estimator")

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Batch:
        return self.of.take(draw.rows(self.of.n, b, sampling)).all()


def sums(n: int = N, dtype: Any = np.float64) -> list[LinearSum]:
    """n weighted rows of a loss that is not convex, x is (3,); n rows of three classes, x is (3, 3)."""
    draw = np.random.default_rng(n)
    a = (draw.normal(size=(n, 3)) * np.geomspace(0.5, 4.0, n)[:, None]).astype(dtype)
    sign, weights = np.where(np.arange(n) % 2, 1.0, -1.0), np.linspace(0.5, 1.5, n) if n > 1 else np.ones(1)
    two = LinearSum(DenseRows(a), SquaredSigmoid(), sign.astype(dtype), weights.astype(dtype))
    return [two, LinearSum(DenseRows(a), Softmax(), np.arange(n) % 3, None, (3,))]


def chosen(f: LinearSum, rows: Array) -> LinearSum:
    """The sum of the given rows alone."""
    return replace(f, a=f.a.take(rows), labels=f.labels[rows], weights=None if f.weights is None else f.weights[rows])


def points(f: LinearSum, count: int) -> list[Array]:
    """A path with long and short steps."""
    draw = np.random.default_rng(7)
    path = [draw.normal(size=f.shape)]
    for k in range(count - 1):
        path.append(path[-1] + (0.7, 0.05, 0.3, 0.002)[k % 4] * draw.normal(size=f.shape))
    return [x.astype(f.dtype) for x in path]


def gradients(f: LinearSum, x: Array) -> Array:
    """∇f_i(x) = w_i φ'(⟨a_i, x⟩) a_i for every i, as plain vectors (n, d) or matrices (n, d, c)."""
    a = f.a.dot(np.eye(f.shape[0], dtype=f.dtype))
    slopes = f.loss.slope(a @ x, f.labels)
    w = np.ones(f.n) if f.weights is None else f.weights
    return np.einsum("i,ij,i...->ij...", w, a, slopes)


def variance_smoothness2(f: LinearSum) -> float:
    """L_v² = sup|φ''|² λ_max((1/N) Σ w_i² ‖a_i‖² a_i a_iᵀ)"""
    a = f.a.dot(np.eye(f.shape[0]))
    w = np.ones(f.n) if f.weights is None else f.weights
    spread = (a * (w**2 * np.sum(a * a, axis=1))[:, None]).T @ a / f.n
    return float(max(map(abs, f.loss.curvature)) ** 2 * np.linalg.eigvalsh(spread)[-1])
