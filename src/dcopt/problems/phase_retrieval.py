"""A signal from the intensities of its measurements: F(x) = (1/4N) Σ (⟨a_i, x⟩² − b_i)² + λ‖x‖₁."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from ..convex import Mean, Radial
from ..data import check
from ..data.rows import RowMatrix
from ..errors import BadInput, pick, require_number
from ..losses import Loss, Quartic
from ..problem import Problem
from ..regularizers import L1, Zero
from ..sums import LinearSum
from ..sums.constants import largest_eigenvalue
from ..xp import Array
from .base import ConvexSum, resolution

_FEW = 2000  # With up to this many rows an N × N matrix is cheap.


@dataclass(frozen=True)
class HalfSquare(Loss):
    """ϕ(z) = z²/2 − label/4: with label and weight b, b z²/2 − b²/4"""

    labels = "real"
    lower = None

    @property
    def curvature(self) -> tuple[float, float]:
        return 1.0, 1.0

    def value(self, z: Array, labels: Array) -> Array:
        return 0.5 * (z * z) - 0.25 * labels

    def slope(self, z: Array, labels: Array) -> Array:
        return z

    def bend(self, z: Array, labels: Array) -> Array:
        return 0.0 * z + 1.0


@dataclass(frozen=True)
class Intensity(Loss):
    """ϕ(z) = (z² − label)²/4,   ϕ″ = 3z² − label"""

    top: float  # The largest label.
    labels = "real"

    @property
    def curvature(self) -> tuple[float, float]:
        return -self.top, inf

    def value(self, z: Array, labels: Array) -> Array:
        e = z * z - labels
        return 0.25 * (e * e)

    def slope(self, z: Array, labels: Array) -> Array:
        return (z * z - labels) * z

    def bend(self, z: Array, labels: Array) -> Array:
        return 3.0 * (z * z) - labels


def phase_retrieval(
    A: Any, b: Any, lam: float = 0.0, *, form: Literal["quartic", "bregman"] = "quartic", eta: float | None = None
) -> Problem:
    """F(x) = (1/4N) Σ (⟨a_i, x⟩² − b_i)² + λ‖x‖₁, b ≥ 0.

    "quartic":  G = (1/4N) Σ ⟨a_i, x⟩⁴,   h_i = b_i ⟨a_i, x⟩²/2 − b_i²/4, and η/2 ‖x‖² on both sides. Few steps, but
        each is a convex program over all rows.
    "bregman":  G = c/4 ‖x‖⁴ + η/2 ‖x‖²,   H = G − f,   c ‖x‖² I ⪰ (3/N) Σ ⟨a_i, x⟩² a_i a_iᵀ ⪰ ∇²f. Many steps, each in
        closed form: here batches pay.

    x = 0 is critical and x, −x are alike: start from `spectral_start(A, b)`. By default η is a tenth of the
    curvature at a signal of the size that b tells.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> A = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    >>> b = (A @ [1.0, 2.0]) ** 2
    >>> P = dcopt.problems.phase_retrieval(A, b)
    >>> x = dcopt.solve(P, "dca", steps=200, x0=dcopt.problems.spectral_start(A, b), seed=0).x
    >>> abs(x).round(6)
    array([1., 2.])
    """
    pick("form", form, ("quartic", "bregman"))
    require_number("lam", lam, 0.0)
    rows, intensities = _measurements(A, b)
    n, size2 = rows.shape[0], _size2(rows, intensities)
    r = L1(lam) if lam > 0.0 else Zero()
    if eta is not None:
        require_number("eta", eta, 0.0, open_low=True)
    if form == "quartic":
        G = Mean(LinearSum(rows, Quartic(), np.zeros(n, rows.dtype)))
        H = ConvexSum(rows, HalfSquare(), intensities, intensities)
        wide = float(rows.norms2().mean()) / rows.shape[1]
        eta = float(eta or 0.1 * wide * float(intensities.mean()) or 1.0)
        return Problem(G, H, r, inner_tol=resolution(eta * size2**0.5)).shift(eta)
    c = 3.0 * fourth_moment(rows) or 1.0
    f = LinearSum(rows, Intensity(float(intensities.max())), intensities)
    eta = float(eta or 0.1 * c * size2 or 1.0)
    return Problem(Radial(c, eta), r=r, f=f, inner_tol=resolution(eta * size2**0.5))


def spectral_start(A: Any, b: Any, steps: int = 100) -> Array:
    """√size · the leading eigenvector of Σ b_i a_i a_iᵀ, b_i above 9 mean(b) left out, by the power method."""
    rows, intensities = _measurements(A, b)
    kept = np.where(intensities <= 9.0 * intensities.mean(), intensities, 0.0).astype(rows.dtype)
    v = np.random.Generator(np.random.Philox(0)).standard_normal(rows.shape[1]).astype(rows.dtype)
    for _ in range(steps):
        v = rows.tdot(kept * rows.dot(v))
        v = v / (np.linalg.norm(v) or 1.0)
    return np.asarray(v * _size2(rows, intensities) ** 0.5)


def _measurements(A: Any, b: Any) -> tuple[RowMatrix, Array]:
    rows = check.as_rows(A, "A")
    v = check.vector(b, "b", rows.shape[0]).astype(rows.dtype)
    check.finite(v[:, None], "b", lambda k: (k, None))
    bad = np.flatnonzero(v < 0.0)
    if bad.size:
        raise BadInput("b", f"{v[bad[0]]:.6g} is negative: intensities are squares", row=int(bad[0]))
    return rows, v


def fourth_moment(rows: RowMatrix) -> float:
    """A bound of (1/N) Σ ⟨a_i, x⟩² ⟨a_i, v⟩² over unit x and v.

    It is at most λ_max((1/N) Σ ‖a_i‖² a_i a_iᵀ). For few rows there is a better one: the maximum lies at x = v (the
    form is symmetric), and with B_i = a_i a_iᵀ − ‖a_i‖²/d I, ⟨a_i, x⟩² = ‖a_i‖²/d + ⟨B_i, xxᵀ − I/d⟩, so its
    root is at most √(mean ‖a_i‖⁴)/d + √((1 − 1/d) λ_max(⟨B_i, B_j⟩/N)).
    """
    (n, d), norms = rows.shape, rows.norms2()
    bound = largest_eigenvalue(rows, norms / n)
    if n <= _FEW:
        a = np.asarray(rows.dot(np.eye(d, dtype=rows.dtype)), np.float64)
        top = float(np.linalg.eigvalsh(((a @ a.T) ** 2 - np.outer(norms, norms) / d) / n)[-1])
        root = float(np.mean(norms**2)) ** 0.5 / d + (max(0.0, top) * (1.0 - 1.0 / d)) ** 0.5
        bound = min(bound, root**2 * (1.0 + 1e-6))
    return bound


def _size2(rows: RowMatrix, b: Array) -> float:
    """An estimate of ‖x‖² from b. For rows with uniform directions, mean ⟨a, x⟩² = ‖x‖² mean ‖a‖²/d"""
    total = float(rows.norms2().sum())
    return 0.0 if total == 0.0 else rows.shape[1] * float(b.sum()) / total


def sample(seed: int) -> Problem:
    return phase_retrieval(*_data(seed), lam=0.05)


def bregman_sample(seed: int) -> Problem:
    return phase_retrieval(*_data(seed), lam=0.05, form="bregman")


def objective(seed: int) -> Callable[[Array], float]:
    A, b = _data(seed)

    def F(x: Array) -> float:
        return float(np.mean(((A @ x) ** 2 - b) ** 2) / 4 + 0.05 * np.abs(x).sum())

    return F


def _data(seed: int) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(30, 4))
    return A, (A @ draw.normal(size=4)) ** 2 + 0.1 * draw.random(30)
