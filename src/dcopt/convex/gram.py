"""G(x) = ½ ⟨x, Qx⟩ with Q = s (AᵀWA/N): the one quadratic that majorizes every loss with |φ″| ≤ s over these rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..errors import BadInput
from ..sums import LinearSum
from .quadratic import Quadratic, gram

MOST_BYTES = 2 * 1024**3
_RIDGE = 1e-8  # in units of Q's diagonal: far above rounding, far below what slows a step
_BLOCK = 4096  # rows at once
_SMALL = 256  # up to so many features the spectrum costs nothing


@dataclass(frozen=True, eq=False)
class Gram(Quadratic):
    """G(x) = ½ ⟨x, Qx⟩, Q ⪰ `least` > 0 by a ridge on its diagonal; x is (d,) or (d, c).

    The spectrum, O(d³), is not asked for where d is large: `least` and Gershgorin's bound stand for it.
    """

    least: float = 0.0

    @property
    def rho(self) -> float:
        return max(self.least, super().rho) if len(self.Q) <= _SMALL else self.least

    @property
    def L(self) -> float:
        return super().L if len(self.Q) <= _SMALL else float(np.abs(self.Q).sum(axis=1).max())

    def scaled(self, tau: float) -> Gram:
        """τ G"""
        return Gram(tau * self.Q, least=tau * self.least)


def variance_smoothness(f: LinearSum, G: Gram) -> float:
    """E‖(∇f_i(x) − ∇f_i(y)) − (∇f(x) − ∇f(y))‖²_{Q⁻¹} ≤ ℓ²‖x − y‖²_Q,  ℓ² = s² λ_max(Q⁻¹ (1/N) Σ w_i² |a_i|² a_i a_iᵀ).

    |a|² = ⟨a, Q⁻¹a⟩: L_v in the metric of G. At least the root of the number of features; √N where a row has a column
    to itself.
    """
    root = np.linalg.inv(np.linalg.cholesky(G.Q))
    weights = np.ones(f.n) if f.weights is None else np.asarray(f.weights, np.float64)
    size2 = np.empty(f.n)
    for start in range(0, f.n, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, f.n))
        size2[rows] = np.sum(np.asarray(f.a.dot(root.T.astype(f.dtype), rows), np.float64) ** 2, axis=1)
    M = root @ gram(f.a, weights * weights * size2) @ root.T
    return max(f.loss.curvature[1], -f.loss.curvature[0]) * math.sqrt(max(0.0, float(np.linalg.eigvalsh(M)[-1])))


def majorizing_gram(f: LinearSum) -> Gram:
    """Q = s (AᵀWA/N + 1e-8 diag), s = sup|φ″| (for softmax its largest eigenvalue, ½): G − f is convex.

    The ridge is in units of the diagonal, so that scaling a column changes nothing; an empty column has 1.
    """
    d, (low, high) = f.a.shape[1], f.loss.curvature
    need = 8 * d * d
    if need > MOST_BYTES:
        instead = 'use decomposition="scalar", whose step is a prox'
        why = f"the Gram matrix of {d} columns takes {need:,} bytes, the most is {MOST_BYTES:,}: {instead}"
        raise BadInput("X", why)
    Q = max(high, -low) * gram(f.a, f.weights)
    diagonal = np.diagonal(Q).copy()
    ridge = _RIDGE * np.where(diagonal > 0.0, diagonal, 1.0)
    Q[np.diag_indices(d)] += ridge
    return Gram(Q, least=float(ridge.min()))
