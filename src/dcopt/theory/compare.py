"""Table I with numbers: what the theory predicts for each method on one problem."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import BadSettings
from ..estimators import PAGE, SAGA, SVRG, Estimator, Full, LooplessSVRG
from ..methods import METHODS
from ..sums.constants import Smoothness
from . import formulas
from .formulas import ProblemConstants, Rate
from .record import Plan

ORDERS = {  # Table I of the paper; DCA takes N gradients in each of O(ε⁻²) steps.
    "dca": "N ε⁻²",
    "dca-saga": "N + N^(3/4) ε⁻²",
    "dca-svrg": "N + N^(2/3) ε⁻²",
    "mm-saga": "N + N^(2/3) ε⁻²",
    "mm-svrg": "N + N^(2/3) ε⁻²",
    "mm-sarah": "N + N^(1/2) ε⁻²",
    "dca-page": "N + N^(1/2) ε⁻²",
}


class Row(NamedTuple):
    """One method, with its own κ and with the κ that minimises the cost in its theorem."""

    method: str
    order: str
    kappa: float  # With its own κ.
    a: float  # The descent coefficient at that κ. The theory covers it if > 0.
    gradients: float | None  # The prediction with that κ; None if the theory does not cover it.
    best_kappa: float
    T: int
    best_gradients: float

    @property
    def covered(self) -> bool:
        return self.a > 0


@dataclass(frozen=True)
class Comparison:
    """Predicted component gradients of every method until E measure ≤ ε."""

    eps: float
    measure: str
    rows: tuple[Row, ...]

    @property
    def cheapest(self) -> Row:
        """The method with the fewest predicted gradients, each with its best κ."""
        return min(self.rows, key=lambda row: row.best_gradients)

    def __str__(self) -> str:
        columns = ("method", "order", "κ", "a", "gradients", "best κ", "T", "gradients")
        head = "{:9} {:16} {:>9} {:>10} {:>10}   {:>9} {:>9} {:>10}".format(*columns)
        lines = [f"predicted until E {self.measure} ≤ {self.eps:g} (honest count)", head]
        for r in self.rows:
            mine = _count(r.gradients)
            lines.append(
                f"{r.method:9} {r.order:16} {r.kappa:9.4g} {r.a:10.3g} {mine}   "
                f"{r.best_kappa:9.4g} {r.T:9.2e} {_count(r.best_gradients)}"
            )
        lines.append(f"cheapest: {self.cheapest.method}")
        return "\n".join(lines)


def _count(gradients: float | None) -> str:
    return "uncovered".rjust(10) if gradients is None or gradients == math.inf else f"{gradients:10.2e}"


def compare(plan: Plan) -> Comparison:
    """Every method of Table I for the plan's problem, ε and measure."""
    s = plan.P.constants.smoothness
    n = plan.P.n
    if s is None or n is None:
        return Comparison(plan.eps, plan.measure, (_general(plan),))
    rows = []
    for name, order in ORDERS.items():
        method = METHODS[name]
        estimator, kappa = method.estimator(n), method.kappa * s.L_f

        def cost(k: float, estimator: Estimator = estimator) -> tuple[float, float, int]:
            """a, expected gradients and T at κ = k"""
            c = constants_at(plan, s, k)
            rate = rate_of(estimator, c)
            if not rate.a > 0:
                return rate.a, math.inf, 0
            try:
                T = formulas.steps(c, rate, plan.D0, plan.eps, plan.measure)
            except BadSettings:  # The number of steps is too large at this κ.
                return rate.a, math.inf, 0
            return rate.a, rate.first + (T - 1) * rate.cost, T

        best = _minimise(lambda k: cost(k)[1], s)
        a, gradients, _ = cost(kappa)
        _, fewest, T = cost(best)
        rows.append(Row(name, order, kappa, a, gradients if a > 0 else None, best, T, fewest))
    return Comparison(plan.eps, plan.measure, tuple(rows))


def constants_at(plan: Plan, s: Smoothness, kappa: float) -> ProblemConstants:
    """The constants of form (S) at κ, without another pass over the data."""
    r = plan.P.r
    n = float(plan.P.n or math.inf)
    c = plan.P.with_kappa(kappa).constants_from(s)
    return ProblemConstants(n, c.rho_phi, c.rho_H, c.L_H or 0.0, c.L or 0.0, s.L_v, r.L2)


def rate_of(estimator: Estimator, c: ProblemConstants) -> Rate:
    """a, Θ and cost of an estimator with these settings."""
    match estimator:
        case Full():
            return formulas.full(c)
        case PAGE(p=p, b_small=b_small, b=b):
            return formulas.page(c, p, b_small, c.n if b is None else b)
        case LooplessSVRG(b_small=b, q=q):
            return formulas.loopless_svrg(c, b, q)
        case SVRG(b_small=b, period=period):
            return formulas.svrg(c, b, period, exact=False)
        case SAGA(b=b, quadratic=quadratic):
            return formulas.saga(c, b, exact=quadratic == "outside")
    raise TypeError(f"no rate is known for {type(estimator).__name__}")


def _minimise(cost: Callable[[float], float], s: Smoothness) -> float:
    """κ ∈ [L̄, 1000 L_f] with the least cost, on a grid of 2 %: the bound is flat around its minimum."""
    low = max(s.Lbar, s.L_f * 1e-6) or 1.0
    grid = [low * 1.02**k for k in range(int(math.log(1000 * max(s.L_f, low) / low) / math.log(1.02)) + 1)]
    return min(grid, key=cost)


def _general(plan: Plan) -> Row:
    g = plan.gradients
    return Row("dca-page", ORDERS["dca-page"], plan.kappa or math.nan, plan.a or math.nan, g, math.nan, plan.T, g)
