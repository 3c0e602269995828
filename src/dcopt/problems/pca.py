"""Directions of most variance: one, nonnegative or sparse, or k orthonormal ones, of rows at hand or of a stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convex import ScaledIdentity
from ..data import check
from ..errors import BadSettings, require, require_count, require_number
from ..losses import Loss, Squared
from ..problem import Problem
from ..regularizers import Ball, SpectralBall
from ..sums.constants import largest_eigenvalue
from ..xp import Array, namespace
from .base import ConvexSum


@dataclass(frozen=True)
class HalfSquares(Loss):
    """ϕ(z) = ‖z‖²/2 of the k numbers z = xᵀa of a row (..., k); its Hessian is the identity. Labels are not read."""

    labels = "class"
    wide = True

    @property
    def curvature(self) -> tuple[float, float]:
        return 1.0, 1.0

    def value(self, z: Array, labels: Array) -> Array:
        return 0.5 * namespace(z).sum(z * z, axis=-1)

    def slope(self, z: Array, labels: Array) -> Array:
        return z + 0.0

    def bend(self, z: Array, labels: Array) -> Array:
        return 0.0 * z[..., 0] + 1.0  # NaN stays NaN.


def pca(
    X: Any, *, k: int | None = None, nonnegative: bool | None = None, lam: float = 0.0, eta: float | None = None
) -> Problem:
    """F(x) = −(1/2N) Σ ⟨a_i, x⟩² + λ‖x‖₁ over ‖x‖ ≤ 1 (and x ≥ 0):   G = η/2 ‖x‖²,   h_i = ⟨a_i, x⟩²/2 + η/2 ‖x‖².

    The step is a soft threshold, a positive part and a scaling to the ball: the power method with a memory η. Rows are
    taken as they are: subtract the mean for variances. x = 0 is critical: start from `pca_start(X)`.

    With k, x is (d, k) and F(x) = −(1/2N) Σ ‖xᵀa_i‖² over ‖x‖₂ ≤ 1, the largest singular value. This is the convex hull
    of the matrices with orthonormal columns, and F, which is concave, is least at one of them: an orthonormal basis of
    the k leading eigenvectors of XᵀX. The step is a polar factor: orthogonal iteration with a memory η.

    Parameters
    ----------
    k : None: one direction, x (d,); a number: so many directions at once, neither nonnegative nor sparse
    nonnegative : default True for one direction. Not with k: the projection onto both constraints has no closed form
    lam : sparsity of one direction
    eta : default λ_max(XᵀX/N) / 10; small is fast, large is what batches can be trusted with

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> X = np.array([[2.0, 1.0, 0.0], [2.0, 0.0, -1.0], [1.0, 1.0, 0.0]])
    >>> P = dcopt.problems.pca(X)
    >>> dcopt.solve(P, "dca", steps=200, x0=dcopt.problems.pca_start(X), seed=0).x.round(4)
    array([0.9379, 0.3469, 0.    ])
    >>> P = dcopt.problems.pca(X, k=2)
    >>> V = dcopt.solve(P, "dca", tol=1e-9, x0=dcopt.problems.pca_start(X, k=2, steps=0), seed=0).x
    >>> bool(np.allclose(V.T @ V, np.eye(2)))
    True
    """
    require_number("lam", lam, 0.0)
    positive = _positive(nonnegative, k)
    if k is not None and lam > 0.0:
        raise BadSettings("lam", lam, "0 with k: the prox of ‖x‖₁ and ‖x‖₂ ≤ 1 together has no closed form")
    rows = check.as_rows(X)
    n, d = rows.shape
    if eta is None:
        eta = 0.1 * largest_eigenvalue(rows, np.full(n, 1.0 / n)) or 1.0
    require_number("eta", eta, 0.0, open_low=True)
    zeros = np.zeros(n, rows.dtype)
    if k is None:
        H, r = ConvexSum(rows, Squared(), zeros), Ball(1.0, float(lam), positive)
        return Problem(ScaledIdentity(float(eta)), H, r, eta=float(eta))
    _require_k(k, d)
    H = ConvexSum(rows, HalfSquares(), zeros, None, (int(k),))
    return Problem(ScaledIdentity(float(eta)), H, SpectralBall(), eta=float(eta))


def pca_start(X: Any, *, k: int | None = None, nonnegative: bool | None = None, steps: int = 100) -> Array:
    """The leading eigenvector of XᵀX by the power method; nonnegative: the longer of its two positive parts.

    With k the k leading ones by orthogonal iteration; after 0 steps a random basis, which needs only the width of X.
    """
    require_count("steps", steps, 0)
    positive = _positive(nonnegative, k)
    rows = check.as_rows(X)
    draw = np.random.Generator(np.random.Philox(0))
    if k is not None:
        _require_k(k, rows.shape[1])
        V = np.linalg.qr(draw.standard_normal((rows.shape[1], int(k))).astype(rows.dtype))[0]
        for _ in range(steps):
            V = np.linalg.qr(rows.tdot(rows.dot(V)))[0]
        return np.asarray(V)
    v = draw.standard_normal(rows.shape[1]).astype(rows.dtype)
    for _ in range(steps):
        v = rows.tdot(rows.dot(v))
        v = v / (np.linalg.norm(v) or 1.0)
    if positive:
        v = max(np.maximum(v, 0.0), np.maximum(-v, 0.0), key=lambda p: float(np.linalg.norm(rows.dot(p))))
        v = v / (np.linalg.norm(v) or 1.0)
    return np.asarray(v)


def _positive(nonnegative: Any, k: Any) -> bool:
    """Whether x ≥ 0, which is the default for one direction."""
    require(nonnegative in (None, True, False), "nonnegative", nonnegative, "None, True or False")
    if k is not None and nonnegative:
        expected = "None or False with k: the projection onto x >= 0 and ‖x‖₂ ≤ 1 together has no closed form"
        raise BadSettings("nonnegative", nonnegative, expected)
    return k is None and nonnegative is not False


def _require_k(k: Any, d: int) -> None:
    require_count("k", k)
    require(int(k) <= d, "k", k, f"at most {d}, the columns of X")


def sample(seed: int) -> Problem:
    return pca(_data(seed), lam=0.1)


def objective(seed: int) -> Callable[[Array], float]:
    X = _data(seed)
    return lambda x: float(-np.mean((X @ x) ** 2) / 2 + 0.1 * np.abs(x).sum())


def basis_sample(seed: int) -> Problem:
    return pca(_data(seed), k=2)


def basis_objective(seed: int) -> Callable[[Array], float]:
    X = _data(seed)
    return lambda x: -0.5 * float(np.trace(x.T @ (X.T @ X / len(X)) @ x))


def _data(seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=(30, 5)) * [3.0, 2.0, 1.0, 1.0, 1.0]
