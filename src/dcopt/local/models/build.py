"""Which model a step is made with, how it comes from the curvature of f, and its ridge μR."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...subproblems.eliminated import Eliminated, unpenalised_rows
from ...subproblems.parts import Parts
from ...sums.curvature import Curvature
from .. import costs
from ..policy import FLAT
from .base import Model
from .columns import ColumnModel, SoftmaxColumnModel, kernels
from .dense import DenseModel


def model(
    C: Curvature, columns: NDArray[np.int64], p: Parts, mu: float, mu_by_columns: float, compiled: bool = True,
    dense: bool = False,
) -> Model:  # fmt: skip
    """Q = C + μR on these columns, with one μ where Gram matrices are made and another where descent goes by columns.

    `dense`: only a matrix will do. `compiled`: whether compiled descent is worth its start.
    """
    if dense:
        return dense_model(C, columns, p, mu, compiled)
    free = unpenalised_rows(p)
    if costs.classes_by_columns(C, columns, columns[~free]).yes:
        return softmax_column_model(C, columns, mu_by_columns)
    if costs.by_columns(C, columns, p.rows, bool(free.any())).yes:
        return column_model(C, columns, mu_by_columns)
    return dense_model(C, columns, p, mu, compiled)


def dense_model(C: Curvature, columns: NDArray[np.int64], p: Parts, mu: float, compiled: bool = True) -> DenseModel:
    """Q as a matrix; of k classes ∇²f, mk × mk, where that is at most so wide: a bound of it costs steps."""
    full = C.is_softmax and len(columns) * C.classes <= costs.BLOCK_ROWS
    Q = C.blocks(columns) if full else C.gram(columns)
    if full:
        _hold(Q, np.flatnonzero(unpenalised_rows(p)), C.classes)
    eliminated = Eliminated.of(Q, p)
    # The entries of a float32 Gram matrix are rounded: a ridge of less than this may leave it indefinite.
    mu = max(mu, C.eps * len(Q))
    kept = None if eliminated is None else ~unpenalised_rows(p)
    ridge = mu * ridge_of(C, columns, _own_curvature(Q, eliminated), kept)
    if eliminated is None:
        Q[np.diag_indices(len(Q))] += ridge
    else:
        eliminated.add_ridge(Q, ridge)
    return DenseModel(Q, ridge, compiled, C.constant, eliminated)


def _own_curvature(Q: NDArray[np.float64], eliminated: Eliminated | None) -> NDArray[np.float64]:
    """The curvature of f along each coordinate, when those that are not penalised follow: the diagonals of the Schur
    complements. For an intercept these are the mean squares of centred columns.
    """
    h = np.array(np.diagonal(Q))
    if eliminated is not None:
        h[eliminated.kept] = np.diagonal(eliminated.Q)
        h[eliminated.free] = np.clip(1.0 / np.diagonal(eliminated.inverse), 0.0, h[eliminated.free])
    return h


def column_model(C: Curvature, columns: NDArray[np.int64], mu: float) -> ColumnModel:
    """The same by the stored entries of the columns"""
    some, weights = C.entries(columns), np.asarray(C.bend / C.n, np.float64)
    h = np.asarray(kernels().sizes(*some, weights))
    ridge = mu * ridge_of(C, columns, h)
    return ColumnModel(some, weights, ridge, h + ridge, ridge)


def softmax_column_model(C: Curvature, columns: NDArray[np.int64], mu: float) -> SoftmaxColumnModel:
    """∇²f + μR, and above the curvature of each column Σ w λ(p) a_ij²/N + μ_j, λ(p) above that of diag p − ppᵀ"""
    some = C.entries(columns)
    h = np.asarray(kernels().sizes(*some, C.bend / C.n))
    ridge = mu * ridge_of(C, columns, h)
    none = np.zeros((len(columns), C.classes))
    return SoftmaxColumnModel(some, C.row_weights, C.chances(), h + ridge, ridge, np.zeros(len(columns)), none)


def _hold(Q: NDArray[np.float64], rows: NDArray[np.int64], k: int) -> None:
    """Along (1, …, 1) in rows that are not penalised, where f of k classes is constant, a mean curvature: rounding must
    not move them all together
    """
    for j in rows * k:
        block = Q[j : j + k, j : j + k]
        block += np.trace(block) / k**2


_NONE = 1e-16  # The share of the mean of the diagonal that a column of zeros gets: rounding leaves no more of it.


def ridge_of(
    C: Curvature, columns: NDArray[np.int64], h: NDArray[Any], kept: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """R's diagonal: Q's own, h, so that columns of any scale are as those of length 1.

    At least 1e-3 of what h is at most where f is flat, its mean curvature w|φ''| being less than that, and in columns
    with 1e-3 of the mean curvature or less. The same for all of k classes: where ∇f sums to 0 over them, so does a
    step. `kept`: the columns that are not eliminated, whose means are the others'.
    """
    k = len(h) // len(columns)
    h = h if k == 1 else h.reshape(-1, k).mean(axis=1)
    middle = float(h.sum()) / len(h)
    thin = np.full(len(h), True) if C.mean_bend < FLAT else h <= FLAT * middle
    if thin.any():
        # When the others follow, little curvature is left of an intercept, which is not flat.
        thin = thin if kept is None else thin & kept
        h = np.where(thin, np.maximum(h, FLAT * C.steepest * C.mean_squares(columns, kept is not None)), h)
        h = np.maximum(h, max(_NONE * middle, 1e-300))  # a column of zeros
    return h if k == 1 else np.repeat(h, k)
