"""The shift of problem (M), and κ of a sum that is no loss over rows: one policy for all estimators."""

from __future__ import annotations

import math
from typing import Any

from .convex import ScaledIdentity
from .errors import CannotSolve
from .estimators import Extrapolated, Fresh, Full
from .estimators.base import KnowsItsError
from .problem import INNER_SHARE, Problem
from .sums.constants import Constants, Smoothness, noisy_kappa
from .theory.formulas import ProblemConstants, shift_for

_STREAM = 2**53  # A stream as a number of components: rows that are drawn are distinct with any sampling.


def known(P: Problem, c: Constants | None = None) -> ProblemConstants:
    """The constants of P as the formulas of the theorems take them; what is not known is 0."""
    c = P.constants if c is None else c
    n = math.inf if P.n is None else float(P.n)
    share = 0.0 if isinstance(P.G, ScaledIdentity) else INNER_SHARE
    return ProblemConstants(n, c.rho_phi, c.rho_H, c.L_H or 0.0, c.L or 0.0, c.L_v or 0.0, c.L_r2, share)


def error_of(estimator: Any, n: int | None) -> float:
    """s of an estimator that knows its error, else 0"""
    return estimator.spread(_STREAM if n is None else n) if isinstance(estimator, KnowsItsError) else 0.0


def for_descent(P: Problem, estimator: Any, name: str = "the estimator") -> tuple[Problem, tuple[str, ...]]:
    """P with the smallest η/2 ‖x‖² on G and H for which a = ρ/2 − s L_v − ω ≥ ρ/4, and what a run should say of it.

    0 where a ≥ ρ/16 already, where the estimator has no error (s L_v = 0) or says nothing of it, where L_v is not
    known, and where P is `fixed()`. Form (S) has no shift: κ is chosen there.
    """
    s = error_of(estimator, P.n)
    if P.f is not None or P.settled or s == 0.0:
        return P, ()
    L_v = P.constants.L_v
    if L_v is None:
        return P, (f"L_v of H is not known: no shift was chosen, and nothing is known of the descent of {name}",)
    if not math.isfinite(L_v):
        raise CannotSolve(name, "the h_i have kinks, so that no step is short enough for batches", "dca")
    c, theta = known(P), s * L_v
    eta = shift_for(c, theta) if theta > 0.0 else 0.0
    if eta == 0.0:
        return P, ()
    a = c.shifted(eta).descent(theta)
    said = f"{name} on G + η/2 ‖x‖² and H + η/2 ‖x‖², η = {eta:.4g}: a = ρ/2 − s L_v − ω is {a:.4g} there, "
    return P.shift(eta), (said + f"{c.descent(theta):.4g} without (P.fixed() is run as it is)",)


def own_smoothness(P: Problem) -> Smoothness | None:
    """The constants of a sum of its own, which is no loss over rows; None where it does not know them."""
    return None if P.n is None or P.f is None or P.f.facts().rows is not None else P.f.smoothness()


def own_kappa(s: Smoothness, estimator: Any, n: int) -> float:
    """κ from these: L̄ for full gradients, more for batches that correct one another, L_f for any other batch."""
    if isinstance(estimator, Full | Extrapolated):
        return s.Lbar
    corrects = isinstance(estimator, KnowsItsError) and not isinstance(estimator, Fresh)
    return noisy_kappa(s.Lbar, s.L_v, estimator.spread(n)) if corrects else s.L_f
