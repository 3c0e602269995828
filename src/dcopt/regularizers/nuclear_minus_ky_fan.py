"""Low rank: the sum of all but the k largest singular values; r₁ and r₂ are explicit, without a profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..xp import Array, namespace
from .base import ButLargest, Down, length, nothing, total
from .constraint import Rounded
from .spectral import Spectrum, bad, matrix, number, spectrum, symmetric, values

_UNITS = 8.0  # Singular values move by so many units in the last place of the largest, for each row or column of x.


@dataclass(frozen=True)
class NuclearMinusKyFan(Rounded, ButLargest):
    """r(X) = λ (‖X‖_* − Σ_{i≤k} σ_i(X)) = λ Σ_{i>k} σ_i(X): 0 exactly where X has a rank of at most k.

    X is (m, n), with singular values σ_1 ≥ σ_2 ≥ …; a vector is one column. k = 0 is the nuclear norm λ‖X‖_*. r₂ has
    kinks where σ_k = σ_{k+1}, also where both are 0; `steepest` gives a w that shows whether F falls from there.
    Singular values are taken as equal, or as 0, where they differ by the rounding of X.
    """

    lam: float
    k: int = 0

    @property
    def one_step(self) -> bool:
        return True

    def value(self, x: Array) -> float:
        if bad(x):
            return math.nan
        s = values(x)
        return self.lam * total(s[min(self.k, s.shape[0]) :])

    def r1(self, x: Array) -> float:
        return math.nan if bad(x) else self.lam * total(values(x))

    def prox(self, v: Array, step: Any) -> Array:
        """U diag((s − λ step)₊) Vᵀ: a soft threshold of the singular values of v."""
        xp, t = namespace(v), number(step) * self.lam
        if bad(v):
            return v * math.nan
        if t == 0.0:
            return v + 0.0
        at = spectrum(v)
        return xp.reshape(at.times(xp.maximum(at.s - t, 0.0)), v.shape)

    def subgrad(self, x: Array) -> Array:
        """λ U_k V_kᵀ of the k largest singular values that are not 0, of equal ones those that come first."""
        if bad(x):
            return x * math.nan
        at = spectrum(x)
        return self._top(at, min(self.k, self._rank(x, at.s)), x)

    def steepest(self, x: Array, down: Down) -> Array:
        """As `subgrad`, with the w of ∂r₂(x) for which down() + w is farthest from ∂r₁(x) where σ_k is tied.

        Let P, Q hold the singular vectors of the values equal to σ_k, s of which belong to the k largest, u = down().
        σ_k > 0: the w are λ(U_a V_aᵀ + P Z Qᵀ) with 0 ≤ Z ≤ I, tr Z = s, and u enters the squared distance by
        2λ⟨PᵀuQ, Z⟩: Z takes the s leading eigenvectors of the symmetric part of PᵀuQ. σ_k = 0: the w are
        λ(U_a V_aᵀ + P Z Qᵀ) with ‖Z‖₂ ≤ 1, ‖Z‖_* ≤ s, and to take singular vectors of PᵀuQ with the value a adds
        a² − (a − λ)₊², which grows with a: Z takes the s leading ones.
        """
        if bad(x):
            return x * math.nan
        xp, size = namespace(x), min(matrix(x).shape)
        k = min(self.k, size)
        if k == 0 or self.lam == 0.0:
            return nothing(x)
        at = spectrum(x)
        rank = self._rank(x, at.s)
        near = self._room(x, float(at.s[0]))
        above = int(xp.count_nonzero(at.s > at.s[k - 1] + near))
        tied = int(xp.count_nonzero(at.s[:rank] >= at.s[k - 1] - near))
        if tied == k:
            return self._top(at, k, x)
        u = matrix(down())
        if bad(u):
            return x * math.nan
        if rank < k:
            new = spectrum(_off(u, at, rank).rest)
            more = min(k - rank, int(xp.count_nonzero(new.s > self._room(u, length(u)))))
            return self._top(at, rank, x) + self._top(new, more, x)
        P, Q = at.U[:, above:tied], at.Vt[above:tied, :].T
        _, Z = xp.linalg.eigh(symmetric(P.T @ u @ Q))
        Z = Z[:, tied - k :]  # the k − above leading ones
        return self._top(at, above, x) + xp.reshape(self.lam * ((P @ Z) @ (Z.T @ Q.T)), x.shape)

    def distance(self, u: Array, x: Array) -> float:
        """∂r₁(X) = λ{UVᵀ + W: UᵀW = 0, WV = 0, ‖W‖₂ ≤ 1}. What is left of u where both sides are off U and V has

        the distance (Σ (σ_i − λ)₊²)^(1/2), the rest that of u − λUVᵀ to 0.
        """
        if bad(u) or bad(x):
            return math.nan
        xp, at = namespace(u, x), spectrum(x)
        rank = self._rank(x, at.s)
        parts = _off(matrix(u), at, rank)
        both = length(parts.both - self.lam * xp.eye(rank, dtype=u.dtype))
        rest = length(xp.maximum(values(parts.rest) - self.lam, 0.0))
        return math.hypot(both, length(parts.left), length(parts.right), rest)

    def rank(self, x: Array) -> int:
        """The number of singular values of x that are not 0 but for rounding."""
        return self._rank(x, values(x))

    def _rank(self, x: Array, s: Array) -> int:
        return int(namespace(s).count_nonzero(s > self._room(x, float(s[0]))))

    def _room(self, x: Array, largest: float) -> float:
        """How far rounding of x, with this largest singular value, may move the others."""
        xp = namespace(x)
        eps = float(xp.finfo(xp.float32 if self.single else x.dtype).eps)
        most = max(int(n) for n in x.shape)
        return _UNITS * eps * most * largest

    def _top(self, at: Spectrum, k: int, x: Array) -> Array:
        """λ U_k V_kᵀ"""
        return namespace(x).reshape(self.lam * (at.U[:, :k] @ at.Vt[:k, :]), x.shape)


class _Parts(NamedTuple):
    """u in the singular vectors of X, of its first `rank` singular values."""

    both: Array  # UᵀuV
    left: Array  # Uᵀu off V
    right: Array  # uV off U
    rest: Array  # (I − UUᵀ) u (I − VVᵀ)


def _off(u: Array, at: Spectrum, rank: int) -> _Parts:
    U, Vt = at.U[:, :rank], at.Vt[:rank, :]
    rows, columns = U.T @ u, u @ Vt.T
    both = U.T @ columns
    left, right = rows - both @ Vt, columns - U @ both
    return _Parts(both, left, right, u - U @ rows - right @ Vt)
