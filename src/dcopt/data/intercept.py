"""A row matrix with a column of ones appended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..xp import Array, namespace
from .rows import Can, Columns, Gram, RoughGram, RowMatrix, gram, pair


@dataclass(frozen=True, eq=False)
class WithIntercept:
    """(A, 1): the last entry (row) of x is the intercept."""

    a: RowMatrix

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.a.shape
        return n, d + 1

    @property
    def dtype(self) -> Array:
        return self.a.dtype

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        return self.a.dot(x[:-1], rows) + x[-1]

    def pair(self, x: Array, prev: Array, rows: Array | None = None) -> Array:
        z = pair(self.a, x[:-1], prev[:-1], rows)
        return z + namespace(z).stack((x[-1], prev[-1]))[:, None]

    def tdot(self, c: Array, rows: Array | None = None) -> Array:
        xp = namespace(c)
        return xp.concat((self.a.tdot(c, rows), xp.sum(c, axis=0, keepdims=True)))

    def through(self, x: Array, of: Callable[[Array, int, int], Array]) -> tuple[Array, Array]:
        """z = (A, 1) x and (A, 1)ᵀ c, c = of(z, start, stop), in one pass where A can."""
        through = self.a.can().one_pass
        assert through is not None  # `can` declares it only if this is not None.
        c: dict[tuple[int, int], Array] = {}

        def shifted(z: Array, start: int, stop: int) -> Array:
            c[start, stop] = of(z + x[-1], start, stop)
            return c[start, stop]

        z, out = through(x[:-1], shifted)
        xp = namespace(z)
        ones = xp.sum(xp.concat([c[part] for part in sorted(c)]), axis=0, keepdims=True)
        return z + x[-1], xp.concat((out, ones))

    def take(self, rows: Array) -> WithIntercept:
        return WithIntercept(self.a.take(rows))

    def norms2(self) -> Array:
        return self.a.norms2() + 1.0

    def can(self) -> Can:
        """What A declares, for (A, 1). The Gram matrix of (A, 1) takes that of A and one tdot."""
        own = self.a.can()
        return Can(
            one_pass=None if own.one_pass is None else self.through,
            pair=None if own.pair is None else self.pair,
            gram=None if own.gram is None else self.gram,
            rough=None if own.rough is None else self,
            columns=None if own.columns is None else self,
            entrywise=None if own.entrywise is None else self._entrywise,
            stored=None if own.stored is None else own.stored + self.shape[0],
            csr=None if own.ones else own.csr,  # Compiled loops know one 1 behind each row.
            ones=own.csr is not None and not own.ones,
            compiled=own.compiled,
        )

    def _entrywise(self, function: Callable[[Array], Array]) -> RowMatrix:
        """For functions that map 1 to 1"""
        entrywise = self.a.can().entrywise
        assert entrywise is not None  # `can` declares it only if this is not None.
        return WithIntercept(entrywise(function))

    def count(self, columns: Array) -> int:
        """Stored entries in these columns"""
        n, d = self.a.shape
        inner = columns[columns < d]
        return self._columns.count(inner) + n * (len(columns) - len(inner))

    @property
    def _columns(self) -> Columns:
        own = self.a.can().columns
        assert own is not None  # `can` declares it only if this is not None.
        return own

    @property
    def _rough(self) -> RoughGram:
        own = self.a.can().rough
        assert own is not None  # `can` declares it only if this is not None.
        return own

    def columns(self, columns: Array) -> tuple[Array, Array, Array, Array]:
        """The first and last entries of these columns, and the row numbers and values of all entries"""
        n, d = self.a.shape
        inner = columns[columns < d]
        begin, end, rows, values = self._columns.columns(inner)
        if len(inner) == len(columns):
            return begin, end, rows, values
        last, ones = len(rows), (np.arange(n, dtype=np.int32), np.ones(n))
        ends = np.append(begin, last), np.append(end, last + n)
        return *ends, np.concatenate((rows, ones[0])), np.concatenate((values, ones[1]))

    def gram(self, weights: Array | None, columns: Array) -> Array:
        return self._gram(partial(gram, self.a), weights, columns)

    def rough_weights(self, weights: Array | None, k: int, rows: int) -> Array | None:
        """The weights of A, so that all parts of the matrix use the same rows."""
        return self._rough.rough_weights(weights, k, rows)

    def single_gram(self, weights: Array | None, columns: Array) -> Array:
        """As `gram`, but in float32 where float64 is expensive."""
        return self._gram(self._rough.single_gram, weights, columns)

    def _gram(self, inner_gram: Gram, weights: Array | None, columns: Array) -> Array:
        n, d = self.a.shape
        inner = columns[columns < d]
        if len(inner) == len(columns):
            return inner_gram(weights, columns)
        w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        sums, total = np.asarray(self.a.tdot(w), np.float64)[inner, None], float(np.sum(w))
        return np.block([[inner_gram(weights, inner), sums], [sums.T, np.full((1, 1), total)]])
