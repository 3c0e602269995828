"""The curvature of a `PartsSum` at a point that was looked at: Gram matrices by map and reduce."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Softmax
from ..xp import Array
from . import part_pieces as at_home
from . import pieces
from .curvature import Entries
from .grams import ROUGH_ROWS
from .linear_curvature import centred_mean_squares, means_are_far

if TYPE_CHECKING:
    from .parts import PartsSum

SHOWN = 2**21  # With more rows, numbers for each row (16 MB each) stay at home, and models are made of Gram matrices.


class PartsCurvature:
    """C = Σ_k (n_k/N) C_k, each part made when it is asked for."""

    def __init__(self, f: PartsSum, x: Array) -> None:
        self._f, self._x = f, x
        self.rough, self._shown, self._stored = f.storage
        self.constant = f.grams is not None
        self.exact = f.grams is not None and (not self.rough or f.grams.exact) and f.dtype == np.float64
        self.classes = f.classes[0] if f.classes else 1
        self.is_softmax = isinstance(f.loss, Softmax)
        low = f.loss.curvature[0]
        self.bends_down = low < 0.0
        self.eps = float(np.finfo(f.dtype).eps)
        self.n, self.d = f.n, f.shape[0]
        self.dense = 2 * self._stored > self.n * self.d

    # ---- rows

    def _rows(self, piece: Any, *args: Any) -> NDArray[np.float64]:
        return np.concatenate(self._f.each(piece, *args))

    @cached_property
    def bend(self) -> NDArray[np.float64]:
        return self._rows(at_home.bend, self._x)

    @cached_property
    def negative_excess(self) -> NDArray[np.float64]:
        return self._rows(at_home.negative_excess, self._x, self.n)

    @cached_property
    def _sums_of_bend(self) -> tuple[float, float]:
        total: tuple[float, float] = self._f.total(at_home.sums_of_bend, self._x)
        return total

    @property
    def steepest(self) -> float:
        low, high = self._f.loss.curvature
        return max(high, -low) if self._f.loss.bounded else self._sums_of_bend[0] / self.n

    @property
    def mean_bend(self) -> float:
        return 1.0 if self.constant else self._sums_of_bend[0] / (self.steepest * self.n)

    @property
    def row_weights(self) -> NDArray[np.float64]:
        return self._rows(at_home.row_weights, self.n)

    def chances(self) -> NDArray[np.float64]:
        return self._rows(at_home.chances, self._x)

    # ---- Gram matrices

    def gram(self, columns: Array) -> NDArray[np.float64]:
        f = self._f
        if f.grams is not None:
            return np.asarray(f.grams.on(columns))
        found = f.total(at_home.bend_gram, self._x, columns, self.n, ROUGH_ROWS)
        return np.asarray(found / self.n, np.float64)

    def blocks(self, columns: Array) -> NDArray[np.float64]:
        """As of `LinearCurvature`, from the sums of all parts"""
        m, k = len(columns), self.classes
        Q, found = np.empty((m, k, m, k)), self._f.total(at_home.crosses, self._x, columns, self.n)
        pairs = ((i, j) for i in range(k - 1) for j in range(i + 1))
        for (i, j), cross in zip(pairs, found, strict=True):
            Q[:, i, :, j] = Q[:, j, :, i] = cross
        for i in range(k):
            Q[:, i, :, -1] = Q[:, -1, :, i] = -sum(Q[:, i, :, j] for j in range(k - 1))
        return Q.reshape(m * k, m * k)

    def negative(self, columns: Array) -> NDArray[np.float64]:
        return np.asarray(self._f.total(at_home.negative, self._x, columns, self.n))

    def at_zero(self, columns: Array) -> tuple[NDArray[np.float64], float]:
        share = 1.0
        if self.is_softmax:
            Q, share = self._f.total(pieces.weighted_gram, columns) / (self.classes * self.n), 1.0 - 1.0 / self.classes
        else:
            Q = self.gram(columns)
        return Q, share * float(np.trace(Q)) / len(Q)

    @property
    def bound(self) -> float:
        f = self._f
        return f.mean_curvature_bound if f.loss.bounded else self._sums_of_bend[1] / self.n / self.d

    # ---- columns

    @property
    def shows_columns(self) -> bool:
        return self._shown and self.n <= SHOWN

    def entries(self, columns: Array) -> Entries:
        """The entries of each column, part after part"""
        f = self._f
        found, starts = f.each(at_home.entries, columns), [s for s, n in zip(f.starts, f.sizes, strict=False) if n]
        column = np.concatenate([np.repeat(np.arange(len(columns)), sizes) for sizes, _, _ in found])
        order = np.argsort(column, kind="stable")
        rows = np.concatenate(
            [(own + start).astype(np.int32) for (_, own, _), start in zip(found, starts, strict=True)]
        )
        ends = np.cumsum(sum(sizes for sizes, _, _ in found), dtype=np.int64)
        begin = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
        return Entries(begin, ends, rows[order], np.concatenate([values for _, _, values in found])[order])

    def stored(self, columns: Array) -> int:
        return int(self._f.total(at_home.stored, columns))

    def mean_squares(self, columns: Array, centred: bool = False) -> NDArray[np.float64]:
        return centred_mean_squares(self._f, columns, centred)

    def means_are_far(self, columns: Array, share: float) -> bool:
        return means_are_far(self._f, columns, share)
