"""The curvature of f where it is asked for, as Gram matrices of some columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses import Softmax
from ..remembered import Seen, rough_gram
from ..sums import LinearSum
from ..xp import Array

_ALONE = 1.01  # times as long as a step in some columns is one that hardly leaves them
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
    return hasattr(a, "count") and a.count(np.arange(f.shape[0])) <= _ROW * f.n


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
