"""The three modes of a plan: the corrected theory, the theorems as printed, and the settings of `dca-page`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ..convex import Majorizer
from ..errors import BadSettings
from ..problem import Problem
from . import formulas
from .formulas import ProblemConstants
from .origins import OWN, Named, NamedConstant, constants_of, value_of
from .record import Condition, Measure, Plan


def in_own_metric(P: Problem, make: Callable[..., Plan], eps: float, D0: Named) -> Plan:
    """Theorem C for a G = τ/2 ⟨x, Qx⟩ that majorizes f, in the metric of Q: the gap is the same there."""
    rows = P.sum.facts().rows
    assert isinstance(P.G, Majorizer) and rows is not None  # The caller has checked P.own_constants.
    b_small = formulas.root(rows.n)
    P = replace(P, G=P.G.steady(rows, formulas.spread(1.0 / b_small, b_small)))  # dca-page uses the same τ.
    assert isinstance(P.G, Majorizer) and P.own_constants is not None
    c, named = constants_of(P, P.own_constants, OWN)
    remark = "the gap is that of G = τ/2 ⟨x, Qx⟩, and the theorem is taken in the metric of Q, where κ is τ"
    return replace(make(P, c, named + D0, eps, "gap", "finite-sum"), P=P, tau=P.G.tau, remarks=(remark,))


def certified(P: Problem, c: ProblemConstants, named: Named, eps: float, measure: Measure, setting: str) -> Plan:
    D0, n = value_of(named, "D0"), P.n
    if setting == "online":
        sigma = value_of(named, "sigma")
        eta = formulas.shift_for(c, c.L_v)
        shifted = c.shifted(eta)
        o = formulas.online(shifted, D0, sigma, eps, measure)
        if n is None or o.b < n:
            conditions = (
                Condition("ρ/2 > L_v (s < 1)", shifted.rho / 2, ">", shifted.L_v, shifted.rho > 2 * shifted.L_v),
                Condition("a(γ) > 0", o.a, ">", 0.0, o.a > 0),
            )
            seen = next(k for k in named if k.name == "sigma").how
            remarks = () if seen == "given" else ("σ was seen at x0, and the theorem needs it all along the path: "
                                                  "give sigma= if gradients may differ more elsewhere",)  # fmt: skip
            return _plan(P, "certified", setting, measure, eps, named, conditions, o, eta, D0, o.b, remarks)
        named += (NamedConstant("b", float(o.b), f"at least N = {n}: the finite-sum theorem is cheaper"),)
    assert n is not None
    b_small = formulas.root(n)
    p = 1.0 / b_small
    eta = formulas.shift_for(c, formulas.spread(p, b_small) * c.L_v, convex=True)
    shifted = c.shifted(eta)
    rate = formulas.page(shifted, p, b_small, n)
    T = formulas.steps(shifted, rate, D0, eps, measure)
    conditions = (
        Condition("a = ρ/2 − s L_v > 0", shifted.rho / 2, ">", rate.Theta, rate.a > 0),
        Condition("ρ_H ≥ 0 (H convex)", shifted.rho_H, ">=", 0.0, shifted.rho_H >= 0),
    )
    choice = formulas.Online(n, b_small, p, rate.Theta, rate.a, rate.Theta, T)
    return _plan(P, "certified", "finite-sum", measure, eps, named, conditions, choice, eta, D0, None)


def practical(P: Problem, c: ProblemConstants, named: Named, eps: float, measure: Measure, setting: str) -> Plan:
    if setting == "online":
        raise BadSettings("mode", "practical", "'certified' or 'paper' in the online setting: b must come from sigma")
    n, D0 = int(c.n), value_of(named, "D0")
    b_small = formulas.root(n)
    p = 1.0 / b_small
    rate = formulas.page(c, p, b_small, n)
    covered = Condition("a = ρ/2 − s L_v > 0", c.rho / 2, ">", rate.Theta, rate.a > 0)
    # Where the theory does not cover κ, the steps are those for a = ρ/4, which is an estimate without guarantee.
    T = formulas.steps(c, rate if rate.a > 0 else rate._replace(a=c.rho / 4), D0, eps, measure)
    choice = formulas.Online(n, b_small, p, rate.Theta, rate.a, rate.Theta, T)
    return _plan(P, "practical", setting, measure, eps, named, (covered,), choice, 0.0, D0, None)


def printed(P: Problem, c: ProblemConstants, named: Named, eps: float, measure: Measure, setting: str) -> Plan:
    D0 = value_of(named, "D0")
    sigma = value_of(named, "sigma") if setting == "online" else None
    if not (c.L > 0 and c.rho > 0):
        raise BadSettings("mode", "paper", f"L > 0 and rho > 0; here L = {c.L:g}, rho = {c.rho:g}")
    q = formulas.printed(c, D0, sigma, eps, measure, setting)
    low = (1 - q.p) * (c.L / c.rho) ** 2 / q.p
    conditions: tuple[Condition, ...] = (
        Condition("b' ≥ 4(1−p)L²/(pρ²)", q.b_small, ">=", 4 * low, q.b_small >= 4 * low),
        Condition("b' ≥ 16(1−p)L²/(pρ²) (used by the proof of T)", q.b_small, ">=", 16 * low, q.b_small >= 16 * low),
    )
    remarks = ["p b' = 1: both conditions are L/ρ ≤ 1/2 (1/4) up to √(1−p), whatever N is"]
    if measure == "gap":
        remarks.append("T is for the lagged gap, 0 after every exact step; the own-point gap needs (D0/ε)(1 + …)")
    if setting == "online":
        remarks.append("E‖e_0‖² ≤ σ²/b is dropped in the printed bound")
        if measure == "gap":
            remarks.append("α contains p = b^{-1/2}: the printed equation for b gives O(ε⁻²), not O(ε⁻¹)")
    choice = formulas.Online(q.b, q.b_small, q.p, q.gamma, math.nan, q.gamma, q.T)
    b = None if setting == "finite-sum" else q.b
    if b is not None and P.n is not None:
        conditions = (*conditions, Condition("b < N", b, "<", P.n, b < P.n))
    return _plan(P, "paper", setting, measure, eps, named, conditions, choice, 0.0, D0, b, tuple(remarks))


def _plan(
    P: Problem,
    mode: str,
    setting: str,
    measure: Measure,
    eps: float,
    named: Named,
    conditions: tuple[Condition, ...],
    o: formulas.Online,
    eta: float,
    D0: float,
    b: int | None,
    remarks: tuple[str, ...] = (),
) -> Plan:
    # A shifted majorizer is an ordinary quadratic. No method raises its τ.
    P = P.shift(eta) if eta or isinstance(P.G, Majorizer) else P.fixed()
    kappa = getattr(P.G, "kappa", None)
    a = None if math.isnan(o.a) else o.a
    return Plan(
        P, mode, setting, measure, eps, named, conditions, remarks, b, o.b_small, o.p, o.gamma, kappa, eta, a, o.T, D0
    )
