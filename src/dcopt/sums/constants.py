"""The constants of the theory, for a linear model in form (S)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data.rows import RowMatrix
from ..errors import CannotSolve
from ..losses import Loss
from ..xp import Array, namespace
from . import pieces
from .protocol import SumOverRows

_SMALL = 32  # below this many columns the matrix itself is formed
_SAFETY = 1.0 + 1e-6  # Krylov methods approach λ_max from below


class Smoothness(NamedTuple):
    """What is known of the curvature of f = (1/N) Σ f_i."""

    L_f: float  # every f_i is L_f-smooth
    Lbar: float  # largest curvature of f
    L_v: float  # variance smoothness: E‖(∇f_i(x) − ∇f_i(y)) − (∇f(x) − ∇f(y))‖² ≤ L_v² ‖x − y‖²
    m_f: float  # −(least curvature of f), 0 if f is convex
    m_i: float  # −(least curvature of any f_i)


@dataclass(frozen=True)
class Constants:
    """ρ_φ, ρ_H, ρ = ρ_φ + ρ_H, L_H, L, L_v, L_r2 of F = G − H + r1 − r2 (None: unknown or infinite)."""

    rho_phi: float
    rho_H: float
    L_H: float | None
    L: float | None
    L_v: float | None
    L_r2: float | None
    smoothness: Smoothness | None = None
    how: str = "from all components"

    @property
    def rho(self) -> float:
        return self.rho_phi + self.rho_H


def component_smoothness(f: SumOverRows) -> float:
    """L_f = max(|inf φ''|, sup φ'') max_i w_i ‖a_i‖²: one look at the rows; infinite where φ'' has no bound."""
    if not f.loss.bounded:
        return math.inf
    low, high = f.loss.curvature
    return max(high, -low) * f.largest_row


def require_bounded(f: SumOverRows, asked: str) -> None:
    """Refuse what is made of the largest curvature, where the curvature of the loss has no bound."""
    if not f.loss.bounded:
        raise CannotSolve(asked, no_bound(f.loss), "dca-local")


def no_bound(loss: Loss) -> str:
    """Why a method that follows from L refuses a loss"""
    return f"the curvature of the loss {type(loss).__name__} has no bound, from which κ would follow"


def majorizing_kappa(f: SumOverRows) -> float:
    """κ = L_f, or 1 if all rows are empty: any κ ≥ L_f majorizes."""
    # never so small that 1/κ or κ‖x‖² leave the numbers
    L_f, least = component_smoothness(f), float(np.finfo(f.dtype).tiny) ** 0.5
    return max(L_f, least) if L_f > 0.0 else 1.0


def smoothness(f: SumOverRows) -> Smoothness:
    """L̄ = sup φ'' λ_max(AᵀWA/N),  L_v = sup|φ''| √λ_max((1/N) Σ w_i² ‖a_i‖² a_i a_iᵀ)."""
    low, high = f.loss.curvature
    top, spread = top_of_rows(f), top_of_rows(f, by_size=True)
    most, steep = f.largest_row, max(high, -low)
    return Smoothness(
        L_f=steep * most,
        Lbar=high * min(top, most),
        L_v=steep * min(spread**0.5, most),
        m_f=max(0.0, -low) * min(top, most),
        m_i=max(0.0, -low) * most,
    )


def importance_kappa(f: SumOverRows, s: float) -> float:
    """κ for rows drawn with q_i ∝ w_i ‖a_i‖²: L_v² = (sup|φ''|)² (mean w_i ‖a_i‖²) λ_max(AᵀWA/N), a mean for a maximum.

    H = κ/2 ‖x‖² − f is convex for κ ≥ L̄, and PAGE descends by a = κ − L̄/2 − s L_v: κ = L̄/2 + 2 s L_v leaves a = s L_v.
    """
    low, high = f.loss.curvature
    top = top_of_rows(f)
    return noisy_kappa(high * top, max(high, -low) * math.sqrt(f.mean_row * top), s)


def noisy_kappa(Lbar: float, L_v: float, s: float) -> float:
    """max(L̄, L̄/2 + 2 s L_v): H = κ/2 ‖x‖² − f is convex, and an estimator of spread s leaves a ≥ s L_v (or L̄/2)."""
    return max(Lbar, 0.5 * Lbar + 2.0 * s * L_v)


def largest_eigenvalue(a: RowMatrix, weights: Array) -> float:
    """λ_max(Σ_i weights_i a_i a_iᵀ), weights ≥ 0, by Lanczos: products with A and Aᵀ only; rounded up by 1e-6."""
    scale = float(weights.max())
    if scale == 0.0:
        return 0.0
    c = weights / scale

    def times(v: Array) -> Array:
        z = a.dot(namespace(v).astype(v, a.dtype))
        return np.asarray(a.tdot(z * (c if z.ndim == 1 else c[:, None]).astype(z.dtype)), np.float64)

    return top_of(times, a.shape[1], a.dtype, scale)


def top_of_rows(f: SumOverRows, by_size: bool = False) -> float:
    """λ_max((1/N) Σ w_i a_i a_iᵀ), or with w_i² ‖a_i‖² in the place of w_i; likewise"""
    scale = max(f.each(pieces.most, f.n, by_size))
    if scale == 0.0:
        return 0.0
    return top_of(lambda v: f.total(pieces.product, v, f.n, by_size, scale), f.shape[0], f.dtype, scale)


def top_of(times: Callable[[Array], Array], d: int, dtype: Array, scale: float) -> float:
    """`scale` times the largest eigenvalue of a map of d numbers, positive semidefinite and computed in dtype"""
    if d <= _SMALL:
        return max(0.0, float(np.linalg.eigvalsh(times(np.eye(d)))[-1])) * scale * _SAFETY
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = np.random.Generator(np.random.Philox(0)).standard_normal(d)
    if not times(start).any():
        return 0.0
    operator = LinearOperator((d, d), matvec=lambda v: times(v.ravel()), dtype=np.float64)
    tol = 1e-8 if dtype == np.float64 else 1e-4
    value = eigsh(operator, k=1, which="LA", v0=start, tol=tol, return_eigenvectors=False)[0]
    return float(value) * scale * (_SAFETY if dtype == np.float64 else 1.0 + 1e-3)
