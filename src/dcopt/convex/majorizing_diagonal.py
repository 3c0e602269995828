"""G(x) = ½ ⟨x, Dx⟩ with a diagonal D ⪰ s (AᵀWA/N): one pass over the rows computes it, and a step is a prox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.column_statistics import in_blocks
from ..data.rows import RowMatrix
from ..errors import CannotSolve
from ..sums import LinearSum, SumOverRows, pieces
from ..sums.constants import require_bounded, top_of
from ..xp import Array
from .base import moved
from .diagonal import Diagonal
from .majorizer import Majorizer

_UP = 1.0 + 1e-9  # This is more than rounding may have removed.
_UNEVEN = 30.0  # On a9a, w8a and mushrooms 30 and 100 do equally well, and 10 and 1000 do worse.


@dataclass(frozen=True, eq=False, repr=False)
class MajorizingDiagonal(Majorizer, Diagonal):
    """G(x) = ½ Σ_j m_j x_j², m = τD: one step, of length 1/m_j, for every feature."""

    tau: float = 1.0

    def scaled(self, by: float) -> MajorizingDiagonal:
        return replace(self, m=by * self.m, tau=by * self.tau)

    def steady(self, f: SumOverRows, s: float) -> Majorizer:
        """No step is 30 times longer than another, either: rare features are noisy in batches and need a large τ."""
        some = self if s == 0.0 else self._even()
        return Majorizer.steady(some, f, s)

    def _even(self) -> MajorizingDiagonal:
        m = np.maximum(self.m, self.L / _UNEVEN)
        return replace(self, m=m, made_of=moved(self.made_of, f"none below 1/{_UNEVEN:g} of the largest"))

    def spread(self, f: SumOverRows) -> float:
        """Lanczos' method on the rows b_i with b_ij = a_ij / √m_j, which are not formed: |a_i|² = ‖b_i‖²."""
        return _top(f, 1.0 / np.sqrt(self.m), _by_size, self.m)


def _by_size(f: LinearSum, m: Array, n: int) -> NDArray[np.float64]:
    """w_i² |a_i|² / n, |a_i|² = Σ_j a_ij² / m_j"""

    def sizes() -> NDArray[np.float64]:
        size2 = np.concatenate([squares.dot(1.0 / m) for _, squares in _shown(f.a, np.square)])
        return np.asarray(pieces.weights(f) ** 2 * size2 / n)

    found: NDArray[np.float64] = pieces.kept(f, "_by_size", m, sizes)
    return found


def _plain(f: LinearSum, m: Array, n: int) -> NDArray[np.float64]:
    """w_i / n"""
    return pieces.row_weights(f, n, by_size=False)


_Weights: TypeAlias = Callable[[LinearSum, Array, int], NDArray[np.float64]]


def _top(f: SumOverRows, c: Array, weights: _Weights, m: Array) -> float:
    """λ_max(diag(c) Σ_i weights_i a_i a_iᵀ diag(c)), in float64 because c is wide"""
    scale = max(f.each(_most, weights, m, f.n))
    if scale == 0.0:
        return 0.0
    return top_of(lambda v: f.total(_product, v, c, weights, m, f.n, scale), f.shape[0], np.dtype(np.float64), scale)


def _most(f: LinearSum, weights: _Weights, m: Array, n: int) -> float:
    return float(weights(f, m, n).max())


def _product(f: LinearSum, v: Array, c: Array, weights: _Weights, m: Array, n: int, scale: float) -> Array:
    """c ∘ Aᵀ(weights/scale ∘ A (c ∘ v)) of a part, for one or more columns v"""
    z, w = f.a.dot((v.T * c).T), weights(f, m, n) / scale
    out = f.a.tdot(z * (w if z.ndim == 1 else w[:, None]).astype(z.dtype))
    return np.asarray((out.T * c).T, np.float64)


def majorizing_diagonal(f: SumOverRows) -> MajorizingDiagonal:
    """D_jj = s (1/N) Σ_i w_i |a_ij| ‖a_i‖₁, s = sup|φ″| (for softmax its largest eigenvalue, ½): G − f is convex.

    These are the row sums of s |A|ᵀW|A|/N, whose entries bound those of s AᵀWA/N: the difference is diagonally
    dominant. An empty column has the least of the others, 1 if there are none; none is so small that 1/D is not finite.
    """
    require_bounded(f, 'decomposition="diagonal"')
    low, high = f.loss.curvature
    m = max(high, -low) / f.n * f.total(_sums_of_lengths) * _UP
    least = float(m[m > 0.0].min()) if m.any() else 1.0
    m = np.maximum(np.where(m > 0.0, m, least), float(np.finfo(f.dtype).tiny) ** 0.5)
    return MajorizingDiagonal(m, made_of=f)


def _sums_of_lengths(f: LinearSum) -> NDArray[np.float64]:
    """Σ_i w_i |a_ij| ‖a_i‖₁ of a part"""
    d = f.shape[0]
    sums, ones = np.zeros(d), np.ones(d)
    for rows, part in _shown(f.a, np.abs):
        length = part.dot(ones)
        sums += part.tdot(length if f.weights is None else length * np.asarray(f.weights[rows], np.float64))
    return sums


def equilibrated_diagonal(f: SumOverRows) -> MajorizingDiagonal:
    """D_jj = k s (1/N) Σ_i w_i a_ij², k the largest eigenvalue of AᵀWA/N after its diagonal is scaled to 1.

    G − f is convex, and no feature is measured by the size of another one. An empty column has the least of the others.
    """
    assert f.column_mean_squares is not None  # The caller has checked it.
    sizes = np.asarray(f.column_mean_squares, np.float64)
    least = float(sizes[sizes > 0.0].min()) if sizes.any() else 1.0
    sizes = np.maximum(np.where(sizes > 0.0, sizes, least), float(np.finfo(f.dtype).tiny) ** 0.5)
    low, high = f.loss.curvature
    k = _top(f, 1.0 / np.sqrt(sizes), _plain, sizes)
    return MajorizingDiagonal(max(k, 1.0) * max(high, -low) * sizes * _UP)


def _shown(a: RowMatrix, function: Callable[[Array], Array]) -> Iterator[tuple[Array, RowMatrix]]:
    blocks = in_blocks(a, function)
    if blocks is None:
        own = type(getattr(a, "a", a)).__name__  # a user's matrix is inside a `Declared`
        raise CannotSolve('decomposition="diagonal"', f"{own} does not show its entries", "scalar")
    return blocks
