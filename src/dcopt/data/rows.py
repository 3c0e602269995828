"""The interface of storage: what a row matrix must provide, and what it may declare besides. Rows are the a_i."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..xp import Array, namespace

_GRAM_BLOCK = 64  # The number of columns whose products A e_j are computed at once.


class OnePass(Protocol):
    """z = A x and Aᵀ of(z) in one pass over the rows: of(z[start:stop], start, stop) treats every row alike."""

    def __call__(self, x: Array, of: Callable[[Array, int, int], Array]) -> tuple[Array, Array]: ...


class Pair(Protocol):
    """(A[rows] x, A[rows] prev), stacked: (2, m) or (2, m, c), in one pass over the rows."""

    def __call__(self, x: Array, prev: Array, rows: Array | None = None) -> Array: ...


class Gram(Protocol):
    """Σ_i w_i a_i a_iᵀ over the given columns (in increasing order), in float64."""

    def __call__(self, weights: Array | None, columns: Array) -> Array: ...


class RoughGram(Protocol):
    """An approximate Gram matrix, for a metric: of some rows and in float32, where the exact one would cost more."""

    def rough_weights(self, weights: Array | None, k: int, rows: int) -> Array | None:
        """Weights of a sample that stands for all rows, and 0 for the others: `rows` rows for each of k columns."""

    def single_gram(self, weights: Array | None, columns: Array) -> Array:
        """As `gram`, but in float32 where float64 is expensive."""


class Columns(Protocol):
    """The stored entries of some columns, and how many there are."""

    def count(self, columns: Array) -> int: ...

    def columns(self, columns: Array) -> tuple[Array, ...]:
        """The first and last entries of these columns, and the row numbers and values of all entries."""


class Can(NamedTuple):
    """What a row matrix does faster than by its four operations, or in addition. None: it is not provided."""

    one_pass: OnePass | None = None
    pair: Pair | None = None
    gram: Gram | None = None
    rough: RoughGram | None = None
    columns: Columns | None = None
    entrywise: Callable[[Callable[[Array], Array]], RowMatrix] | None = None  # The matrix of function(a_ij).
    stored: int | None = None  # The number of stored entries, if not all are stored.
    csr: Any = None  # The CSR arrays, for loops that are compiled together with a loss,
    ones: bool = False  # and whether each row is followed by a 1.
    compiled: bool = False  # The first use compiles or loads kernels.


NOTHING = Can()


class RowMatrix(Protocol):
    """A ∈ ℝ^{N×d}, used only through four operations on a subset of its rows and what `can` declares."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> Array: ...

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        """A[rows] x, for x (d,) or (d, c)."""

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        """A[rows]ᵀ c, for c (m,) or (m, c)."""

    def take(self, rows: Array) -> RowMatrix:
        """A[rows] as a matrix of its own."""

    def norms2(self) -> Array:
        """‖a_i‖² for every row, in float64."""

    def can(self) -> Can:
        """What it does faster or in addition."""


class Declared:
    """A user's row matrix, which has the four operations and declares nothing else."""

    def __init__(self, a: Any) -> None:
        self.a = a

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.a.shape
        return int(n), int(d)

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        return self.a.dot(x, rows)

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        return self.a.tdot(c, rows)

    def take(self, rows: Array) -> Declared:
        return Declared(self.a.take(rows))

    def norms2(self) -> Array:
        return self.a.norms2()

    def can(self) -> Can:
        return NOTHING


def pair(a: RowMatrix, x: Array, prev: Array, rows: Array | None = None) -> Array:
    """(A[rows] x, A[rows] prev), stacked."""
    own = a.can().pair
    return namespace(x).stack((a.dot(x, rows), a.dot(prev, rows))) if own is None else own(x, prev, rows)


def gram(a: RowMatrix, weights: Array | None, columns: Array) -> Array:
    """Σ_i w_i a_i a_iᵀ over the given columns: by the matrix's own method, or by products with unit vectors."""
    own = a.can().gram
    if own is not None:
        return own(weights, columns)
    columns = np.asarray(columns)
    out, w = np.empty((len(columns), len(columns))), None if weights is None else np.asarray(weights, np.float64)
    for start in range(0, len(columns), _GRAM_BLOCK):
        some = columns[start : start + _GRAM_BLOCK]
        unit = np.zeros((a.shape[1], len(some)), a.dtype)
        unit[some, np.arange(len(some))] = 1.0
        z = np.asarray(a.dot(unit), np.float64)
        out[:, start : start + len(some)] = np.asarray(a.tdot(z if w is None else z * w[:, None]))[columns]
    return 0.5 * (out + out.T)


def rough_gram(a: RowMatrix, weights: Array | None, columns: Array, rows: int) -> Array:
    """An approximate Gram matrix: the matrix's own approximation, or the exact one."""
    own = a.can().rough
    if own is None:
        return gram(a, weights, columns)
    return own.single_gram(own.rough_weights(weights, len(columns), rows), columns)
