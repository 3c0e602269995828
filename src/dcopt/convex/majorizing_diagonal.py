"""G(x) = ½ ⟨x, Dx⟩ with a diagonal D ⪰ s (AᵀWA/N): one pass over the rows computes it, and a step is a prox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..data.column_statistics import in_blocks
from ..data.rows import RowMatrix
from ..errors import CannotSolve
from ..sums import LinearSum
from ..sums.constants import largest_eigenvalue, require_bounded
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

    def steady(self, f: LinearSum, s: float) -> Majorizer:
        """No step is 30 times longer than another, either: rare features are noisy in batches and need a large τ."""
        some = self if s == 0.0 else self._even()
        return Majorizer.steady(some, f, s)

    def _even(self) -> MajorizingDiagonal:
        m = np.maximum(self.m, self.L / _UNEVEN)
        return replace(self, m=m, made_of=moved(self.made_of, f"none below 1/{_UNEVEN:g} of the largest"))

    def spread(self, a: RowMatrix, weights: Array) -> float:
        """Lanczos' method on the rows b_i with b_ij = a_ij / √m_j, which are not formed: |a_i|² = ‖b_i‖²."""
        size2 = np.concatenate([squares.dot(1.0 / self.m) for _, squares in _shown(a, np.square)])
        b = _Scaled(a, 1.0 / np.sqrt(self.m))
        return largest_eigenvalue(b, weights * weights * size2 / a.shape[0])  # type: ignore[arg-type]  # b has dot, tdot


@dataclass(frozen=True, eq=False)
class _Scaled:
    """A diag(c), with the operations that Lanczos' method needs."""

    a: RowMatrix
    c: Array

    @property
    def shape(self) -> tuple[int, int]:
        return self.a.shape

    @property
    def dtype(self) -> Array:
        return np.dtype(np.float64)  # The type of the products, because c is wide.

    def dot(self, x: Array) -> Array:
        return self.a.dot((x.T * self.c).T)

    def tdot(self, c: Array) -> Array:
        return (self.a.tdot(c).T * self.c).T


def majorizing_diagonal(f: LinearSum) -> MajorizingDiagonal:
    """D_jj = s (1/N) Σ_i w_i |a_ij| ‖a_i‖₁, s = sup|φ″| (for softmax its largest eigenvalue, ½): G − f is convex.

    These are the row sums of s |A|ᵀW|A|/N, whose entries bound those of s AᵀWA/N: the difference is diagonally
    dominant. An empty column has the least of the others, 1 if there are none; none is so small that 1/D is not finite.
    """
    require_bounded(f, 'decomposition="diagonal"')
    n, d = f.a.shape
    low, high = f.loss.curvature
    sums, ones = np.zeros(d), np.ones(d)
    for rows, part in _shown(f.a, np.abs):
        length = part.dot(ones)
        sums += part.tdot(length if f.weights is None else length * np.asarray(f.weights[rows], np.float64))
    m = max(high, -low) / n * sums * _UP
    least = float(m[m > 0.0].min()) if m.any() else 1.0
    m = np.maximum(np.where(m > 0.0, m, least), float(np.finfo(f.dtype).tiny) ** 0.5)
    return MajorizingDiagonal(m, made_of=f)


def equilibrated_diagonal(f: LinearSum) -> MajorizingDiagonal:
    """D_jj = k s (1/N) Σ_i w_i a_ij², k the largest eigenvalue of AᵀWA/N after its diagonal is scaled to 1.

    G − f is convex, and no feature is measured by the size of another one. An empty column has the least of the others.
    """
    assert f.column_mean_squares is not None  # The caller has checked it.
    sizes = np.asarray(f.column_mean_squares, np.float64)
    least = float(sizes[sizes > 0.0].min()) if sizes.any() else 1.0
    sizes = np.maximum(np.where(sizes > 0.0, sizes, least), float(np.finfo(f.dtype).tiny) ** 0.5)
    low, high = f.loss.curvature
    weights = np.full(f.n, 1.0 / f.n) if f.weights is None else np.asarray(f.weights, np.float64) / f.n
    k = largest_eigenvalue(_Scaled(f.a, 1.0 / np.sqrt(sizes)), weights)  # type: ignore[arg-type]  # it has dot, tdot
    return MajorizingDiagonal(max(k, 1.0) * max(high, -low) * sizes * _UP)


def _shown(a: RowMatrix, function: Callable[[Array], Array]) -> Iterator[tuple[Array, RowMatrix]]:
    blocks = in_blocks(a, function)
    if blocks is None:
        own = type(getattr(a, "a", a)).__name__  # a user's matrix is inside a `Declared`
        raise CannotSolve('decomposition="diagonal"', f"{own} does not show its entries", "scalar")
    return blocks
