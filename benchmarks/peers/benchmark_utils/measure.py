"""F(x) = (1/N) Σ φ(⟨a_i, x⟩, y_i) + Σ_j ψ(|x_j|), without an intercept, and how far x is from critical.

All of it in NumPy and float64 by the benchmark itself: no solver is asked how well it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import xlogy

GAMMA = {"l1": np.inf, "mcp": 3.0, "scad": 3.7}  # the usual values; MCP's γ, SCAD's a
SHARES = (0.1, 0.01, 0.001)  # λ / λ_max
CLOSE, CRITICAL = 1e-6, 1e-5  # the clock stops at F ≤ (1 + CLOSE) F_best (l1), at CRITICAL of the distance at 0


def psi(penalty: str, lam: float, a: np.ndarray) -> np.ndarray:
    """ψ(a), a = |x_j| ≥ 0."""
    g = GAMMA[penalty]
    if penalty == "l1":
        return lam * a
    if penalty == "mcp":
        return np.where(a < g * lam, lam * a - a * a / (2.0 * g), g * lam * lam / 2.0)
    middle = (2.0 * g * lam * a - a * a - lam * lam) / (2.0 * (g - 1.0))
    return np.where(a <= lam, lam * a, np.where(a <= g * lam, middle, lam * lam * (g + 1.0) / 2.0))


def dpsi(penalty: str, lam: float, a: np.ndarray) -> np.ndarray:
    """ψ'(a) for a > 0; ψ'(0⁺) = λ."""
    g = GAMMA[penalty]
    if penalty == "l1":
        return np.full_like(a, lam)
    if penalty == "mcp":
        return np.maximum(lam - a / g, 0.0)
    return np.where(a <= lam, lam, np.maximum(g * lam - a, 0.0) / (g - 1.0))


@dataclass(frozen=True, eq=False)
class Cell:
    """One problem: data, loss ("logistic", labels −1/+1; "squared", half the square), penalty, λ = share · λ_max."""

    X: Any  # CSR, or a C-ordered array
    y: np.ndarray
    loss: str
    penalty: str
    share: float

    def slope(self, z: np.ndarray) -> np.ndarray:
        """φ'(z)"""
        if self.loss == "squared":
            return z - self.y
        return -self.y * np.exp(-np.logaddexp(0.0, self.y * z))  # −y σ(−yz): nothing overflows

    @cached_property
    def slope0(self) -> np.ndarray:
        """|∇f(0)| by entries."""
        return np.abs(self.X.T @ self.slope(np.zeros(len(self.y)))) / len(self.y)

    @cached_property
    def lam(self) -> float:
        """share · max |Aᵀ φ'(0)| / N"""
        return float(self.share * self.slope0.max())

    @cached_property
    def distance0(self) -> float:
        """The critical distance at 0, where the clocks start."""
        return float(np.linalg.norm(np.maximum(self.slope0 - self.lam, 0.0)))

    @cached_property
    def most0(self) -> float:
        """The same in the maximum norm, in which skglm stops."""
        return float(self.slope0.max() - self.lam)

    def look(self, x: np.ndarray) -> dict[str, float]:
        """F, dist(−∇f(x), ∂r(x)), the duality gap (l1) and the number of entries that are not 0."""
        x = np.asarray(x, np.float64).ravel()
        if not np.isfinite(x).all():
            return {"F": np.inf, "distance": np.inf, "gap": np.inf, "nonzeros": -1}
        z, n, a = self.X @ x, len(self.y), np.abs(x)
        phi = 0.5 * (z - self.y) ** 2 if self.loss == "squared" else np.logaddexp(0.0, -self.y * z)
        F = float(phi.mean() + psi(self.penalty, self.lam, a).sum())
        slope = self.slope(z)
        u = -(self.X.T @ slope) / n
        off = np.where(a > 0.0, u - np.sign(x) * dpsi(self.penalty, self.lam, a), np.maximum(np.abs(u) - self.lam, 0.0))
        gap = F - self._dual(slope, float(np.abs(u).max())) if self.penalty == "l1" else np.inf
        return {"F": F, "distance": float(np.linalg.norm(off)), "gap": gap, "nonzeros": int(np.count_nonzero(x))}

    def _dual(self, slope: np.ndarray, most: float) -> float:
        """A lower bound on F (l1): the dual objective at the slopes, scaled until max |Aᵀc|/N ≤ λ."""
        c = slope * min(1.0, self.lam / most)
        if self.loss == "squared":
            return float((-c * self.y - 0.5 * c * c).mean())
        s = np.abs(c)
        return float(-(xlogy(s, s) + xlogy(1.0 - s, 1.0 - s)).mean())

    def done(self, look: dict[str, float], below: float = -np.inf) -> bool:
        """Nothing is to be gained by a smaller tolerance; `below`: a lower bound on F (l1) from another solver."""
        if self.penalty == "l1":
            F = look["F"]
            return look["gap"] <= 0.1 * CLOSE * abs(F) or F - below <= 0.9 * CLOSE * abs(F)
        return look["distance"] <= CRITICAL * self.distance0


def agree() -> None:
    """dcopt's F and critical distance are those of the benchmark, and skglm's penalties too, where it is installed."""
    import dcopt

    from .solvers import ours

    rng = np.random.default_rng(0)
    X, x = rng.normal(size=(60, 40)), np.where(rng.random(40) < 0.3, 0.0, rng.normal(size=40))
    for loss in ("logistic", "squared"):
        y = np.sign(rng.normal(size=60)) if loss == "logistic" else rng.normal(size=60)
        for penalty in GAMMA:
            for scale in (1e-3, 0.1, 1.0):  # inside, across and beyond the bends of ψ
                cell = Cell(X, y, loss, penalty, 0.5)
                P, mine = dcopt.erm(X, y, loss, ours(cell)), cell.look(scale * x)
                theirs = {"F": P.value(scale * x), "distance": dcopt.measures.criticality(P, scale * x)}
                for key, value in theirs.items():
                    assert np.isclose(value, mine[key], rtol=1e-10, atol=1e-12), (loss, penalty, scale, key)
                try:
                    from .solvers import skglm_penalty

                    value = skglm_penalty(cell).value(scale * x)
                except ImportError:
                    continue
                mine_r = psi(penalty, cell.lam, np.abs(scale * x)).sum()
                assert np.isclose(value, mine_r, rtol=1e-10), (penalty, scale, "skglm")
