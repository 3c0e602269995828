"""The theorems as formulas, with the errors of the printed ones corrected. All arguments and results are numbers.

Symbols: ρ = ρ_φ + ρ_H; L_v variance smoothness; D0 = F(x0) − inf F; e_t = g_t − ∇H(x_t); Δ_t = x_{t+1} − x_t.

The estimators obey Σ E‖e_t‖² ≤ Θ² Σ E‖Δ_t‖² and a Lyapunov function falls by a E‖Δ_t‖² a step, so (finite sum)

    E d²  ≤ 2 ((L_H + L_r2)² + Θ²) D0 / (a T)            criticality, r2 smooth
    E gap ≤ (D0 / T) (1 + Θ² / (2 ρ_φ a))                 gap, any r2

for an output drawn uniformly from x_1 … x_T (criticality) or x_0 … x_{T−1} (gap).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..errors import BadSettings

MANY = 2**63


class Rate(NamedTuple):
    """The contribution of an estimator: the descent coefficient a, Θ, and gradients for each step (honest, paper)."""

    a: float
    Theta: float
    cost: float
    paper: float
    first: float  # The gradients of the first estimate.


class ProblemConstants(NamedTuple):
    """The constants of a problem at one κ."""

    n: float
    rho_phi: float
    rho_H: float
    L_H: float
    L: float
    L_v: float
    L_r2: float | None

    @property
    def rho(self) -> float:
        return self.rho_phi + self.rho_H

    def shifted(self, eta: float) -> ProblemConstants:
        """η/2 ‖x‖² added to G and H: ρ grows by 2η, the variance constant L_v stays (the printed L would not)."""
        return self._replace(rho_phi=self.rho_phi + eta, rho_H=self.rho_H + eta, L_H=self.L_H + eta, L=self.L + eta)


# ---- estimators (each: a, Θ, cost)


def page(c: ProblemConstants, p: float, b_small: int, b: float) -> Rate:
    """s² = (1−p)/(p b'), Θ = s L_v, a = ρ/2 − Θ."""
    theta = spread(p, b_small) * c.L_v
    return Rate(c.rho / 2 - theta, theta, p * b + 2 * (1 - p) * b_small, p * b + (1 - p) * b_small, b)


def full(c: ProblemConstants) -> Rate:
    return Rate(c.rho / 2, 0.0, c.n, c.n, c.n)


def svrg(c: ProblemConstants, b: int, period: int, exact: bool) -> Rate:
    """a = ρ/2 − L_x √((e−1) M (M+1)/b), Θ = L_x M/√(2b); L_x = L_v with the quadratic exact, else L."""
    Lx = c.L_v if exact else c.L
    small = period - 1
    a = c.rho / 2 - (Lx * math.sqrt((math.e - 1) * period * (period + 1) / b) if small else 0.0)
    theta = Lx * period / math.sqrt(2 * b) if small else 0.0
    return Rate(a, theta, (c.n + 2 * b * small) / period, (c.n + b * small) / period, c.n)


def loopless_svrg(c: ProblemConstants, b: int, q: float) -> Rate:
    """a = ρ/2 − 2 L_v/(q √b), Θ = 2 L_v/(q √b)."""
    theta = 0.0 if q == 1.0 else 2 * c.L_v / (q * math.sqrt(b))
    return Rate(c.rho / 2 - theta, theta, q * c.n + 2 * (1 - q) * b, q * c.n + (1 - q) * b, c.n)


def saga(c: ProblemConstants, b: int, exact: bool) -> Rate:
    """a = ρ/2 − Θ, Θ = s L_x ≤ 2 L_x/(q √b); L_x = L_v with the quadratic exact (MM), else L (DCA).

    q = 1 − (1 − 1/N)^b, the probability that b independent draws contain a given row. Table I has b/N.
    """
    theta = table_spread(visits(c.n, b), b) * (c.L_v if exact else c.L)
    return Rate(c.rho / 2 - theta, theta, b, b, c.n)


def spread(p: float, b_small: int) -> float:
    """s = √((1−p)/(p b')): the share of L_v in the error."""
    return math.sqrt((1 - p) / (p * b_small))


def visits(n: float, b: int) -> float:
    """1 − (1 − 1/N)^b"""
    return -math.expm1(b * math.log1p(-1.0 / n)) if n > 1 else 1.0


def table_spread(q: float, b: int) -> float:
    """s = 1/((1 − √(1−q)) √b) of a table of gradients, each of which a step renews with probability q"""
    return (1.0 + math.sqrt(1.0 - q)) / (q * math.sqrt(b))  # 1 − √(1−q) = q/(1 + √(1−q))


def steady(theta: float) -> float:
    """τ ≥ 1 with a = ρ/2 − Θ ≥ ρ/4 where κ = τ, L̄ = 1 and ρ = 2τ − 1: τ = ½ + 2Θ."""
    return max(1.0, 0.5 + 2.0 * theta)


# ---- steps for an accuracy


def steps(c: ProblemConstants, rate: Rate, D0: float, eps: float, measure: str) -> int:
    """T of the finite-sum theorems (A: criticality, C: gap)."""
    if measure == "gap":
        return whole(D0 / eps * (1 + rate.Theta**2 / (2 * c.rho_phi * rate.a)), eps)
    C = (c.L_H + (c.L_r2 or 0.0)) ** 2 + rate.Theta**2
    return whole(2 * D0 * C / rate.a / eps / eps, eps)


class Online(NamedTuple):
    """The choices of the online theorems."""

    b: int
    b_small: int
    p: float
    gamma: float
    a: float
    theta: float
    T: int


def lyapunov(rho: float, theta: float) -> tuple[float, float]:
    """γ and a(γ) = (ρ−γ)/2 − θ²/(2γ): γ = θ is best for a, but the floor divides by γ, so not below ρ/4."""
    gamma = max(theta, rho / 4)
    return gamma, (rho - gamma) / 2 - theta**2 / (2 * gamma)


def online(c: ProblemConstants, D0: float, sigma: float, eps: float, measure: str) -> Online:
    """B and C: b from the floor, b' = ⌈√b⌉, p = 1/b', T from the rest. Valid where ρ/2 > L_v."""
    # With b' p = 1, s < 1 for every b. Choosing b for s = 1 avoids the circular definition of b, p and α in the paper.
    gamma, a = lyapunov(c.rho, c.L_v)
    if measure == "gap":
        b = whole(sigma / eps * sigma / c.rho_phi * (1 + c.L_v**2 / (2 * gamma * a)), eps)
    else:
        C = (c.L_H + (c.L_r2 or 0.0)) ** 2 + c.L_v**2
        b = whole(4 * (C / (a * gamma) + 2) * sigma / eps * sigma / eps, eps)
    b_small = root(b)
    p = 1.0 / b_small
    theta = spread(p, b_small) * c.L_v
    gamma, a = lyapunov(c.rho, theta)
    start = sigma**2 / (p * b)  # E‖e_0‖² ≤ σ²/b lives 1/p steps: the term the printed corollary drops
    if measure == "gap":
        T = 2 / eps * (D0 + (theta**2 * (D0 + start / (2 * gamma)) / a + start) / (2 * c.rho_phi))
    else:
        C = (c.L_H + (c.L_r2 or 0.0)) ** 2 + theta**2
        T = max(4 * C / a * (D0 + start / (2 * gamma)), 8 * start) / eps / eps
    return Online(b, b_small, p, gamma, a, theta, whole(T, eps))


def shift_for(c: ProblemConstants, theta: float, convex: bool = False) -> float:
    """The smallest η with a ≥ ρ/4 after it: η = (4θ − ρ)/2; `convex` asks for ρ_H ≥ 0 too.

    0 if a ≥ ρ/16 already: a smaller κ is faster in practice, but T grows without end as a falls to 0.
    """
    eta = 0.0 if 0 < c.rho <= 16 * (c.rho / 2 - theta) else (4 * theta - c.rho) / 2
    if convex:
        eta = max(eta, -c.rho_H)
    if (c.rho + 2 * eta) / 2 - theta > 0:
        return eta
    return eta + (c.L_H or 1.0)  # Where ρ = θ = 0, any larger shift suffices.


# ---- the theorems as printed


class Printed(NamedTuple):
    """The choices of a theorem of the paper."""

    b: int
    b_small: int
    p: float
    gamma: float
    T: int


def printed(c: ProblemConstants, D0: float, sigma: float | None, eps: float, measure: str, setting: str) -> Printed:
    """The four theorems, symbol by symbol (with b' = ⌈√b⌉ and p = 1/b', as their proofs choose)."""
    L, rho, rho_phi, r2 = c.L, c.rho, c.rho_phi, c.L_r2 or 0.0
    if setting == "finite-sum":
        b = int(c.n)
        b_small = root(b)
        p = 1.0 / b_small
        s2 = (1 - p) / (p * b_small)
        if measure == "gap":
            T = 2 * s2 * L**2 * D0 / (rho_phi * rho) / eps
        else:
            T = 8 * D0 / rho * ((L + r2) ** 2 + s2 * L**2) / eps / eps
        return Printed(b, b_small, p, L * math.sqrt(s2), whole(T, eps))
    assert sigma is not None
    if measure == "gap":
        # α contains p = b^{-1/2}: b = σ²/(α ε) is an equation for b; γ = L √(1−p) ≈ L solves it
        half = sigma * sigma / eps * 2 * L / (rho_phi * rho)
        b = whole(half * half, eps)
    else:
        C = (L + r2) ** 2 + L**2
        b = whole(sigma / eps * sigma / eps * 4 * (4 * C + rho * L) / (rho * L), eps)
    b_small = root(b)
    p = 1.0 / b_small
    gamma = L * math.sqrt((1 - p) / (p * b_small))
    if measure == "gap":
        alpha = rho_phi * rho * gamma * p / (2 * L**2)
        extra = alpha * eps / (2 * p * gamma) if gamma else 0.0
        T = 4 * (b_small - 1) * L**2 / (rho_phi * b_small * rho) / eps * (D0 + extra)
    else:
        T = 16 * C * D0 / rho / eps / eps + 2 * C / (p * (2 * C + rho * gamma))
    return Printed(b, b_small, p, gamma, whole(T, eps))


def root(n: int) -> int:
    """⌈√n⌉"""
    return math.isqrt(n - 1) + 1


def whole(value: float, eps: float) -> int:
    """⌈value⌉, at least 1; BadSettings where it exceeds 2**63."""
    if not value < MANY:
        raise BadSettings("eps", eps, "a larger accuracy: the theorem's count exceeds 2**63")
    return max(1, math.ceil(value))
