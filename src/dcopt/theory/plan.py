"""The theorems as a planner: constants, conditions, batch sizes, steps and cost for an accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..convex import LocalCurvature, Majorizer
from ..errors import BadSettings, pick, require_number
from ..estimators import PAGE
from ..measures import MEASURES
from ..problem import Problem
from ..solve import first_state
from . import formulas
from .formulas import Scene
from .origins import OWN, Known, deviation, scene_of, start_value, value_of

if TYPE_CHECKING:
    from .compare import Comparison

Measure: TypeAlias = Literal["gap", "criticality"]


class Condition(NamedTuple):
    """A condition with its numbers on both sides."""

    name: str
    left: float
    sign: str
    right: float
    holds: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.left:.4g} {self.sign} {self.right:.4g} {'holds' if self.holds else 'VIOLATED'}"


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """DCA-PAGE for an accuracy ε: what to run, why, and what it costs. `print(plan)` explains it."""

    P: Problem  # with the plan's κ
    mode: str
    setting: str
    measure: Literal["gap", "criticality"]
    eps: float
    constants: tuple[Known, ...]
    conditions: tuple[Condition, ...]
    remarks: tuple[str, ...]
    b: int | None  # None: all N
    b_small: int
    p: float
    gamma: float
    kappa: float | None
    eta: float  # how much was added to κ
    a: float | None  # descent coefficient; None: not part of this theorem
    T: int
    D0: float
    x0: Any = None  # where D0 and sigma were taken; None: zeros
    tau: float | None = None  # of a G that majorizes f, where the theorem is taken in its metric

    def __repr__(self) -> str:
        return f"Plan({self.mode}, {self.setting}, E {self.measure} <= {self.eps:g}, T={self.T}, {self.estimator!r})"

    @property
    def violated(self) -> tuple[str, ...]:
        """The conditions that do not hold: with any of them, T carries no guarantee."""
        return tuple(c.name for c in self.conditions if not c.holds)

    @property
    def estimator(self) -> PAGE:
        return PAGE(p=self.p, b_small=self.b_small, b=self.b)

    @property
    def batch(self) -> int:
        """b as a number."""
        return self.b if self.b is not None else int(self.P.n or 0)

    @property
    def gradients(self) -> float:
        """Expected component gradients, honestly: b + (T−1)(p b + 2(1−p) b')."""
        return self.batch + (self.T - 1) * (self.p * self.batch + 2 * (1 - self.p) * self.b_small)

    @property
    def paper_gradients(self) -> float:
        """As the paper counts: b + T (p b + (1−p) b')."""
        return self.batch + self.T * (self.p * self.batch + (1 - self.p) * self.b_small)

    @property
    def bytes(self) -> int:
        """Memory beside the data: vectors of x's shape, one block of draws, the numbers of one batch."""
        item = int(np.dtype(self.P.dtype).itemsize)
        wide = math.prod(self.P.shape[1:])
        vectors = 10 * math.prod(self.P.shape) * item
        return vectors + 8 * 64 * self.b_small + 4 * item * wide * max(self.batch, 2 * self.b_small)

    @property
    def output(self) -> Literal["uniform", "uniform-before"]:
        """What the theorem speaks of: one of x_1 … x_T (criticality), or of x_0 … x_{T−1} (gap)."""
        return "uniform" if self.measure == "criticality" else "uniform-before"

    def compare(self) -> Comparison:
        """Table I with numbers: what the theory predicts for each method on this problem and ε."""
        from .compare import compare

        return compare(self)

    def __str__(self) -> str:
        from .prose import paragraph

        return paragraph(self)


def plan(
    P: Problem,
    eps: float,
    measure: Literal["gap", "criticality"] = "gap",
    setting: Literal["finite-sum", "online"] = "finite-sum",
    mode: Literal["certified", "paper", "practical"] = "certified",
    *,
    D0: float | None = None,
    sigma: float | None = None,
    x0: Any = None,
) -> Plan:
    """Batch sizes, probability, κ and steps for E measure(x̂) ≤ eps.

    "paper" follows the four theorems as printed and says which of their conditions this problem violates;
    "certified" follows the mended theory and raises κ until everything holds; "practical" is what `dca-page` does.
    D0 ≥ F(x0) − inf F and sigma² ≥ E‖∇h_i − ∇H‖² are computed or estimated when they are not given.

    Examples
    --------
    >>> import numpy as np, dcopt
    >>> P = dcopt.erm(np.eye(4), [0, 1, 0, 1])
    >>> dcopt.plan(P, eps=0.1).violated
    ()
    """
    require_number("eps", eps, 0.0, open_low=True)
    pick("measure", measure, ("gap", "criticality"))
    pick("setting", setting, ("finite-sum", "online"))
    pick("mode", mode, ("certified", "paper", "practical"))
    if isinstance(P.G, LocalCurvature):
        raise BadSettings("decomposition", "local", "scalar, diagonal or gram: a theorem speaks of one G for all steps")
    if measure == "criticality" and P.r.L2 is None:
        raise BadSettings("measure", measure, "'gap': r2 is not smooth, and the criticality theorems need L_r2")
    if P.n is None and setting == "finite-sum":
        raise BadSettings("setting", setting, "'online': the problem is a stream")
    make = {"certified": _certified, "practical": _practical, "paper": _printed}[mode]
    own = P.own_constants is not None
    if own and measure == "gap" and setting == "finite-sum" and mode != "paper":
        return _at_start(replace(_in_own_metric(P, make, eps, start_value(P, D0, x0)), x0=x0))
    scene, known = scene_of(P, P.constants)
    known += start_value(P, D0, x0)
    if setting == "online":
        known += deviation(P, sigma, x0)
    return _at_start(replace(make(P, scene, known, eps, measure, setting), x0=x0))


def _at_start(plan: Plan) -> Plan:
    """With a remark where x0 is as good as what is planned for."""
    P = plan.P
    if P.f is None or P.f.facts().rows is None:
        return plan
    value = MEASURES[plan.measure](P, P.examine(np.asarray(first_state(P, plan.x0).x, np.float64)))
    if not value <= plan.eps:
        return plan
    return replace(plan, remarks=(*plan.remarks, f"the {plan.measure} at x0 is {value:.3g}: ε is met without a step"))


# ---- the three modes


def _in_own_metric(P: Problem, make: Callable[..., Plan], eps: float, D0: tuple[Known, ...]) -> Plan:
    """Theorem C for a G = τ/2 ⟨x, Qx⟩ that majorizes f, in the metric of Q: the gap is the same there."""
    rows = P.sum.facts().rows
    assert isinstance(P.G, Majorizer) and rows is not None  # the caller has seen P.own_constants
    b_small = formulas.root(rows.n)
    P = replace(P, G=P.G.steady(rows, formulas.spread(1.0 / b_small, b_small)))  # as dca-page takes it
    assert isinstance(P.G, Majorizer) and P.own_constants is not None
    scene, known = scene_of(P, P.own_constants, OWN)
    remark = "the gap is that of G = τ/2 ⟨x, Qx⟩, and the theorem is taken in the metric of Q, where κ is τ"
    return replace(make(P, scene, known + D0, eps, "gap", "finite-sum"), P=P, tau=P.G.tau, remarks=(remark,))


def _certified(P: Problem, c: Scene, known: tuple[Known, ...], eps: float, measure: Measure, setting: str) -> Plan:
    D0, n = value_of(known, "D0"), P.n
    if setting == "online":
        sigma = value_of(known, "sigma")
        eta = formulas.shift_for(c, c.L_v)
        shifted = c.shifted(eta)
        o = formulas.online(shifted, D0, sigma, eps, measure)
        if n is None or o.b < n:
            conditions = (
                Condition("ρ/2 > L_v (s < 1)", shifted.rho / 2, ">", shifted.L_v, shifted.rho > 2 * shifted.L_v),
                Condition("a(γ) > 0", o.a, ">", 0.0, o.a > 0),
            )
            seen = next(k for k in known if k.name == "sigma").how
            remarks = () if seen == "given" else ("σ was seen at x0, and the theorem needs it all along the path: "
                                                  "give sigma= if gradients may differ more elsewhere",)  # fmt: skip
            return _plan(P, "certified", setting, measure, eps, known, conditions, o, eta, D0, o.b, remarks)
        known += (Known("b", float(o.b), f"at least N = {n}: the finite-sum theorem is cheaper"),)
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
    return _plan(P, "certified", "finite-sum", measure, eps, known, conditions, choice, eta, D0, None)


def _practical(P: Problem, c: Scene, known: tuple[Known, ...], eps: float, measure: Measure, setting: str) -> Plan:
    if setting == "online":
        raise BadSettings("mode", "practical", "'certified' or 'paper' in the online setting: b must come from sigma")
    n, D0 = int(c.n), value_of(known, "D0")
    b_small = formulas.root(n)
    p = 1.0 / b_small
    rate = formulas.page(c, p, b_small, n)
    covered = Condition("a = ρ/2 − s L_v > 0", c.rho / 2, ">", rate.Theta, rate.a > 0)
    # where the theory does not cover κ, the steps are those of its best a = ρ/4: an orientation, not a promise
    T = formulas.steps(c, rate if rate.a > 0 else rate._replace(a=c.rho / 4), D0, eps, measure)
    choice = formulas.Online(n, b_small, p, rate.Theta, rate.a, rate.Theta, T)
    return _plan(P, "practical", setting, measure, eps, known, (covered,), choice, 0.0, D0, None)


def _printed(P: Problem, c: Scene, known: tuple[Known, ...], eps: float, measure: Measure, setting: str) -> Plan:
    D0 = value_of(known, "D0")
    sigma = value_of(known, "sigma") if setting == "online" else None
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
    return _plan(P, "paper", setting, measure, eps, known, conditions, choice, 0.0, D0, b, tuple(remarks))


def _plan(
    P: Problem,
    mode: str,
    setting: str,
    measure: Measure,
    eps: float,
    known: tuple[Known, ...],
    conditions: tuple[Condition, ...],
    o: formulas.Online,
    eta: float,
    D0: float,
    b: int | None,
    remarks: tuple[str, ...] = (),
) -> Plan:
    # a shifted majorizer is a quadratic like any other, whose τ no method raises
    P = P.shift(eta) if eta or isinstance(P.G, Majorizer) else P.fixed()
    kappa = getattr(P.G, "kappa", None)
    a = None if math.isnan(o.a) else o.a
    return Plan(
        P, mode, setting, measure, eps, known, conditions, remarks, b, o.b_small, o.p, o.gamma, kappa, eta, a, o.T, D0
    )
