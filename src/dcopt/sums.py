"""The stochastic part: a mean of components of which batches are seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from .data.rows import RowMatrix
from .draw import Draw, Sampling
from .fused import Fused, fused
from .losses import Loss
from .remembered import Chances, Grams, Recent
from .xp import Array, namespace


class Cost(NamedTuple):
    """Component gradients: honestly counted, and as the paper counts (a correction at two points once)."""

    gradients: int
    paper: int

    def plus(self, more: Cost) -> Cost:
        return Cost(self.gradients + more.gradients, self.paper + more.paper)


class Batch(Protocol):
    """Some of the components f_i (or h_i). All results are means over the batch."""

    @property
    def size(self) -> int: ...

    @property
    def rows(self) -> Array | None:
        """None: all rows, or samples without identity (a stream)."""

    def grad(self, x: Array) -> Array:
        """∇f_B(x)"""

    def diff(self, x: Array, prev: Array) -> Array:
        """∇f_B(x) − ∇f_B(prev), both on the same components"""

    def value_grad(self, x: Array) -> tuple[float, Array]:
        """f_B(x) and ∇f_B(x) in one pass"""

    def slopes(self, x: Array) -> Array:
        """What a table must remember of each component at x: `pull` makes gradients of it"""

    def pull(self, c: Array) -> Array:
        """The linear map from remembered slopes to the mean gradient: grad(x) = pull(slopes(x))"""


class Sum(Protocol):
    """The mean of n components, or of endlessly many (n is None)."""

    @property
    def n(self) -> int | None: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x."""

    @property
    def dtype(self) -> Array: ...

    def all(self) -> Batch:
        """Every component once; a stream raises NeedsFiniteSum."""

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Batch:
        """b components, a function of `draw`."""


class LinearBatch(NamedTuple):
    """f_B(x) = (1/|B|) Σ_{i∈B} w_i φ(⟨a_i, x⟩, label_i)"""

    sum: LinearSum
    rows: Array | None
    size: int

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return self.look(x)[1:]

    def look(self, x: Array) -> tuple[Array, float, Array]:
        """z = A x, f_B(x) and ∇f_B(x)"""
        if (fused := self._fused) is not None:
            z, values, g = fused.look(x, self.size)
            return z, self._mean(values), g / self.size
        seen: dict[tuple[int, int], Array] = {}  # by place: pieces come in any order, and may be empty

        def slopes(z: Array, start: int, stop: int | None) -> Array:
            seen[start, len(z)], s = self._both(z, start, stop)
            return s

        z, g = self._through(x, slopes)
        values = [seen[place] for place in sorted(seen)]
        return z, self._mean(values[0] if len(values) == 1 else namespace(z).concat(values)), g

    def grad(self, x: Array) -> Array:
        if (fused := self._fused) is not None:
            return fused.look(x, 0)[2] / self.size
        return self._through(x, self.slopes_at)[1]

    @property
    def _fused(self) -> Fused | None:
        """Who looks at all rows in one compiled pass, where that is possible and they are many."""
        fused = self.sum.fused if self.rows is None else None
        return fused if fused is not None and fused.large else None

    def _mean(self, values: Array) -> float:
        xp = namespace(values)
        return float(xp.sum(values, dtype=xp.float64)) / self.size

    def _through(self, x: Array, of: Callable[[Array, int, int | None], Array]) -> tuple[Array, Array]:
        """z = A x and (1/|B|) Aᵀ of(z); all rows are read once where the storage can, and `of` is asked in pieces."""
        a = self.sum.a
        if self.rows is None and hasattr(a, "through"):
            z, g = a.through(x, of)
            return z, g / self.size
        z = a.dot(x, self.rows)
        return z, self.pull(of(z, 0, None))

    def diff(self, x: Array, prev: Array) -> Array:
        if self.rows is not None and self.sum.fused is not None:  # the same numbers from one compiled pass
            return self.sum.fused.diff(self.rows, x, prev)
        s = self.slopes_at(self.sum.a.pair(x, prev, self.rows))
        return self.pull(s[0] - s[1])

    def slopes(self, x: Array) -> Array:
        return self.slopes_at(self.sum.a.dot(x, self.rows))

    def pull(self, c: Array) -> Array:
        return self.sum.a.tdot(c, self.rows) / self.size

    def slopes_at(self, z: Array, start: int = 0, stop: int | None = None) -> Array:
        """φ'(z) of the components from start to stop, in the order of the batch"""
        s, w = self.sum.loss.slope(z, self.mine(self.sum.labels)[start:stop]), self._weights(start, stop)
        return s if w is None else s * self._wide(w)

    def _both(self, z: Array, start: int, stop: int | None) -> tuple[Array, Array]:
        """φ(z) and φ'(z), likewise"""
        values, s = self.sum.loss.both(z, self.mine(self.sum.labels)[start:stop])
        w = self._weights(start, stop)
        return (values, s) if w is None else (values * w, s * self._wide(w))

    def _weights(self, start: int, stop: int | None) -> Array | None:
        return None if self.sum.weights is None else self.mine(self.sum.weights)[start:stop]

    def _wide(self, w: Array) -> Array:
        return w[:, None] if self.sum.loss.labels == "class" else w

    def mine(self, a: Array) -> Array:
        """The entries of a that belong to the rows of the batch."""
        return a if self.rows is None else namespace(a).take(a, self.rows, axis=0)


@dataclass(frozen=True, eq=False)
class LinearSum:
    """f(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i), with mean weight 1."""

    a: RowMatrix
    loss: Loss
    labels: Array
    weights: Array | None = None
    classes: tuple[int, ...] = ()  # (c,) for a loss of c numbers a row

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # a copy remembers nothing

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.a.shape[1], *self.classes)

    @property
    def dtype(self) -> Array:
        return self.a.dtype

    @property
    def n(self) -> int:
        return self.a.shape[0]

    @cached_property
    def fused(self) -> Fused | None:
        """Loss and rows compiled together, where they allow it."""
        return fused(self.a, self.loss, self.labels, self.weights)

    @cached_property
    def recent(self) -> Recent:
        """A memory of one point."""
        return Recent(self)

    @cached_property
    def grams(self) -> Grams | None:
        """A memory of Gram matrices, where they do not depend on x."""
        return Grams(self) if self.loss.labels != "class" and len(set(self.loss.curvature)) == 1 else None

    @cached_property
    def chances(self) -> Chances:
        """Which rows importance sampling draws."""
        return Chances.of(self)

    @cached_property
    def sizes(self) -> Array:
        """w_i ‖a_i‖², from one look at the rows"""
        norms = self.a.norms2()
        return norms if self.weights is None else norms * self.weights

    @cached_property
    def widths(self) -> Array | None:
        """(1/N) Σ_i w_i a_ij² of every column j; None if the matrix does not show its entries"""
        from .data.entries import column_sizes

        sizes = column_sizes(self.a, self.weights)
        return None if sizes is None else sizes / self.n

    @cached_property
    def means(self) -> Array:
        """(1/N) Σ_i w_i a_ij of every column j"""
        weights = np.ones(self.n) if self.weights is None else np.asarray(self.weights, np.float64)
        return np.asarray(self.a.tdot(weights.astype(self.dtype)), np.float64) / self.n

    @cached_property
    def bound(self) -> float:
        """sup|φ''| (1/N) Σ w_i ‖a_i‖² / d: the mean of the diagonal of a matrix that majorizes ∇²f everywhere."""
        low, high = self.loss.curvature
        return max(high, -low) * float(np.mean(self.sizes)) / self.a.shape[1]

    def part(self, seed: int, share: float) -> LinearSum:
        """The mean over the rows i with u_i < share; the last one is kept."""
        kept = self.__dict__.get("_part")
        if kept is None or kept[0] != (seed, share):
            rows = np.flatnonzero(Draw(seed, 0).each(self.n) < share)
            kept = self.__dict__["_part"] = ((seed, share), self.take(rows if len(rows) else np.zeros(1, np.int64)))
        found: LinearSum = kept[1]
        return found

    def take(self, rows: Array) -> LinearSum:
        """The mean over the given rows, as a sum of its own."""
        batch = LinearBatch(self, rows, len(rows))
        weights = None if self.weights is None else batch.mine(self.weights)
        return LinearSum(self.a.take(rows), self.loss, batch.mine(self.labels), weights, self.classes)

    def all(self) -> LinearBatch:
        return LinearBatch(self, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> LinearBatch:
        b = int(b)  # a NumPy uint8 would wrap in the counts
        if sampling == "importance":
            return LinearBatch(self.chances.f, self.chances.rows(draw.numbers(b)), b)
        return LinearBatch(self, draw.rows(self.n, b, sampling), b)
