"""The four theorems as the paper prints them."""

from __future__ import annotations

import math
from typing import NamedTuple

from . import formulas


class Printed(NamedTuple):
    """The choices of a theorem of the paper."""

    b: int
    b_small: int
    p: float
    gamma: float
    T: int


def printed(
    c: formulas.ProblemConstants, D0: float, sigma: float | None, eps: float, measure: str, setting: str
) -> Printed:
    """The four theorems, symbol by symbol (with b' = ⌈√b⌉ and p = 1/b', as their proofs choose)."""
    L, rho, rho_phi, r2 = c.L, c.rho, c.rho_phi, c.L_r2 or 0.0
    if setting == "finite-sum":
        b = int(c.n)
        b_small = formulas.root(b)
        p = 1.0 / b_small
        s2 = (1 - p) / (p * b_small)
        if measure == "gap":
            T = 2 * s2 * L**2 * D0 / (rho_phi * rho) / eps
        else:
            T = 8 * D0 / rho * ((L + r2) ** 2 + s2 * L**2) / eps / eps
        return Printed(b, b_small, p, L * math.sqrt(s2), formulas.whole(T, eps))
    assert sigma is not None
    if measure == "gap":
        # α contains p = b^{-1/2} and γ = L √(1−p): b = σ²/(α ε) is b − √b = k², k = 2 L σ²/(ρ_φ ρ ε).
        k = sigma * sigma / eps * 2 * L / (rho_phi * rho)
        half = (1 + math.hypot(1.0, 2 * k)) / 2
        b = formulas.whole(half * half if k else 1.0, eps)
    else:
        C = (L + r2) ** 2 + L**2
        b = formulas.whole(sigma / eps * sigma / eps * 4 * (4 * C + rho * L) / (rho * L), eps)
    b_small = formulas.smaller(b)
    p = 1.0 / b_small
    gamma = L * math.sqrt((1 - p) / (p * b_small))
    if measure == "gap":
        alpha = rho_phi * rho * gamma * p / (2 * L**2)
        extra = alpha * eps / (2 * p * gamma) if gamma else 0.0
        T = 4 * (b_small - 1) * L**2 / (rho_phi * b_small * rho) / eps * (D0 + extra)
    else:
        T = 16 * C * D0 / rho / eps / eps + 2 * C / (p * (2 * C + rho * gamma))
    return Printed(b, b_small, p, gamma, formulas.whole(T, eps))
