"""G(x) = ½ ⟨x, Qx⟩ with Q = s (AᵀWA/N): the one quadratic that majorizes every loss with |φ″| ≤ s over these rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..data.rows import gram
from ..errors import BadInput
from ..sums import LinearSum, SumOverRows, pieces
from ..sums.constants import require_bounded
from ..xp import Array
from .majorizer import Majorizer
from .quadratic import Quadratic

MOST_BYTES = 2 * 1024**3
_RIDGE = 1e-8  # The ridge in units of Q's diagonal: far above rounding, and too small to slow steps.
_BLOCK = 4096  # The number of rows that are read at once.
_FEATURES_WITH_SPECTRUM = 256  # With up to this many features the spectrum takes little time.


@dataclass(frozen=True, eq=False, repr=False)
class Gram(Majorizer, Quadratic):
    """G(x) = ½ ⟨x, Qx⟩, Q ⪰ `least` > 0 by a ridge on its diagonal; x is (d,) or (d, c).

    The spectrum, O(d³), is not computed where d is large; `least` and Gershgorin's bound replace it.
    """

    least: float = 0.0
    tau: float = 1.0

    @property
    def rho(self) -> float:
        return max(self.least, super().rho) if len(self.Q) <= _FEATURES_WITH_SPECTRUM else self.least

    @property
    def L(self) -> float:
        return super().L if len(self.Q) <= _FEATURES_WITH_SPECTRUM else float(np.abs(self.Q).sum(axis=1).max())

    @property
    def resolution(self) -> float:
        """The residual of a program that is asked for: that of columns that only the ridge tells apart, 1e-8 Q_jj at
        coefficients of 1, or at those of 1/√Q_jj that large columns have
        """
        return max(1e-10, min(self.least, math.sqrt(_RIDGE * self.least)))

    def scaled(self, by: float) -> Gram:
        return replace(self, Q=by * self.Q, least=by * self.least, tau=by * self.tau)

    def spread(self, f: SumOverRows) -> float:
        root = np.linalg.inv(np.linalg.cholesky(self.Q))
        return float(np.linalg.eigvalsh(root @ (f.total(_gram_by_size, root) / f.n) @ root.T)[-1])


def _gram_by_size(f: LinearSum, root: Array) -> Array:
    """Σ w_i² |a_i|² a_i a_iᵀ of a part, |a| = ‖root a‖"""
    size2, w = np.empty(f.n), pieces.weights(f)
    for start in range(0, len(size2), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(size2)))
        size2[rows] = np.sum(np.asarray(f.a.dot(root.T, rows), np.float64) ** 2, axis=1)
    return gram(f.a, w * w * size2, np.arange(f.shape[0]))


def majorizing_gram(f: SumOverRows) -> Gram:
    """Q = s (AᵀWA/N + 1e-8 diag), s = sup|φ″| (for softmax its largest eigenvalue, ½): G − f is convex.

    The ridge is in units of the diagonal, so that scaling a column changes nothing; an empty column has 1.
    """
    require_bounded(f, 'decomposition="gram"')
    d, (low, high) = f.shape[0], f.loss.curvature
    need = 8 * d * d
    if need > MOST_BYTES:
        instead = 'use decomposition="diagonal" or "scalar", whose steps are a prox'
        why = f"the Gram matrix of {d} columns takes {need:,} bytes, the most is {MOST_BYTES:,}: {instead}"
        raise BadInput("X", why)
    Q = max(high, -low) * (f.total(pieces.weighted_gram, np.arange(d)) / f.n)
    diagonal = np.diagonal(Q).copy()
    ridge = _RIDGE * np.where(diagonal > 0.0, diagonal, 1.0)
    Q[np.diag_indices(d)] += ridge
    return Gram(Q, least=float(ridge.min()), made_of=f)
