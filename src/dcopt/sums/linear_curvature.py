"""The curvature of a loss over rows of data at the predictions z = Ax."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.rows import gram, rough_gram
from ..losses import Softmax
from ..xp import Array
from .curvature import Entries
from .grams import ROUGH_ROWS

if TYPE_CHECKING:
    from .linear import LinearSum
    from .protocol import SumOverRows

_CONSTANT = 1e-10  # share of its mean square: what rounding leaves of the variance of a constant column


class LinearCurvature:
    """C = (1/N) Σ w_i |φ''(z_i)| a_i a_iᵀ of `LinearSum`, each part made when it is asked for."""

    def __init__(self, f: LinearSum, z: Array) -> None:
        self._f, self._z = f, z
        self.constant = f.grams is not None
        self.rough = f.can.rough is not None  # Gram matrices may be of some rows, in float32,
        self.exact = f.grams is not None and (not self.rough or f.grams.exact) and f.dtype == np.float64
        self.classes = f.classes[0] if f.classes else 1
        self.is_softmax = isinstance(f.loss, Softmax)
        low, high = f.loss.curvature
        self.bends_down = low < 0.0
        self.eps = float(np.finfo(f.dtype).eps)
        self.n, self.d = f.a.shape
        self.dense = f.can.stored is None or 2 * f.can.stored > self.n * self.d

    # ---- rows

    def weighted(self, bend: Array) -> NDArray[np.float64]:
        """w_i |φ''_i|"""
        bend = np.asarray(bend, np.float64)
        bend = np.abs(bend) if self.bends_down else bend
        return np.asarray(bend if self._f.weights is None else bend * self._f.weights, np.float64)

    @cached_property
    def bend(self) -> NDArray[np.float64]:
        """w_i |φ''(z_i)|, of k classes the largest eigenvalue of φ'' as a bound"""
        return self.weighted(self._f.loss.bend(self._z, self._f.labels))

    @cached_property
    def negative_excess(self) -> NDArray[np.float64]:
        """2 w_i (φ'')₋ / N"""
        return self.negative_excess_over(self.n)

    def negative_excess_over(self, n: int) -> NDArray[np.float64]:
        """2 w_i (φ'')₋ / n"""
        below = np.maximum(-self._f.loss.bend(self._z, self._f.labels), 0.0)
        return np.asarray(2.0 * self.weighted(below) / n)

    @cached_property
    def steepest(self) -> float:
        """sup|φ''|; where it has no bound, the mean of w|φ''| at this point, so that no point counts as flat"""
        low, high = self._f.loss.curvature
        return max(high, -low) if self._f.loss.bounded else float(self.bend.mean())

    @property
    def mean_bend(self) -> float:
        """The mean of w|φ''| over the rows, as a share of sup|φ''|; 1 where C is the same everywhere"""
        return 1.0 if self.constant else float(self.bend.sum()) / (self.steepest * self.bend.size)

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """w_i / N"""
        f = self._f
        return np.full(f.n, 1.0 / f.n) if f.weights is None else np.asarray(f.weights / f.n, np.float64)

    def chances(self) -> NDArray[np.float64]:
        """The chances of the classes, for every row"""
        loss = self._f.loss
        assert isinstance(loss, Softmax)
        return np.ascontiguousarray(loss.chances(self._z), np.float64)

    # ---- Gram matrices

    def gram(self, columns: Array) -> NDArray[np.float64]:
        f = self._f
        if f.grams is not None:
            return np.asarray(f.grams.on(columns))
        return np.asarray(rough_gram(f.a, self.bend, columns, ROUGH_ROWS) / f.n, np.float64)

    def blocks(self, columns: Array) -> NDArray[np.float64]:
        """Block (i, j) is (1/N) Σ w pᵢ ([i = j] − pⱼ) a aᵀ; the last class follows from the others."""
        f, m, k = self._f, len(columns), self.classes
        assert isinstance(f.loss, Softmax)
        Q = np.empty((m, k, m, k))
        for i, j, cross in f.loss.crosses(self._z):
            Q[:, i, :, j] = Q[:, j, :, i] = gram(f.a, self.weighted(cross) / f.n, columns)
        for i in range(k):
            Q[:, i, :, -1] = Q[:, -1, :, i] = -sum(Q[:, i, :, j] for j in range(k - 1))
        return Q.reshape(m * k, m * k)

    def negative(self, columns: Array) -> NDArray[np.float64]:
        return np.asarray(gram(self._f.a, self.negative_excess, columns))

    def at_zero(self, columns: Array) -> tuple[NDArray[np.float64], float]:
        """∇²f(0), and the mean of its diagonal.

        With k classes it is (I − 11ᵀ/k)/k ⊗ K, K = AᵀWA/N: ∇f(0) sums to 0 over the classes, so that K/k serves each.
        """
        f, share = self._f, 1.0
        if self.is_softmax:
            Q, share = gram(f.a, f.weights, columns) / (self.classes * f.n), 1.0 - 1.0 / self.classes
        else:
            Q = self.gram(columns)
        return Q, share * float(np.trace(Q)) / len(Q)

    @property
    def bound(self) -> float:
        f = self._f
        return f.mean_curvature_bound if f.loss.bounded else float(np.mean(self.bend * f.a.norms2())) / self.d

    # ---- columns

    @property
    def shows_columns(self) -> bool:
        return self._f.can.columns is not None

    def entries(self, columns: Array) -> Entries:
        own = self._f.can.columns
        assert own is not None  # `shows_columns` says so.
        return Entries(*own.columns(columns))

    def stored(self, columns: Array) -> int:
        own = self._f.can.columns
        assert own is not None  # `shows_columns` says so.
        return own.count(columns)

    def mean_squares(self, columns: Array, centred: bool = False) -> NDArray[np.float64]:
        return centred_mean_squares(self._f, columns, centred)

    def means_are_far(self, columns: Array, share: float) -> bool:
        return means_are_far(self._f, columns, share)


def centred_mean_squares(f: SumOverRows, columns: Array, centred: bool) -> NDArray[np.float64]:
    """(1/N) Σ w a_ij², if centred without the squares of the means; for all the same where entries are hidden"""
    if f.column_mean_squares is None:
        return np.full(len(columns), f.mean_row / f.shape[0])
    squares = np.asarray(f.column_mean_squares[columns], np.float64)
    if not centred:
        return squares
    left = squares - f.column_means[columns] ** 2 / max(f.mean_weight, 1e-300)
    return np.where(left > _CONSTANT * squares, left, squares)


def means_are_far(f: SumOverRows, columns: Array, share: float) -> bool:
    """Whether the squares of the columns' means are more than this share of their mean squares"""
    if f.column_mean_squares is None:
        return True
    return bool(np.sum(f.column_means[columns] ** 2) > share * np.sum(f.column_mean_squares[columns]))
