"""The constants of a problem that a plan needs: those of its sums, F(x0) − inf F and σ, each with where it is from."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..draw import Draw
from ..errors import BadSettings, require_number
from ..problem import Problem
from ..shift import known
from ..solve import first_state
from ..sums import Function, LinearSum, SumOverRows, pieces
from ..sums.constants import Constants
from .formulas import ProblemConstants

_SAMPLE = 1024  # The number of components for an estimate of sigma.


class NamedConstant(NamedTuple):
    """A constant and how it was obtained."""

    name: str
    value: float | None
    how: str


Named: TypeAlias = tuple[NamedConstant, ...]


def value_of(named: Named, name: str) -> float:
    """The constant of this name."""
    return next(k.value for k in named if k.name == name and k.value is not None)


_ORIGIN = {
    "rho_phi": "strong convexity of G plus that of r1",
    "rho_H": "κ − L̄",
    "L_H": "κ + m_f",
    "L": "κ + the largest negative curvature of any f_i",
    "L_v": "Lanczos on the rows, rounded up by 1e-6",
    "L_r2": "from r",
}
OWN = {
    "rho_phi": "τ, plus what r1 has of it in the metric of Q",
    "rho_H": "τ − L̄, L̄ = sup φ'' / sup|φ''| in the metric of Q",
    "L_H": "τ + m_f, m_f = −inf φ'' / sup|φ''|",
    "L": "√(L_H² + L_v²)",
    "L_v": "the largest eigenvalue of the rows in the metric of Q",
    "L_r2": "from r, over the least eigenvalue of Q",
}


def constants_of(P: Problem, c: Constants, origin: dict[str, str] = _ORIGIN) -> tuple[ProblemConstants, Named]:
    """ρ_φ, ρ_H, L_H, L, L_v, L_r2 as the theorems use them, and with their origins; BadSettings if one is missing."""
    if P.n is None:
        origin = origin | {"L_v": c.how}
    own_sum = P.n is not None and P.f is not None and P.f.facts().rows is None
    if own_sum and c.smoothness is not None:
        origin = {name: "known of the components" if "Lanczos" in how else how for name, how in origin.items()}
    named: list[NamedConstant] = []
    source = "given with H" if P.f is None else "from G, and what was given with f"
    source = P.sum.facts().how or source
    for name, how in origin.items():
        value = getattr(c, name)
        if value is None and name != "L_r2":
            own = isinstance(P.sum, Function)
            part = "H" if P.f is None else "f"
            give = f": give {part} as Function(..., L=…), with the smoothness of {part}" if own else ""
            raise BadSettings(f"H.{name}", None, f"a number, which the planner cannot compute for this {part}{give}")
        if value is not None and not math.isfinite(value):
            raise BadSettings(name, value, "a finite number")
        given = origin is not OWN and c.smoothness is None and name not in ("rho_phi", "L_r2")
        named.append(NamedConstant(name, value, source if given else how))
    if c.smoothness is not None:
        s = c.smoothness
        largest = "known of the components" if own_sum else "sup|φ''| times the largest row norm squared"
        named += [NamedConstant("L_f", s.L_f, largest)]
        named += [NamedConstant("Lbar", s.Lbar, origin["L_v"]), NamedConstant("m_f", s.m_f, origin["L_v"])]
    return known(P, c), tuple(named)


def start_value(P: Problem, D0: float | None, x0: Any) -> Named:
    """D0 ≥ F(x0) − inf F, at the point where `solve` starts"""
    if D0 is not None:
        require_number("D0", D0, 0.0)
        return (NamedConstant("D0", float(D0), "given"),)
    low = P.lower_bound
    if low is None:
        raise BadSettings("D0", None, "a bound on F(x0) − inf F: it is not known for this problem")
    F = P.examine(first_state(P, x0).x).F
    seen = "" if P.n is not None else f" (on {P.evaluation_sum.n} held-out samples)"
    return (NamedConstant("D0", F - low, f"F(x0) = {F:.6g}{seen} minus the lower bound {low:g}"),)


def deviation(P: Problem, sigma: float | None, x0: Any) -> Named:
    """σ, σ² ≥ E‖∇h_i(x0) − ∇H(x0)‖²"""
    if sigma is not None:
        require_number("sigma", sigma, 0.0)
        return (NamedConstant("sigma", float(sigma), "given"),)
    f = P.evaluation_sum.facts().rows  # The rows of the sum itself, or the held-out samples of a stream.
    if f is None:
        raise BadSettings("sigma", None, "a bound on the deviation of one gradient: it cannot be estimated for this H")
    if P.n is not None and math.isfinite(f.loss.steepest):
        bound = f.loss.steepest * math.sqrt(f.total(pieces.squared_rows) / f.n)
        return (NamedConstant("sigma", bound, "sup|φ'| √(mean w_i² ‖a_i‖²), at every x"),)
    x = first_state(P, x0).x
    m = min(_SAMPLE, f.n)
    squares = gradient_squares(f, x, Draw(0, 0).rows(f.n, m, "distinct"))
    value, error = math.sqrt(squares.mean()), squares.std() / math.sqrt(m)
    deviation = error / (2 * value) if value else 0.0  # The deviation of σ, by the delta method.
    how = f"estimated at x0 from {m} components: {value:.4g} ± {deviation:.2g}"
    return (NamedConstant("sigma", value + 2 * deviation, how),)


def gradient_squares(f: SumOverRows, x: Any, rows: Any) -> Any:
    """‖∇f_i(x) − ∇f(x)‖² for the given rows, from slopes and row norms alone."""
    batch = f.take(rows)
    mean = np.asarray(batch.all().grad(x), np.float64)
    return np.concatenate(batch.each(_squares_about, x, mean))


def _squares_about(f: LinearSum, x: Any, mean: Any) -> Any:
    """‖∇f_i(x) − mean‖² of the rows of a part"""
    s = np.asarray(f.all().slopes(x), np.float64).reshape(f.n, -1)
    norms = np.asarray(f.a.norms2(), np.float64)
    cross = np.asarray(f.a.dot(mean), np.float64).reshape(f.n, -1)
    squares = (s**2).sum(axis=1) * norms - 2 * (s * cross).sum(axis=1) + (mean**2).sum()
    return np.maximum(squares, 0.0)
