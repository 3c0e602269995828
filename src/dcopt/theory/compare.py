"""Table I with numbers: what the theory predicts for each method on one problem."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import BadSettings
from ..estimators import PAGE, SAG, SAGA, SVRG, Estimator, Full, LooplessSVRG
from ..method import outside
from ..methods import METHODS
from ..shift import error_of, known
from ..sums.constants import Smoothness
from . import formulas
from .formulas import ProblemConstants, Rate
from .origins import value_of
from .record import Plan

ORDERS = {  # Table I of the paper; DCA takes N gradients in each of O(ε⁻²) steps, and SDCA has no rate there.
    "dca": "N ε⁻²",
    "sdca": "none",
    "dca-saga": "N + N^(3/4) ε⁻²",
    "dca-svrg": "N + N^(2/3) ε⁻²",
    "mm-saga": "N + N^(2/3) ε⁻²",
    "mm-svrg": "N + N^(2/3) ε⁻²",
    "mm-sarah": "N + N^(1/2) ε⁻²",
    "dca-page": "N + N^(1/2) ε⁻²",
}
_RATIO = 1.02  # of neighbours on the grid of κ or η: the bound is flat around its minimum
_WIDE = 1000.0  # how far the grid goes beyond L_f, or beyond the constants of (M)


class Row(NamedTuple):
    """One method, with its own κ or η and with the one that minimises the cost in its theorem."""

    method: str
    order: str
    own: float  # Its own κ; on problem (M), its shift η.
    a: float  # The descent coefficient there. The theory covers it if > 0.
    own_T: int
    gradients: float | None  # The prediction there; None if the theory does not cover it.
    best: float  # The κ or η of the least cost.
    T: int
    best_gradients: float

    @property
    def covered(self) -> bool:
        return self.a > 0


@dataclass(frozen=True)
class Comparison:
    """Predicted component gradients of every method until E measure ≤ ε, of one and the same measure."""

    eps: float
    measure: str
    rows: tuple[Row, ...]
    knob: str = "κ"  # What `own` and `best` are: κ in form (S), η on problem (M).
    of: str = ""  # The G of the gap.

    @property
    def cheapest(self) -> Row:
        """The method with the fewest predicted gradients, each with its best κ or η."""
        return min(self.rows, key=lambda row: row.best_gradients)

    def __str__(self) -> str:
        columns = ("method", "order", self.knob, "a", "gradients", f"best {self.knob}", "T", "gradients")
        head = "{:9} {:16} {:>9} {:>10} {:>10}   {:>9} {:>9} {:>10}".format(*columns)
        lines = [f"predicted until E {self.measure}{self.of} ≤ {self.eps:g} (honest count)", head]
        for r in self.rows:
            mine = _count(r.gradients)
            lines.append(
                f"{r.method:9} {r.order:16} {r.own:9.4g} {r.a:10.3g} {mine}   "
                f"{r.best:9.4g} {r.T:9.2e} {_count(r.best_gradients)}"
            )
        lines.append(f"cheapest: {self.cheapest.method}")
        return "\n".join(lines)


def _count(gradients: float | None) -> str:
    return "uncovered".rjust(10) if gradients is None or gradients == math.inf else f"{gradients:10.2e}"


class Scale(NamedTuple):
    """The constants at a value of the knob (κ or η), the values to try, and a method's own."""

    at: Callable[[float], ProblemConstants]
    grid: list[float]
    own: Callable[[str, Estimator], float]
    reference: float  # ρ_φ of the G whose gap is bounded for every row


def compare(plan: Plan) -> Comparison:
    """Every method of Table I that takes the plan's problem, for its ε and measure.

    The gap of a G that is stronger by a factor k of ρ_φ is at least the k-th part: gap_ref ≤ max(1, ρ_φ/ρ_ref) gap.
    So all rows bound the gap of one G, that of the plan.
    """
    s, n = plan.P.constants.smoothness, plan.P.n
    if n is None:
        return Comparison(plan.eps, plan.measure, (_stream(plan),))
    scale = _general(plan) if s is None else _erm(plan, s)
    rows = []
    for name, order in ORDERS.items():
        method = METHODS[name]
        if method.only_S if plan.P.f is None else name == "sdca":  # The quadratic is inside its table: no κ covers it.
            continue
        estimator = method.estimator(n) if plan.P.f is not None else outside(method.estimator(n))

        def cost(k: float, estimator: Estimator = estimator) -> tuple[float, float, int]:
            """a, expected gradients and T at κ = k or η = k"""
            c = scale.at(k)
            rate = rate_of(estimator, c)
            if not (rate.a > 0 and c.rho_phi > 0):
                return rate.a, math.inf, 0
            eps = plan.eps / (max(1.0, c.rho_phi / scale.reference) if plan.measure == "gap" else 1.0)
            try:
                T = formulas.steps(c, rate, plan.D0, eps, plan.measure)
            except BadSettings:  # The number of steps is too large at this κ.
                return rate.a, math.inf, 0
            return rate.a, rate.first + (T - 1) * rate.cost, T

        own = scale.own(name, estimator)
        best = min(scale.grid, key=lambda k: cost(k)[1])
        a, gradients, own_T = cost(own)
        _, fewest, T = cost(best)
        rows.append(Row(name, order, own, a, own_T, gradients if a > 0 else None, best, T, fewest))
    of = "" if plan.measure != "gap" else f" of G with ρ_φ = {scale.reference:.4g}"
    return Comparison(plan.eps, plan.measure, tuple(rows), "κ" if s is not None else "η", of)


def _erm(plan: Plan, s: Smoothness) -> Scale:
    """Form (S) with the constants of a linear model: the knob is κ."""
    L_f = s.L_f or 1.0  # Where all rows are empty, every κ majorizes.
    low = max(s.Lbar, L_f * 1e-6)
    grid = _geometric(low, _WIDE * max(L_f, low))
    reference = (plan.kappa or L_f) + plan.P.r.rho
    return Scale(lambda k: constants_at(plan, s, k), grid, lambda name, _: METHODS[name].kappa * L_f, reference)


def _general(plan: Plan) -> Scale:
    """Any other problem: the knob is η of a shift of the G that was given; each method's own is what it runs with."""
    names = ("rho_phi", "rho_H", "L_H", "L", "L_v")
    c = known(plan.P)._replace(**{name: value_of(plan.constants, name) for name in names})
    step = max(c.rho, c.L_v, 1e-6 * c.L_H) or 1.0
    grid = [0.0, *_geometric(1e-3 * step, _WIDE * max(step, c.L_H))]

    def own(name: str, estimator: Estimator) -> float:
        theta = error_of(estimator, plan.P.n) * c.L_v
        return formulas.shift_for(c, theta) if theta and plan.P.f is None else 0.0

    return Scale(c.shifted, grid, own, c.rho_phi + plan.eta)


def _geometric(low: float, high: float) -> list[float]:
    return [low * _RATIO**k for k in range(int(math.log(high / low) / math.log(_RATIO)) + 1)]


def constants_at(plan: Plan, s: Smoothness, kappa: float) -> ProblemConstants:
    """The constants of form (S) at κ, without another pass over the data."""
    P = plan.P.with_kappa(kappa)
    return known(P, P.constants_from(s))


def rate_of(estimator: Estimator, c: ProblemConstants) -> Rate:
    """a, Θ and cost of an estimator with these settings: its own spread, and L_v unless old points enter G too."""
    n = int(c.n)
    match estimator:
        case Full():
            cost, paper, first = c.n, c.n, c.n
        case PAGE(b_small=b_small, b=b):
            p = estimator.chance(formulas.MANY)
            first = c.n if b is None else float(b)
            cost, paper = p * first + 2 * (1 - p) * b_small, p * first + (1 - p) * b_small
        case LooplessSVRG(b_small=b, q=q):
            cost, paper, first = q * n + 2 * (1 - q) * b, q * n + (1 - q) * b, c.n
        case SVRG(b_small=b, period=period):
            cost, paper, first = (n + 2 * b * (period - 1)) / period, (n + b * (period - 1)) / period, c.n
        case SAGA(b=b) | SAG(b=b):
            cost, paper, first = b, b, c.n
        case _:
            raise TypeError(f"no rate is known for {type(estimator).__name__}")
    L = c.L if getattr(estimator, "quadratic", "") == "inside" else c.L_v
    return formulas.rate(c, error_of(estimator, n) * L, cost, paper, first)


def _stream(plan: Plan) -> Row:
    own, g = plan.eta if plan.kappa is None else plan.kappa, plan.gradients
    return Row("dca-page", ORDERS["dca-page"], own, plan.a or math.nan, plan.T, g, own, plan.T, g)
