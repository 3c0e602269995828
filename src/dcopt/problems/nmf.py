"""Nonnegative matrix factorisation: F(U, V) = (1/2N) ‖X − UVᵀ‖² over U, V ≥ 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex, Radial
from ..convex.base import Part, inner
from ..data import check
from ..draw import as_seed
from ..errors import BadInput, pick, require, require_count, require_number
from ..problem import Problem
from ..regularizers import Nonnegative
from ..xp import Array
from .factors import Factors


@dataclass(frozen=True)
class GramQuartic(Part):
    """G(Z) = a/4 ‖ZᵀZ‖² + b/2 ‖Z‖², Z (d, c): a fourth power of a norm (Schatten's), so convex"""

    a: float
    b: float

    @property
    def rho(self) -> float:
        return self.b

    def shift(self, eta: float) -> GramQuartic:
        require_number("eta", eta, 0.0)
        return GramQuartic(self.a, self.b + eta)

    def value(self, x: Array) -> float:
        M = x.T @ x
        return 0.25 * self.a * inner(M, M) + 0.5 * self.b * inner(x, x)

    def grad(self, x: Array) -> Array:
        return x @ (self.a * (x.T @ x) + self.b * np.eye(x.shape[1], dtype=x.dtype))

    def hess_dot(self, x: Array, v: Array) -> Array:
        cross = v.T @ x
        return v @ (self.a * (x.T @ x)) + x @ (self.a * (cross + cross.T)) + self.b * v

    def bregman(self, x: Array, y: Array) -> float:
        """a/4 (‖XᵀX − YᵀY‖² + 2⟨YᵀY, hᵀh⟩) + b/2 ‖h‖², h = x − y: every term ≥ 0"""
        h = x - y
        cross, square = h.T @ y, h.T @ h
        S = cross + cross.T + square
        return 0.25 * self.a * (inner(S, S) + 2.0 * inner(y.T @ y, square)) + 0.5 * self.b * inner(h, h)


def nmf(X: Any, rank: int, *, form: Literal["gram", "bregman"] = "gram") -> Problem:
    """F(Z) = (1/2N) Σ ‖a_i − V u_i‖² over Z = (U; V) ≥ 0, U (N, rank) above V (d, rank), and H = G − f.

    With M = UᵀU + VᵀV = ZᵀZ and s = ‖X‖₂ (the largest singular value),
        ½‖X − UVᵀ‖² = [¼‖M‖² + s/2 ‖Z‖²] − [¼‖UᵀU‖² + ¼‖VᵀV‖² + s/2 ‖Z‖² + ⟨X, UVᵀ⟩] + ½‖X‖²,
    both brackets convex: ⟨X, UVᵀ⟩ ≥ −s/2 ‖Z‖².

    "gram":     G = the first bracket / N. A small convex program a step (it costs no data), steps that fit each factor.
    "bregman":  G = (3/4 ‖Z‖⁴ + s/2 ‖Z‖²) / N. Closed form, but every factor moves at the pace of the largest.

    x = 0 is critical: start from `nmf_start(X, rank, seed)`. `nmf_blocks(P)` alternates between U and V and is faster.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X = np.outer([1.0, 2.0, 3.0], [2.0, 1.0])
    >>> P = dcopt.problems.nmf(X, rank=1)
    >>> Z = dcopt.solve(P, "dca", steps=100, x0=dcopt.problems.nmf_start(X, 1), seed=0).x
    >>> (Z[:3] @ Z[3:].T).round(4)
    array([[2., 1.],
           [4., 2.],
           [6., 3.]])
    """
    pick("form", form, ("gram", "bregman"))
    a = _matrix(X, rank)
    n, top = len(a), _norm(a) or 1.0
    G: Convex = GramQuartic(1.0 / n, top / n) if form == "gram" else Radial(3.0 / n, top / n)
    tol = 1e-10 * max(1.0, top**1.5 / n)  # ‖Z‖² has the size of s, and ∇G(Z) that of s‖Z‖/N.
    return Problem(G, r=Nonnegative(), f=Factors(a, int(rank)), inner_tol=tol)


def nmf_start(X: Any, rank: int, seed: int = 0) -> Array:
    """U, V uniform in [0, 1), times the one number that fits ⟨X, UVᵀ⟩ best."""
    a = _matrix(X, rank)
    Z = np.random.Generator(np.random.Philox(as_seed(seed))).random((sum(a.shape), int(rank))).astype(a.dtype)
    product = Z[: len(a)] @ Z[len(a) :].T
    return np.asarray(Z * (float(np.sum(a * product)) / float(np.sum(product * product))) ** 0.5)


def _norm(a: NDArray[Any]) -> float:
    """s = ‖X‖₂, a little above: √λ_max of the smaller of XᵀX and XXᵀ"""
    a = a.astype(np.float64, copy=False)
    top = float(np.linalg.eigvalsh(a.T @ a if a.shape[0] >= a.shape[1] else a @ a.T)[-1])
    return float(np.sqrt(max(0.0, top))) * (1.0 + 1e-12)


def _matrix(X: Any, rank: Any) -> NDArray[Any]:
    a = check.real_array(X.toarray() if hasattr(X, "toarray") else X, "X")
    if a.ndim != 2:
        raise BadInput("X", f"expected 2 dimensions, got shape {a.shape}")
    check.not_empty(a.shape, "X")
    check.finite(a, "X")
    bad = np.argwhere(a < 0.0)
    if bad.size:
        i, j = map(int, bad[0])
        raise BadInput("X", f"{a[i, j]:.6g} is negative", row=i, column=j)
    require_count("rank", rank)
    require(int(rank) <= min(a.shape), "rank", rank, f"at most {min(a.shape)}, the smaller side of X")
    return np.ascontiguousarray(a)


def sample(seed: int) -> Problem:
    return nmf(_data(seed), 2)


def bregman_sample(seed: int) -> Problem:
    return nmf(_data(seed), 2, form="bregman")


def objective(seed: int) -> Callable[[Array], float]:
    X = _data(seed)
    return lambda Z: 0.5 * float(np.sum((X - Z[: len(X)] @ Z[len(X) :].T) ** 2)) / len(X)


def _data(seed: int) -> Array:
    return np.random.default_rng(seed).random((7, 4))
