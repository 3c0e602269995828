"""The theorems as formulas, with the errors of the printed ones corrected. All arguments and results are numbers.

Symbols: ρ = ρ_φ + ρ_H; L_v variance smoothness; D0 = F(x0) − inf F; e_t = g_t − ∇H(x_t); Δ_t = x_{t+1} − x_t.

The estimators obey Σ E‖e_t‖² ≤ Θ² Σ E‖Δ_t‖² and a Lyapunov function falls by a E‖Δ_t‖² a step, so (finite sum)

    E d²  ≤ 2 ((L_H + L_r2 + ω)² + Θ²) D0 / (a T)        criticality, r2 smooth
    E gap ≤ (D0 / T) (1 + (Θ + ω)² / (2 ρ_φ a))           gap, any r2

for an output drawn uniformly from x_1 … x_T (criticality) or x_0 … x_{T−1} (gap), with a = ρ/2 − Θ − ω, where the
programs are solved to residuals of at most ω ‖Δ_{t−1}‖ (ω = 0: exactly).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..errors import BadSettings

MANY = 2**63
FLOOR = 0.01  # the share of ε that the floor of the residuals may take


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
    share: float = 0.0  # ω / ρ_φ, where programs are solved to residuals of at most ω ‖Δ_{t−1}‖

    @property
    def rho(self) -> float:
        return self.rho_phi + self.rho_H

    @property
    def omega(self) -> float:
        return self.share * self.rho_phi

    def descent(self, theta: float) -> float:
        """a = ρ/2 − θ − ω"""
        return self.rho / 2 - theta - self.omega

    def shifted(self, eta: float) -> ProblemConstants:
        """η/2 ‖x‖² added to G and H: ρ grows by 2η, the variance constant L_v stays (the printed L would not)."""
        return self._replace(rho_phi=self.rho_phi + eta, rho_H=self.rho_H + eta, L_H=self.L_H + eta, L=self.L + eta)


# ---- estimators


def rate(c: ProblemConstants, theta: float, cost: float, paper: float, first: float) -> Rate:
    """a = ρ/2 − Θ − ω of an estimator whose errors have Σ E‖e_t‖² ≤ Θ² Σ E‖Δ_t‖² for any steps"""
    return Rate(c.descent(theta), theta, cost, paper, first)


def page(c: ProblemConstants, p: float, b_small: int, b: float) -> Rate:
    """s² = (1−p)/(p b'), Θ = s L_v"""
    theta = spread(p, b_small) * c.L_v
    return rate(c, theta, p * b + 2 * (1 - p) * b_small, p * b + (1 - p) * b_small, b)


def spread(p: float | tuple[float, ...], b_small: int) -> float:
    """s = √((1−p)/(p b')): the share of L_v in the error. Of p_1, p_2, …: s² b' = max_j Σ_{t>j} Π_{j<i≤t} (1 − p_i)."""
    last, *before = p[::-1] if isinstance(p, tuple) else (p,)
    most = later = (1 - last) / last  # a step enters the errors of so many steps after it
    for chance in before:
        later = (1 - chance) * (1 + later)
        most = max(most, later)
    return math.sqrt(most / b_small)


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


def left(c: ProblemConstants, a: float, theta: float, eps: float, measure: str, floor: float) -> float:
    """ε' < ε for which the theorems are used, where residuals may be ω ‖Δ_{t−1}‖ + ζ, ζ the floor. Not positive: none.

    Criticality: ε' = ε − ζ (1 + √(2C)/a).   Gap: √ε' = √ε − ζ (1 + (Θ + ω)/a)/√(2 ρ_φ).
    """
    if floor == 0.0:
        return eps
    if measure == "gap":
        root_left = math.sqrt(eps) - floor * (1 + (theta + c.omega) / a) / math.sqrt(2 * c.rho_phi)
        return root_left * root_left if root_left > 0 else 0.0
    return eps - floor * (1 + math.sqrt(2 * squares(c, theta)) / a)


def bearable(c: ProblemConstants, a: float, theta: float, eps: float, measure: str) -> float:
    """The floor ζ of the residuals that leaves ε' = 0.99 ε."""
    if measure == "gap":
        return (1 - math.sqrt(1 - FLOOR)) * math.sqrt(2 * c.rho_phi * eps) / (1 + (theta + c.omega) / a)
    return FLOOR * eps / (1 + math.sqrt(2 * squares(c, theta)) / a)


def squares(c: ProblemConstants, theta: float) -> float:
    """C = (L_H + L_r2 + ω)² + Θ²"""
    return (c.L_H + (c.L_r2 or 0.0) + c.omega) ** 2 + theta**2


def steps(c: ProblemConstants, rate: Rate, D0: float, eps: float, measure: str) -> int:
    """T of the finite-sum theorems (A: criticality, C: gap)."""
    if measure == "gap":
        return whole(D0 / eps * (1 + (rate.Theta + c.omega) ** 2 / (2 * c.rho_phi * rate.a)), eps)
    return whole(2 * D0 * squares(c, rate.Theta) / rate.a / eps / eps, eps)


class Online(NamedTuple):
    """The choices of the online theorems."""

    b: int
    b_small: int
    p: float
    gamma: float
    a: float
    theta: float
    T: int


def lyapunov(rho: float, theta: float, omega: float = 0.0) -> tuple[float, float]:
    """γ and a(γ) = (ρ−γ)/2 − θ²/(2γ) − ω: γ = θ is best for a, but the floor divides by γ, so not below ρ/4 − ω/2."""
    rho = rho - 2 * omega
    gamma = max(theta, rho / 4)
    return gamma, (rho - gamma) / 2 - theta**2 / (2 * gamma)


def online(c: ProblemConstants, D0: float, sigma: float, eps: float, measure: str) -> Online:
    """B and C: b from the floor, b' = ⌈√b⌉, p = 1/b', T from the rest. Valid where ρ/2 − ω > L_v.

    The gap takes ‖e + ξ‖² ≤ (1 + λ)‖e‖² + (1 + 1/λ)‖ξ‖², λ = ω/max(L_v, ω), for errors e and residuals ξ.
    """
    # With b' p = 1, s < 1 for every b. Choosing b for s = 1 avoids the circular definition of b, p and α in the paper.
    gamma, a = lyapunov(c.rho, c.L_v, c.omega)
    more = 1 + (c.omega / max(c.L_v, c.omega) if c.omega else 0.0)
    own = (1 + 1 / (more - 1)) * c.omega**2 if c.omega else 0.0
    if measure == "gap":
        b = whole(sigma / eps * sigma / c.rho_phi * (more + (more * c.L_v**2 + own) / (2 * gamma * a)), eps)
    else:
        b = whole(4 * (squares(c, c.L_v) / (a * gamma) + 2) * sigma / eps * sigma / eps, eps)
    b_small = smaller(b)
    p = 1.0 / b_small
    theta = spread(p, b_small) * c.L_v
    gamma, a = lyapunov(c.rho, theta, c.omega)
    start = sigma**2 / (p * b)  # E‖e_0‖² ≤ σ²/b lives 1/p steps: the term the printed corollary drops
    if measure == "gap":
        square = more * theta**2 + own
        T = 2 / eps * (D0 + (square * (D0 + start / (2 * gamma)) / a + more * start) / (2 * c.rho_phi))
    else:
        T = max(4 * squares(c, theta) / a * (D0 + start / (2 * gamma)), 8 * start) / eps / eps
    return Online(b, b_small, p, gamma, a, theta, whole(T, eps))


def shift_for(c: ProblemConstants, theta: float, convex: bool = False) -> float:
    """The smallest η with a ≥ ρ/4 after it: η = (θ + ω − ρ/4)/(½ − ω/ρ_φ); `convex` asks for ρ_H ≥ 0 too.

    0 if a ≥ ρ/16 already: a smaller κ is faster in practice, but T grows without end as a falls to 0.
    """
    eta = 0.0 if 0 < c.rho <= 16 * c.descent(theta) else (theta + c.omega - c.rho / 4) / (0.5 - c.share)
    if convex:
        eta = max(eta, -c.rho_H)
    if c.shifted(eta).descent(theta) > 0:
        return eta
    return eta + (c.L_H or 1.0)  # Where ρ = θ = 0, any larger shift suffices.


# ---- whole numbers


def root(n: int) -> int:
    """⌈√n⌉"""
    return math.isqrt(n - 1) + 1


def smaller(b: int) -> int:
    """b' = ⌈√b⌉ < b; 1 for b ≤ 2, where every step takes a new estimate"""
    return min(root(b), max(1, b - 1))


def whole(value: float, eps: float) -> int:
    """⌈value⌉, at least 1; BadSettings where it exceeds 2**63."""
    if not value < MANY:
        raise BadSettings("eps", eps, "a larger accuracy: the theorem's count exceeds 2**63")
    return max(1, math.ceil(value))
