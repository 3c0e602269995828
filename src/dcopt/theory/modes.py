"""The three modes of a plan: the corrected theory, the theorems as printed, and the settings of `dca-page`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ..convex import Majorizer
from ..errors import BadSettings
from ..estimators import PAGE
from ..problem import INNER_SHARE, Problem
from ..shift import for_descent
from . import formulas
from . import printed as as_printed
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
    least = P.G.rho / P.G.tau  # the least eigenvalue of Q: ‖ξ‖_{Q⁻¹} ≤ ‖ξ‖/√least, ‖Δ‖ ≤ ‖Δ‖_Q/√least
    c = c._replace(share=P.omega / least / c.rho_phi)
    remark = "the gap is that of G = τ/2 ⟨x, Qx⟩, and the theorem is taken in the metric of Q, where κ is τ"
    plan = make(P, c, named + D0, eps, "gap", "finite-sum", unit=math.sqrt(least))
    tau, P = P.G.tau, replace(P, inner_tol=plan.P.inner_tol)
    return replace(plan, P=P, tau=tau, omega=P.omega, remarks=(remark, *plan.remarks))


def certified(
    P: Problem, c: ProblemConstants, named: Named, eps: float, measure: Measure, setting: str, unit: float = 1.0
) -> Plan:
    """`unit` is what a residual of 1 is divided by in the metric of the theorem."""
    D0, n = value_of(named, "D0"), P.n
    if setting == "online":
        sigma = value_of(named, "sigma")
        eta = formulas.shift_for(c, c.L_v)
        shifted = c.shifted(eta)
        _, a = formulas.lyapunov(shifted.rho, shifted.L_v, shifted.omega)
        solved, rest = _solved(P, shifted, a, shifted.L_v, eps, measure, unit)
        o = formulas.online(shifted, D0, sigma, rest, measure)
        if n is None or o.b < n:
            half = shifted.rho / 2 - shifted.omega
            left = "ρ/2 − ω" if shifted.share else "ρ/2"
            conditions = (
                Condition(f"{left} > L_v (s < 1)", half, ">", shifted.L_v, half > shifted.L_v),
                Condition("a(γ) > 0", o.a, ">", 0.0, o.a > 0),
                *_deviation(next(k for k in named if k.name == "sigma")),
            )
            return _plan(solved, "certified", setting, measure, eps, named, conditions, o, eta, D0, o.b)
        named += (NamedConstant("b", float(o.b), f"at least N = {n}: the finite-sum theorem is cheaper"),)
    assert n is not None
    b_small = formulas.root(n)
    p = 1.0 / b_small
    eta = formulas.shift_for(c, formulas.spread(p, b_small) * c.L_v, convex=True)
    shifted = c.shifted(eta)
    rate = formulas.page(shifted, p, b_small, n)
    P, rest = _solved(P, shifted, rate.a, rate.Theta, eps, measure, unit)
    T = formulas.steps(shifted, rate, D0, rest, measure)
    convex = Condition("ρ_H ≥ 0 (H convex)", shifted.rho_H, ">=", 0.0, shifted.rho_H >= 0)
    conditions = (_descends(shifted, rate), convex)
    choice = formulas.Online(n, b_small, p, rate.Theta, rate.a, rate.Theta, T)
    return _plan(P, "certified", "finite-sum", measure, eps, named, conditions, choice, eta, D0, None)


def _solved(
    P: Problem, c: ProblemConstants, a: float, theta: float, eps: float, measure: str, unit: float
) -> tuple[Problem, float]:
    """P with an inner_tol that the theorem can bear, and the ε' that is left for the theorem."""
    if c.share == 0.0 or not a > 0:
        return P, eps
    floor = min(P.inner_tol / unit, formulas.bearable(c, a, theta, eps, measure))
    return replace(P, inner_tol=floor * unit), formulas.left(c, a, theta, eps, measure, floor)


def _descends(c: ProblemConstants, rate: formulas.Rate) -> Condition:
    omega = " − ω" if c.share else ""
    return Condition(f"a = ρ/2 − s L_v{omega} > 0", c.rho / 2, ">", rate.Theta + c.omega, rate.a > 0)


def _deviation(sigma: NamedConstant) -> tuple[Condition, ...]:
    """σ as a condition, unless it was given"""
    value = sigma.value or 0.0
    if sigma.how.startswith("estimated"):
        return (Condition("σ at every x_t ≤ σ at x0 (sigma= takes a bound)", value, "<=", value, None),)
    if sigma.how == "given":
        return ()
    return (Condition("σ ≥ sup|φ'| √(mean w_i² ‖a_i‖²)", value, ">=", value, True),)


def practical(
    P: Problem, c: ProblemConstants, named: Named, eps: float, measure: Measure, setting: str, unit: float = 1.0
) -> Plan:
    if setting == "online":
        raise BadSettings("mode", "practical", "'certified' or 'paper' in the online setting: b must come from sigma")
    n, D0 = int(c.n), value_of(named, "D0")
    b_small = formulas.root(n)
    p = 1.0 / b_small
    eta = for_descent(P, PAGE(p, b_small))[0].eta - P.eta  # 0 in form (S)
    shifted = c.shifted(eta)
    rate = formulas.page(shifted, p, b_small, n)
    conditions: tuple[Condition, ...] = (_descends(shifted, rate),)
    rest, floor = eps, P.inner_tol / unit
    if c.share and rate.a > 0:
        rest = formulas.left(shifted, rate.a, rate.Theta, eps, measure, floor)
        bears = formulas.bearable(shifted, rate.a, rate.Theta, eps, measure)
        conditions += (Condition("ζ ≤ what T can bear", floor, "<=", bears, floor <= bears),)
    # Where the theory does not cover κ, the steps are those for a = ρ/4, which is an estimate without guarantee.
    usable = rate if rate.a > 0 else rate._replace(a=shifted.rho / 4)
    T = formulas.steps(shifted, usable, D0, rest if rest > 0.5 * eps else eps, measure)
    choice = formulas.Online(n, b_small, p, rate.Theta, rate.a, rate.Theta, T)
    return _plan(P, "practical", setting, measure, eps, named, conditions, choice, eta, D0, None)


def printed(
    P: Problem, c: ProblemConstants, named: Named, eps: float, measure: Measure, setting: str, unit: float = 1.0
) -> Plan:
    D0 = value_of(named, "D0")
    sigma = value_of(named, "sigma") if setting == "online" else None
    if not (c.L > 0 and c.rho > 0):
        raise BadSettings("mode", "paper", f"L > 0 and rho > 0; here L = {c.L:g}, rho = {c.rho:g}")
    q = as_printed.printed(c, D0, sigma, eps, measure, setting)
    low = (1 - q.p) * (c.L / c.rho) ** 2 / q.p
    conditions: tuple[Condition, ...] = (
        Condition("b' ≥ 4(1−p)L²/(pρ²)", q.b_small, ">=", 4 * low, q.b_small >= 4 * low),
        Condition("b' ≥ 16(1−p)L²/(pρ²) (used by the proof of T)", q.b_small, ">=", 16 * low, q.b_small >= 16 * low),
    )
    remarks = ["p b' = 1: both conditions are L/ρ ≤ 1/2 (1/4) up to √(1−p), whatever N is"]
    if c.share:
        remarks.append("the printed theorems take the programs for exact: residuals are in no term of T")
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
    before = P.constants.rho_phi
    P = (P.shift(eta) if eta or isinstance(P.G, Majorizer) else P).fixed()
    if P.omega and mode != "paper":
        said = f"the programs are solved to residuals of at most ω ‖x_t − x_t₋₁‖, ω = {INNER_SHARE:g} ρ_φ"
        remarks += (f"{said}, or ζ = {P.inner_tol:.3g} where that is more; both are in T",)
    if eta and measure == "gap":
        times = f"at most {1 + eta / before:.4g} times as large" if before > 0 else "not bounded by it, since ρ_φ = 0"
        remarks += (f"the gap is that of the shifted G; the gap of the G that was given is {times}",)
    kappa = getattr(P.G, "kappa", None)
    a = None if math.isnan(o.a) else o.a
    return Plan(
        P, mode, setting, measure, eps, named, conditions, remarks, b, o.b_small, o.p, o.gamma, kappa, eta, a, o.T, D0,
        omega=P.omega, floor=P.inner_tol if P.omega else 0.0,
    )  # fmt: skip
