"""Rows of a CSR matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import aligned
from .csr_columns import CsrColumns
from .engine import off_the_clock
from .rows import Can
from .workers import added, cuts, each, parts_for, plain

_LARGE = 2**18  # From this many stored entries on, passes over all rows run in parts, in several threads.
_BLOCK = 2**18  # The rows with this many stored entries stay in the cache between A x and Aᵀ c.

# The first matrix imports csr_kernels or csr_scipy, because importing Numba takes a third of a second.
kernels: Any = None


@dataclass(frozen=True, eq=False)
class CsrRows:
    """A as (indptr, indices, data), columns in any order, each at most once in a row."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    d: int
    # No copy of some columns is kept: the arrays are those of a file, which may exceed the memory.
    lean: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        global kernels
        if kernels is None:
            kernels = _kernels()
        self._get_ready("vector")
        if self.large:
            self._part_kernels(1)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.indptr, self.indices, self.data, self.d, self.lean)  # A copy loads its kernels itself.

    def _get_ready(self, use: str) -> bool:
        kernels.make_ready(self.indptr, self.indices, self.data, self.d, use)
        return True

    @cached_property
    def _pairs_are_ready(self) -> bool:
        """True, when the kernels for two points at once have been loaded."""
        return self._get_ready("pair")

    @cached_property
    def _matrices_are_ready(self) -> bool:
        """True, when the kernels for several columns of x have been loaded."""
        return self._get_ready("matrix")

    @property
    def shape(self) -> tuple[int, int]:
        return self.indptr.size - 1, self.d

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @cached_property
    def _all(self) -> NDArray[np.int64]:
        return np.arange(self.shape[0], dtype=np.int64)

    def _arrays(self, rows: NDArray[np.int64] | None) -> tuple[NDArray[Any], ...]:
        return self.indptr, self.indices, self.data, self._all if rows is None else rows

    def dot(self, x: NDArray[Any], rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        if rows is None and self.large:
            return self._dot_in_parts(x)
        kernel = kernels.dotk if x.ndim == 2 and self._matrices_are_ready else kernels.dot1
        z: NDArray[Any] = kernel(*self._arrays(rows), x)
        return z

    def pair(self, x: NDArray[Any], prev: NDArray[Any], rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        if rows is None and self.large:
            return np.stack((self.dot(x), self.dot(prev)))
        if x.ndim == 1 and self._pairs_are_ready:
            both: NDArray[Any] = kernels.dot2(*self._arrays(rows), x, prev)
            return both
        z = self.dot(np.concatenate((x, prev), axis=1), rows)
        return np.stack((z[:, : x.shape[1]], z[:, x.shape[1] :]))

    def tdot(self, c: NDArray[Any], rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
        if rows is None and self.large:
            return self._tdot_in_parts(c)
        kernel = kernels.tdotk if c.ndim == 2 and self._matrices_are_ready else kernels.tdot1
        out: NDArray[Any] = kernel(*self._arrays(rows), c, self.d)
        return out

    def through(
        self, x: NDArray[Any], of: Callable[[NDArray[Any], int, int], NDArray[Any]]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """z = A x and Aᵀ c in one pass: c[start:stop] = of(z[start:stop], start, stop), from several threads at once.

        The results have the bits of z = dot(x) and tdot(of(z, 0, N)) if `of` treats all rows alike.
        """
        moved, shape = bool(x.any()), (self.shape[0], *x.shape[1:])  # Most runs begin at 0.
        if not self.large or self._parts(x.size) == 1:
            z = self.dot(x) if moved else np.zeros(shape, np.result_type(x, self.data))
            return z, self.tdot(of(z, 0, self.shape[0]))
        (dot, tdot), kinds = self._part_kernels(x.ndim), set()
        z = np.empty(shape, x.dtype)

        def visit(start: int, stop: int, x: NDArray[Any], out: NDArray[np.float64]) -> None:
            if moved:
                dot(*self.fixed, start, stop, x, z[start:stop])
            else:
                z[start:stop] = 0.0
            c = plain(of(z[start:stop], start, stop))
            tdot(*self.fixed, start, stop, c, out)
            kinds.add(c.dtype)

        return z, self.sweep(x, visit, _BLOCK).astype(np.result_type(*kinds), copy=False)

    def sweep(self, x: NDArray[Any], visit: Callable[..., None], block: int | None = None) -> NDArray[np.float64]:
        """The sum over all rows of what visit(start, stop, x, out) adds to `out` for the rows from start to stop

        `block` stored entries at a time, in a fixed number of partial sums, from several threads at once.
        """
        parts = self._parts(x.size) if self.large else 1
        blocks = 1 if block is None else -(-self.entries // (parts * block))
        at, x, out = cuts(self.indptr, parts * blocks), plain(x), np.zeros((parts, *x.shape))

        def go(part: int) -> None:
            for k in range(part * blocks, (part + 1) * blocks):
                visit(*at[k : k + 2], x, out[part])

        each(go, parts)
        return added(out)

    def can(self) -> Can:
        return Can(
            one_pass=self.through,
            pair=self.pair,
            gram=self.by_columns.gram,
            columns=None if self.lean else self.by_columns,
            entrywise=lambda function: CsrRows(self.indptr, self.indices, function(self.data), self.d),
            stored=self.entries,
            csr=self,
            compiled=True,
        )

    def take(self, rows: NDArray[np.int64]) -> CsrRows:
        rows = np.asarray(rows, dtype=np.int64)
        sizes = self.indptr[rows + 1] - self.indptr[rows]
        indptr = np.concatenate((np.zeros(1, self.indptr.dtype), np.cumsum(sizes, dtype=self.indptr.dtype)))
        indices, data = (np.empty(indptr[-1], part.dtype) for part in (self.indices, self.data))
        kernels.make_ready(*self.fixed, self.d, "take")
        kernels.take(*self.fixed, rows, indptr, indices, data)
        return CsrRows(indptr, indices, data, self.d)

    @cached_property
    def by_columns(self) -> CsrColumns:
        return CsrColumns(self.fixed, self.shape, kernels, self.large, keeps=not self.lean)

    def norms2(self) -> NDArray[np.float64]:
        out: NDArray[np.float64] = kernels.norms2(self.indptr, self.data)
        return out

    # ---- Passes over all rows. The parts depend on the matrix alone, so that threads do not change the bits.

    @property
    def entries(self) -> int:
        """Stored entries"""
        return int(self.indptr[-1])

    @property
    def large(self) -> bool:
        return self.entries >= _LARGE

    @cached_property
    def fixed(self) -> tuple[NDArray[Any], ...]:
        """The arrays as read-only views, so that the compiler sees one type."""
        views = tuple(part.view() for part in (self.indptr, self.indices, self.data))
        for view in views:
            view.flags.writeable = False
        return views

    def _part_kernels(self, ndim: int) -> tuple[Any, Any]:
        kernels.make_ready(*self.fixed, self.d, "parts" if ndim == 1 else "matrix parts")
        return (kernels.dot1_part, kernels.tdot1_part) if ndim == 1 else (kernels.dotk_part, kernels.tdotk_part)

    def _parts(self, size: int) -> int:
        """The number of partial sums of `size` numbers, where c has size / d columns"""
        return parts_for(self.entries * size // max(self.d, 1), size)

    def _dot_in_parts(self, x: NDArray[Any]) -> NDArray[Any]:
        kernel, at = self._part_kernels(x.ndim)[0], cuts(self.indptr, parts_for(self.entries, 1))
        x, z = plain(x), np.empty((self.shape[0], *x.shape[1:]), x.dtype)
        each(lambda k: kernel(*self.fixed, *at[k : k + 2], x, z[at[k] : at[k + 1]]), len(at) - 1)
        return z

    def _tdot_in_parts(self, c: NDArray[Any]) -> NDArray[Any]:
        shape = (self.d, *c.shape[1:])
        parts = self._parts(math.prod(shape))
        kernel, at = self._part_kernels(c.ndim)[1], cuts(self.indptr, parts)
        c, out = plain(c), np.zeros((parts, *shape))
        each(lambda k: kernel(*self.fixed, *at[k : k + 2], c[at[k] : at[k + 1]], out[k]), parts)
        return added(out).astype(c.dtype, copy=False)


def _received(indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], d: int, lean: bool) -> CsrRows:
    """A copy, perhaps in another process"""
    return CsrRows(aligned(indptr), aligned(indices), aligned(data), d, lean)


def _kernels() -> Any:
    """The compiled loops, or those of SciPy where Numba cannot compile."""
    with off_the_clock():
        from .kernels import compiler

        if compiler.ENGINE == "numba":
            from .kernels import csr_kernels

            return csr_kernels
        from .kernels import csr_scipy

        return csr_scipy
