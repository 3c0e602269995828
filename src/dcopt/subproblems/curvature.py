"""The curvature of f where it is asked for, of some columns, and the metrics of a local step that are made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.entries import shows_columns
from ..losses import Softmax
from ..remembered import Seen, rough_gram
from ..sums import LinearSum
from ..xp import Array
from .cd import Reduced, alone
from .metrics import ByClasses, ByColumns, Columns, Matrix, Metric
from .newton import SMALL
from .parts import Parts

_ALONE = 1.01  # times as long as a step in some columns is one that hardly leaves them
_FLAT = 1e-3  # of the largest curvature, from which on f is taken for flat
_LITTLE, _NONE = 1e-6, 1e-16  # of the mean of the diagonal: a small column, or one without curvature; and none at all
_MEAN = 0.25  # of the mean squares of columns: those of their means where they are not far from 0
_CONSTANT = 1e-10  # of its mean square: what is left of a constant column
_COPIED = 2**24  # entries of dense columns, 192 MB: more of them are left where they are
_CENTRED = 512  # full columns, of which descent would crawl along the means
_ROW = 256  # entries of a row, of which the Gram matrix of all columns costs no more than some looks


def softmax_curvature(f: LinearSum, loss: Softmax, z: Array, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """∇²f, dk × dk: block (i, j) is (1/N) Σ w pᵢ ([i = j] − pⱼ) a aᵀ; the last class follows from the others."""
    m, k = len(columns), f.classes[0]
    Q = np.empty((m, k, m, k))
    for i, j, cross in loss.crosses(z):
        Q[:, i, :, j] = Q[:, j, :, i] = f.a.gram(curved(f, cross) / f.n, columns)
    for i in range(k):
        Q[:, i, :, -1] = Q[:, -1, :, i] = -sum(Q[:, i, :, j] for j in range(k - 1))
    return Q.reshape(m * k, m * k)


def curved(f: LinearSum, bend: Array) -> NDArray[np.float64]:
    """w_i |φ''|"""
    bend = np.asarray(bend, np.float64)
    bend = np.abs(bend) if f.loss.curvature[0] < 0.0 else bend
    return np.asarray(bend if f.weights is None else bend * f.weights, np.float64)


def cheap(f: LinearSum) -> bool:
    """Whether the Gram matrix of all columns costs no more than some looks."""
    a: Any = f.a
    return shows_columns(a) and a.count(np.arange(f.shape[0])) <= _ROW * f.n


def curvature_at_0(f: LinearSum, z: Array, columns: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """∇²f(0), and the mean of its diagonal.

    With k classes it is (I − 11ᵀ/k)/k ⊗ K, K = AᵀWA/N: ∇f(0) sums to 0 over the classes, so that K/k serves each.
    """
    if f.grams is not None:
        Q, share = np.asarray(f.grams.on(columns)), 1.0
    elif isinstance(f.loss, Softmax):
        k = f.classes[0]
        Q, share = f.a.gram(f.weights, columns) / (k * f.n), 1.0 - 1.0 / k
    else:
        Q, share = rough_gram(f.a)(curved(f, f.loss.bend(z, f.labels)), columns) / f.n, 1.0
    return Q, share * float(np.trace(Q)) / len(Q)


def learned(
    Q: NDArray[np.float64], here: Seen, before: tuple[Array, Array], columns: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Q − Qs sᵀQ / ⟨s, Qs⟩ + e eᵀ / ⟨s, e⟩, s the last step and e how ∇f changed with it (BFGS): e = ∇²f s, if f is
    quadratic and nothing else moved. Before: the point before the last step, and ∇f there.
    """
    moved, changed = here.x - before[0], here.grad - before[1]
    s, e = moved[columns], changed[columns]
    Qs = Q @ s
    mine, own = float(s @ Qs), float(s @ e)
    if not (mine > 0.0 and own > 0.0 and np.linalg.norm(moved) <= _ALONE * np.linalg.norm(s)):
        return Q
    return np.asarray(Q + np.outer(e, e / own) - np.outer(Qs, Qs / mine))


def matrix(
    f: LinearSum,
    here: Seen,
    columns: NDArray[np.int64],
    p: Parts,
    share: float,
    before: tuple[Array, Array] | None = None,
    most: int = 2048,
    tiny: bool = False,
) -> Matrix:
    """Q = (1/N) Σ w_i |φ''(⟨a_i, x⟩)| a_i a_iᵀ + μR; for softmax all of ∇²f, dk × dk, where that is at most so wide: a
    bound of it costs steps.

    Before: the point before the last step and ∇f there, from which Q learns where it is rough and does not change.
    """
    k, bend = f.classes[0] if f.classes else 1, None
    if f.grams is not None:
        Q = np.asarray(f.grams.on(columns))
        Q = Q if before is None else learned(Q, here, before, columns)
    else:
        bend = curved(f, f.loss.bend(here.z, f.labels))
        if not isinstance(f.loss, Softmax) or len(columns) * k > most:
            Q = np.asarray(rough_gram(f.a)(bend, columns) / f.n, np.float64)
        else:
            Q = softmax_curvature(f, f.loss, here.z, columns)
            _hold(Q, np.flatnonzero(alone(p)), k)
    less = Reduced.of(Q, p)
    h = np.array(np.diagonal(Q))
    if less is not None:  # what columns far from 0 have in common is not theirs
        h[less.kept] = np.diagonal(less.Q)
        h[less.free] = np.clip(1.0 / np.diagonal(less.inverse), 0.0, h[less.free])  # nor those of F among themselves
    # The entries of a float32 Gram matrix are rounded: a ridge of less than this may leave it indefinite.
    share = max(share, float(np.finfo(f.dtype).eps) * len(Q))
    mu = share * _scale(f, columns, h, bend, None if less is None else ~alone(p))
    if less is None:
        Q[np.diag_indices(len(Q))] += mu
    else:
        less.add(Q, mu)
    return Matrix(Q, mu, tiny, f.grams is not None, less)


def by_columns(
    f: LinearSum, z: Array, columns: NDArray[np.int64], p: Parts, share: float, most: int = 2048
) -> ByColumns | ByClasses | None:
    """The same where a pass over the stored entries of these columns costs less than one over their Gram matrix.

    Of several classes where Q, dk × dk, would be wider than `most`. A small one that is the same everywhere is worth
    more: it leads to the end at once (`Model.end`); so is one from which an intercept can be eliminated.
    """
    a: Any = f.a
    if not shows_columns(a):
        return None
    if isinstance(f.loss, Softmax) and len(columns) * f.classes[0] > most:
        copied = a.count(columns) if hasattr(a, "rough_gram") else 0
        kept = columns[~alone(p)]
        if copied > _COPIED or f.widths is None or np.sum(f.means[kept] ** 2) > _MEAN * np.sum(f.widths[kept]):
            return None  # descent would crawl along the means
        return _by_classes(f, f.loss, z, columns, share)
    if p.rows or f.classes or len(columns) ** 2 < 2 * a.count(columns):
        return None
    if f.grams is not None and len(columns) <= SMALL:
        return None
    if hasattr(a, "rough_gram") and len(columns) <= _CENTRED and alone(p).any():
        return None
    bend = curved(f, f.loss.bend(z, f.labels))
    some, weights = Columns(*a.columns(columns)), np.asarray(bend / f.n, np.float64)
    h = some.sizes(weights)
    mu = share * _scale(f, columns, h, bend)
    return ByColumns(some, weights, mu, h + mu, mu)


def _by_classes(f: LinearSum, loss: Softmax, z: Array, columns: NDArray[np.int64], share: float) -> ByClasses:
    """∇²f + μR, and above the curvature of each column Σ w λ(p) a_ij²/N + μ_j, λ(p) above that of diag p − ppᵀ"""
    some, bend = Columns(*f.a.columns(columns)), curved(f, loss.bend(z, f.labels))  # type: ignore[attr-defined]
    weights = np.full(f.n, 1.0 / f.n) if f.weights is None else np.asarray(f.weights / f.n, np.float64)
    h = some.sizes(bend / f.n)
    mu = share * _scale(f, columns, h, bend)
    chances = np.ascontiguousarray(loss.chances(z), np.float64)
    none = np.zeros((len(columns), f.classes[0]))
    return ByClasses(some, weights, chances, h + mu, mu, np.zeros(len(columns)), none)


def fallen(Q: Metric, f: LinearSum, z: Array, columns: NDArray[np.int64]) -> Metric:
    """Q − (2θ/N) Σ w_i (φ'')₋ a_i a_iᵀ for the largest θ ≤ 1 that leaves it positive definite: ∇²f for θ = 1"""
    if f.loss.curvature[0] >= 0.0:
        return Q
    fall = 2.0 * curved(f, np.maximum(-f.loss.bend(z, f.labels), 0.0)) / f.n
    return Q.fallen(fall, lambda weights: f.a.gram(weights, columns))


def _hold(Q: NDArray[np.float64], rows: NDArray[Any], k: int) -> None:
    """Along (1, …, 1) in rows that no r1 holds, where f of k classes is constant, a mean curvature: rounding must not
    move them all together
    """
    for j in rows * k:
        block = Q[j : j + k, j : j + k]
        block += np.trace(block) / k**2


def _scale(
    f: LinearSum,
    columns: NDArray[np.int64],
    h: NDArray[Any],
    bend: NDArray[Any] | None,
    kept: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """R's diagonal: Q's own, h, so that columns of any scale are as those of length 1.

    At least 1e-3 of what h is at most where f is flat, its mean curvature w|φ''| being less than that, and in columns
    with next to no curvature. The same for all of k classes: where ∇f sums to 0 over them, so does a step. Kept: those
    that are not eliminated, whose means are the others'.
    """
    k, most = len(h) // len(columns), max(map(abs, f.loss.curvature))
    h = h if k == 1 else h.reshape(-1, k).mean(axis=1)
    middle = float(h.sum()) / len(h)
    flat = bend is not None and float(bend.sum()) < _FLAT * most * bend.size
    thin = np.full(len(h), True) if flat else h <= _LITTLE * middle
    if thin.any():
        thin = thin if kept is None else thin & kept  # little may be left of an intercept without the others
        h = np.where(thin, np.maximum(h, _FLAT * most * _spread(f, columns, kept is not None)), h)
        h = np.maximum(h, max(_NONE * middle, 1e-300))  # a column of zeros
    return h if k == 1 else np.repeat(h, k)


def _spread(f: LinearSum, columns: NDArray[np.int64], centred: bool) -> NDArray[np.float64]:
    """(1/N) Σ w a_ij², if centred without the squares of the means; for all the same where entries are not shown"""
    if f.widths is None:
        return np.full(len(columns), float(np.mean(f.sizes)) / f.shape[0])
    widths = np.asarray(f.widths[columns], np.float64)
    if not centred:
        return widths
    mass = 1.0 if f.weights is None else max(float(np.mean(f.weights)), 1e-300)
    left = widths - f.means[columns] ** 2 / mass
    return np.where(left > _CONSTANT * widths, left, widths)
