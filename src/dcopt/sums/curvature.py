"""What a sum tells about its curvature at a point, column by column: models of a step are made of this alone."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..xp import Array


class Entries(NamedTuple):
    """Some columns of A: the entries begin_j ≤ e < end_j belong to the j-th of them, each with its row and value.

    The rows of a column are in order, each at most once: one with as many entries as A has rows has one in each.
    """

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float64]


class Curvature(Protocol):
    """C = (1/N) Σ w_i |φ''_i| a_i a_iᵀ at one point; for k classes φ''_i and the blocks of C are k × k matrices.

    `columns` are numbers of columns of A, in increasing order.
    """

    n: int  # rows
    d: int  # columns
    classes: int  # k; 1 for one number a row
    is_softmax: bool  # φ is the softmax loss, whose `blocks` and `chances` are known
    constant: bool  # C is the same at every x.
    exact: bool  # That, and in float64: `gram` gives C to the last digits.
    rough: bool  # `gram` may be made of some rows, in float32.
    dense: bool  # At least half of the entries of A are stored.
    bends_down: bool  # φ'' may be negative.
    eps: float  # rounding of the type of the data

    @property
    def steepest(self) -> float:
        """sup|φ''|, or a typical |φ''| at this point where there is no bound"""

    @property
    def bend(self) -> NDArray[np.float64]:
        """w_i |φ''_i|"""

    @property
    def negative_excess(self) -> NDArray[np.float64]:
        """2 w_i (φ''_i)₋ / N: what C has more than ∇²f, row by row"""

    @property
    def mean_bend(self) -> float:
        """The mean of w|φ''| over the rows, as a share of sup|φ''|; 1 where C is constant"""

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """w_i / N"""

    @property
    def bound(self) -> float:
        """The mean of the diagonal of sup|φ''| AᵀWA/N, which majorizes ∇²f everywhere; of ∇²f here without a bound"""

    def chances(self) -> NDArray[np.float64]:
        """The chances of the classes for every row, where φ is the softmax loss"""

    def gram(self, columns: Array) -> NDArray[np.float64]:
        """C on these columns, (m, m); for k classes a bound that serves each of them"""

    def blocks(self, columns: Array) -> NDArray[np.float64]:
        """∇²f of k classes on these columns, (mk, mk)"""

    def negative(self, columns: Array) -> NDArray[np.float64]:
        """(2/N) Σ w_i (φ''_i)₋ a_i a_iᵀ: what C has more than ∇²f"""

    def at_zero(self, columns: Array) -> tuple[NDArray[np.float64], float]:
        """∇²f(0), where the point is 0, and the mean of its diagonal"""

    @property
    def shows_columns(self) -> bool:
        """Whether `entries` and `stored` can be asked."""

    def entries(self, columns: Array) -> Entries:
        """The stored entries of these columns"""

    def stored(self, columns: Array) -> int:
        """How many stored entries these columns have"""

    def mean_squares(self, columns: Array, centred: bool = False) -> NDArray[np.float64]:
        """(1/N) Σ w_i a_ij², without the squares of the means if centred"""

    def means_are_far(self, columns: Array, share: float) -> bool:
        """Whether the squares of the columns' means are more than this share of their mean squares"""
