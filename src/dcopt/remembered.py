"""What a linear sum remembers of itself: the last point, the last Gram matrix, the chances of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import local
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .data.rows import RowMatrix
from .matrices import square
from .xp import Array

if TYPE_CHECKING:
    from .draw import Draw, Sampling
    from .sums import Batch, LinearSum


NARROW = 64  # columns, of which none is worth leaving out
_WIDE = 4096  # columns whose Gram matrix of 128 MB may be kept
_ROWS, _FEWER = 32, 16  # of a rough Gram matrix, for every column: they tell its entries to a sixth, to a quarter
_WHOLE = 2**30  # multiplications that a Gram matrix of all columns may cost: some hundredths of a second


class Seen(NamedTuple):
    """All that one pass over the rows tells about x."""

    x: Array
    z: Array  # ⟨a_i, x⟩
    value: float
    grad: Array


class Recent:
    """The last point that was looked at, for who comes back to it. What is remembered is a pure function of x.

    Every thread has a memory of its own: a run checks its measure where it knows F, and another run on the same
    problem must not change where that is.
    """

    def __init__(self, sum: LinearSum) -> None:
        self._sum = sum
        self._own = local()

    def knows(self, x: Array) -> Seen | None:
        """What is remembered of x, if it is the last point."""
        last: Seen | None = getattr(self._own, "last", None)
        if last is None or last.x.dtype != x.dtype or not (last.x == x).all():  # one problem, one shape
            return None
        return last

    def at(self, x: Array) -> Seen:
        """f(x) and ∇f(x), from memory if x is the last point."""
        seen = self.knows(x)
        if seen is None:
            seen = self.look(x)
            self.put(seen)
        return seen

    def look(self, x: Array) -> Seen:
        """f(x) and ∇f(x); the last point stays what it is."""
        return Seen(x.copy(), *self._sum.all().look(x))

    def put(self, seen: Seen) -> None:
        """This is the last point now."""
        self._own.last = seen

    def came(self, x: Array, prev: Array, grad: Array) -> None:
        """A step led from prev, where ∇f is this, to x: for the next one, which asks at once."""
        self._own.way = x, prev, grad

    def way_to(self, x: Array) -> tuple[Array, Array] | None:
        """prev and ∇f there, if a step has just led from there to x; asked once, so that no run sees another's."""
        way, self._own.way = getattr(self._own, "way", None), None
        return None if way is None or way[0] is not x else way[1:]


class Grams:
    """(1/N) Σ w_i φ'' a_i a_iᵀ of a loss with constant φ'', on some columns.

    That of all columns is made once, where it costs little or where many of them are asked for; else the last one
    serves all steps with the same columns. A part of a larger one has other bits: what comes back must be, and is, a
    function of the columns alone.
    """

    def __init__(self, sum: LinearSum) -> None:
        self._sum = sum
        n, d = sum.a.shape
        self.exact = n * d * d <= _WHOLE
        self.whole = d <= _WIDE  # that of all columns may be kept
        # what is made of some rows learns from the steps; float32 has not the digits for it
        self.learns = not self.exact and hasattr(sum.a, "rough_gram") and sum.dtype == np.float64
        few = 0 if d <= NARROW else d // 2 if self.exact or self.whole else d
        self._most = few  # columns that are taken alone
        self._last: tuple[Array, Array] | None = None

    def on(self, columns: Array) -> Array:
        """Its rows and columns at these places; a copy."""
        if len(columns) > self._most:
            return square(self._of(np.arange(self._sum.a.shape[1])), columns)
        return self._of(columns).copy()

    def _of(self, columns: Array) -> Array:
        last = self._last
        if last is None or not np.array_equal(last[0], columns):
            f = self._sum
            gram = f.a.gram if self.exact else rough_gram(f.a, _FEWER if self.learns else _ROWS)
            self._last = last = columns.copy(), gram(f.weights, columns) * (f.loss.curvature[0] / f.n)
        return last[1]


def rough_gram(a: RowMatrix, rows: int = _ROWS) -> Callable[[Array | None, Array], Array]:
    """A Gram matrix for a metric, which need not be exact: where it is not, of so many rows for every column."""
    return partial(a.rough_gram, rows=rows) if hasattr(a, "rough_gram") else a.gram


class Chances(NamedTuple):
    """f as the mean of f_i / (N q_i) over rows i that are drawn with probability q_i, q_i ∝ w_i ‖a_i‖²"""

    f: LinearSum  # with the weights w_i / (N q_i)
    below: Array  # Σ_{j ≤ i} q_j

    @classmethod
    def of(cls, f: LinearSum) -> Chances:
        """A row of zeros adds nothing to a gradient and is never drawn; rows that all are 0 are equally likely."""
        w = np.ones(f.n) if f.weights is None else np.asarray(f.weights, np.float64)
        size = f.sizes if f.sizes.any() else np.ones(f.n)
        share = size / size.mean()  # N q_i
        weights = np.divide(w, share, out=np.zeros(f.n), where=share > 0.0).astype(f.dtype)
        return cls(replace(f, weights=weights), np.cumsum(share))

    def rows(self, numbers: Array) -> Array:
        """The row of each number in [0, 1)"""
        found = np.searchsorted(self.below, numbers * self.below[-1], side="right")
        return np.minimum(found, np.searchsorted(self.below, self.below[-1]))  # the last row with a chance


class Known:
    """f as a sum whose components at one point are known: what is asked there needs no look at the rows."""

    def __init__(self, f: LinearSum, seen: Seen) -> None:
        self.f, self.seen = f, seen
        self.n, self.shape, self.dtype = f.n, f.shape, f.dtype
        self.served = 0  # component gradients that were not evaluated

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Batch:
        return self.f.sample(b, draw, sampling)

    def all(self) -> KnownBatch:
        return KnownBatch(self)


class KnownBatch:
    """All components, likewise."""

    def __init__(self, of: Known) -> None:
        self._of, self._batch = of, of.f.all()
        self.rows, self.size = self._batch.rows, self._batch.size
        self._slopes: Array | None = None  # those at the known point

    def _there(self, x: Array) -> bool:
        known = x is self._of.seen.x or bool((x == self._of.seen.x).all())
        self._of.served += self.size if known else 0
        return known

    def grad(self, x: Array) -> Array:
        return self._of.seen.grad if self._there(x) else self._batch.grad(x)

    def slopes(self, x: Array) -> Array:
        if not self._there(x):
            return self._batch.slopes(x)
        self._slopes = self._batch.slopes_at(self._of.seen.z)
        return self._slopes

    def pull(self, c: Array) -> Array:
        return self._of.seen.grad if c is self._slopes else self._batch.pull(c)

    def diff(self, x: Array, prev: Array) -> Array:
        return self._batch.diff(x, prev)

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return self._batch.value_grad(x)
