"""The stochastic part: a mean of components of which batches are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from .data.rows import RowMatrix
from .draw import Draw, Sampling
from .losses import Loss
from .xp import Array, namespace


class Cost(NamedTuple):
    """Component gradients: honestly counted, and as the paper counts (a correction at two points once)."""

    gradients: int
    paper: int


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

    a: RowMatrix
    loss: Loss
    labels: Array
    weights: Array | None
    rows: Array | None
    size: int

    def value_grad(self, x: Array) -> tuple[float, Array]:
        z = self.a.dot(x, self.rows)
        values = self.loss.value(z, self.labels)
        if self.weights is not None:
            values = values * self.weights
        total = namespace(values).sum(values, dtype=namespace(values).float64)
        return float(total) / self.size, self.pull(self._slopes(z))

    def grad(self, x: Array) -> Array:
        return self.pull(self.slopes(x))

    def diff(self, x: Array, prev: Array) -> Array:
        s = self._slopes(self.a.pair(x, prev, self.rows))
        return self.pull(s[0] - s[1])

    def slopes(self, x: Array) -> Array:
        return self._slopes(self.a.dot(x, self.rows))

    def pull(self, c: Array) -> Array:
        return self.a.tdot(c, self.rows) / self.size

    def _slopes(self, z: Array) -> Array:
        s = self.loss.slope(z, self.labels)
        if self.weights is None:
            return s
        return s * (self.weights[:, None] if self.loss.labels == "class" else self.weights)


@dataclass(frozen=True, eq=False)
class LinearSum:
    """f(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i), with mean weight 1."""

    a: RowMatrix
    loss: Loss
    labels: Array
    weights: Array | None = None
    classes: tuple[int, ...] = ()  # (c,) for a loss of c numbers a row

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.a.shape[1], *self.classes)

    @property
    def dtype(self) -> Array:
        return self.a.dtype

    @property
    def n(self) -> int:
        return self.a.shape[0]

    def all(self) -> LinearBatch:
        return LinearBatch(self.a, self.loss, self.labels, self.weights, None, self.n)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> LinearBatch:
        rows = draw.rows(self.a.shape[0], b, sampling)
        weights = None if self.weights is None else self.weights.take(rows)
        return LinearBatch(self.a, self.loss, self.labels.take(rows), weights, rows, b)
