"""Which model a step is made with, and how it comes from the curvature of f."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...subproblems.eliminated import Eliminated, unpenalised_rows
from ...subproblems.parts import Parts
from ...sums.curvature import Curvature
from .. import costs
from ..ridge import ridge_of
from .base import Model
from .columns import ColumnModel, kernels
from .dense import DenseModel
from .softmax_columns import SoftmaxColumnModel


def model(
    C: Curvature, columns: NDArray[np.int64], p: Parts, share: float, least: float, tiny: bool, dense: bool = False
) -> Model:
    """Q = C + μR on these columns. `share` is μ where Gram matrices are made, `least` where descent goes by columns.

    `dense`: only a matrix will do.
    """
    if dense:
        return dense_model(C, columns, p, share, tiny)
    free = unpenalised_rows(p)
    if costs.classes_by_columns(C, columns, columns[~free]).yes:
        return softmax_column_model(C, columns, least)
    if costs.by_columns(C, columns, p.rows, bool(free.any())).yes:
        return column_model(C, columns, least)
    return dense_model(C, columns, p, share, tiny)


def dense_model(C: Curvature, columns: NDArray[np.int64], p: Parts, share: float, tiny: bool = False) -> DenseModel:
    """Q as a matrix; of k classes ∇²f, mk × mk, where that is at most so wide: a bound of it costs steps."""
    full = C.is_softmax and len(columns) * C.classes <= costs.BLOCK_ROWS
    Q = C.blocks(columns) if full else C.gram(columns)
    if full:
        _hold(Q, np.flatnonzero(unpenalised_rows(p)), C.classes)
    less = Eliminated.of(Q, p)
    h = np.array(np.diagonal(Q))
    if less is not None:  # What columns far from 0 have in common is not theirs,
        h[less.kept] = np.diagonal(less.Q)
        h[less.free] = np.clip(1.0 / np.diagonal(less.inverse), 0.0, h[less.free])  # nor those of F among themselves.
    # The entries of a float32 Gram matrix are rounded: a ridge of less than this may leave it indefinite.
    share = max(share, C.eps * len(Q))
    mu = share * ridge_of(C, columns, h, None if less is None else ~unpenalised_rows(p))
    if less is None:
        Q[np.diag_indices(len(Q))] += mu
    else:
        less.add(Q, mu)
    return DenseModel(Q, mu, tiny, C.constant, less)


def column_model(C: Curvature, columns: NDArray[np.int64], share: float) -> ColumnModel:
    """The same by the stored entries of the columns"""
    some, weights = C.entries(columns), np.asarray(C.bend / C.n, np.float64)
    h = np.asarray(kernels().sizes(*some, weights))
    mu = share * ridge_of(C, columns, h)
    return ColumnModel(some, weights, mu, h + mu, mu)


def softmax_column_model(C: Curvature, columns: NDArray[np.int64], share: float) -> SoftmaxColumnModel:
    """∇²f + μR, and above the curvature of each column Σ w λ(p) a_ij²/N + μ_j, λ(p) above that of diag p − ppᵀ"""
    some = C.entries(columns)
    h = np.asarray(kernels().sizes(*some, C.bend / C.n))
    mu = share * ridge_of(C, columns, h)
    none = np.zeros((len(columns), C.classes))
    return SoftmaxColumnModel(some, C.row_weights, C.chances(), h + mu, mu, np.zeros(len(columns)), none)


def _hold(Q: NDArray[np.float64], rows: NDArray[np.int64], k: int) -> None:
    """Along (1, …, 1) in rows that are not penalised, where f of k classes is constant, a mean curvature: rounding must
    not move them all together
    """
    for j in rows * k:
        block = Q[j : j + k, j : j + k]
        block += np.trace(block) / k**2
