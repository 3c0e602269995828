"""What the measurements share."""

from __future__ import annotations

import math

import dcopt
from dcopt.estimators import PAGE


def safe_page(P: dcopt.Problem, p: float = 0.05, b_small: int | None = None) -> tuple[dcopt.Problem, PAGE]:
    """PAGE with the least shift η for which the theory covers it: ρ/2 + η > s L_v, s² = (1 − p)/(p b').

    The named recipe dca-page (b' = ⌈√N⌉, p = 1/b') does not ask for that, and where G is a sharp metric such as a Gram
    matrix it is far from it: it can diverge.
    """
    b = b_small or max(1, P.n // 40)
    c = P.constants
    s = math.sqrt((1 - p) / (p * b))
    return P.shift(max(0.0, 1.01 * s * c.L_v - c.rho / 2)), PAGE(p=p, b_small=b)
