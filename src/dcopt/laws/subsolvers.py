"""The laws of a sub-solver, on the programs that it takes among the registered G and r. Seeded draws only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convex import CONVEX, Convex, Quadratic
from ..regularizers import L1, Regularizer, Zero
from ..subproblems.base import Inner, Subsolver
from .base import Law, demand
from .samples import SAMPLES

_MOST = 40  # programs of one law
_LOOSE = 1e-5  # the residual that every strongly convex program must reach: also the oracle's


@dataclass(frozen=True, eq=False)
class Program:
    """min G + r1 − ⟨y, ·⟩"""

    name: str
    G: Convex
    r: Regularizer
    y: Any
    warm: Any

    def value(self, x: Any) -> float:
        return self.G.value(x) + self.r.r1(x) - float(np.sum(self.y * x))

    def residual(self, x: Any) -> float:
        return self.r.distance(self.y - self.G.grad(x), x)

    def rounding(self, x: Any) -> float:
        return 1e-12 * (1 + float(np.linalg.norm(self.y)) + float(np.linalg.norm(self.G.grad(x))))

    def solve(self, solver: Subsolver, tol: float = 1e-9, warm: Any = None) -> Inner:
        return solver(self.G, self.r, self.y, warm=self.warm if warm is None else warm, tol=tol)


def takes(solver: Any, G: Convex, r: Regularizer) -> bool:
    """What a sub-solver says of itself; one that says nothing takes everything."""
    return bool(getattr(solver, "takes", lambda G, r: True)(G, r))


def programs(solver: Subsolver) -> list[Program]:
    """Vectors, and matrices where G takes them; strongly convex, so that there is one minimizer."""
    every = []
    for i, (g, G) in enumerate(CONVEX.items()):
        d = (G.shape or (6,))[0]
        ends = [[0, d - 1], list(range(1, d - 1))]
        for j, (k, r) in enumerate({**SAMPLES, "l1 over groups": L1(0.3, groups=ends)}.items()):
            shape = G.shape or (6,)
            if (i + j) % 3 == 0 and getattr(G, "columns", False):
                shape = (*shape, 2)
            if takes(solver, G, r):
                draw = np.random.default_rng(100 * i + j)
                y, warm = draw.normal(size=shape), r.prox(0.3 * draw.normal(size=shape), 1.0)
                every.append(Program(f"G = {g}, r = {k}", G, r, y, warm))
    demand(bool(every), "takes none of the registered G and r")
    return every[:: math.ceil(len(every) / _MOST)]


def answers(solver: Subsolver, tol: float = 1e-9) -> Iterator[tuple[Program, Inner]]:
    for program in programs(solver):
        yield program, program.solve(solver, tol)


def residual_is_true(solver: Subsolver) -> None:
    """dist(0, ∂(G + r1)(x) − y), computed again at the returned x, is at most what was said."""
    for tol in (1e-2, 1e-9):
        for p, inner in answers(solver, tol):
            true = p.residual(inner.x)
            said = inner.certified + p.rounding(inner.x)
            demand(true <= said, f"{p.name}: {true:.3g}, and {inner.certified:.3g} was said")


def tolerance_is_met(solver: Subsolver) -> None:
    """A strongly convex program is solved; that tol was missed is seen in the residual, which is true."""
    for p, inner in answers(solver):
        demand(inner.certified <= _LOOSE, f"{p.name}: residual {inner.certified:.3g} of a program with one minimizer")
        demand(inner.x.shape == p.y.shape, f"{p.name}: x has shape {inner.x.shape}, y {p.y.shape}")


def minimizer_beats_perturbations(solver: Subsolver) -> None:
    """G + r1 − ⟨y, ·⟩ is not below φ(x) − residual ‖δ‖ at x + δ: 60 of them, of all sizes"""
    for p, inner in answers(solver):
        draw, best = np.random.default_rng(1), p.value(inner.x)
        for i in range(60):
            q = inner.x + draw.normal(size=inner.x.shape) * 10.0 ** -(i % 6) * (draw.random(inner.x.shape) < 0.5)
            q = q if math.isfinite(p.r.r1(q)) else p.r.prox(q, 1.0)
            room = inner.certified * float(np.linalg.norm(q - inner.x)) + 1e-12 * (1 + abs(best))
            demand(p.value(q) >= best - room, f"{p.name}: a point near x is lower")


def warm_start_is_never_worse(solver: Subsolver) -> None:
    """φ(x) ≤ φ(warm) + residual ‖x − warm‖; and a start at the solution is not slower than another."""
    for p, inner in answers(solver, 1e-6):
        room = inner.certified * float(np.linalg.norm(inner.x - p.warm)) + 1e-12 * (1 + abs(p.value(p.warm)))
        demand(p.value(inner.x) <= p.value(p.warm) + room, f"{p.name}: higher than the warm start")
        again = p.solve(solver, 1e-6, inner.x)
        demand(again.steps <= max(inner.steps, 1), f"{p.name}: {again.steps} steps from the solution")
        limit = max(1e-6, inner.certified) + p.rounding(inner.x)
        demand(again.certified <= limit, f"{p.name}: residual {again.certified:.3g} from the solution")


def nan_is_not_silent(solver: Subsolver) -> None:
    """A NaN in y gives NaN in x, or a residual that is no number: never a solution."""
    for p in programs(solver)[::3]:
        for bad in (math.nan, math.inf):
            y = p.y.copy()
            y.flat[0] = bad
            with np.errstate(invalid="ignore"):
                inner = solver(p.G, p.r, y, warm=p.warm, tol=1e-6)
            clean = bool(np.isfinite(inner.x).all()) and inner.certified < math.inf
            right = bad == math.inf and math.isfinite(inner.x.flat[0])  # the end of a box, say
            demand(not clean or right, f"{p.name}: {bad} in y gives a solution")


def no_minimizer_is_said(solver: Subsolver) -> None:
    """½x₁² − x₁ − x₂ has no minimizer: the distance 1 stays, whatever x is, and the sub-solver comes back."""
    G = Quadratic(np.diag([1.0, 0.0]))
    if takes(solver, G, Zero()):
        inner = solver(G, Zero(), np.ones(2), warm=np.zeros(2), tol=1e-6)
        demand(inner.certified >= 1.0 - 1e-9, f"residual {inner.certified:.3g} of a program without a minimizer")


def arguments_stay(solver: Subsolver) -> None:
    """y and warm are left as they are, and the same call gives the same bits."""
    for p in programs(solver)[::3]:
        y, warm = p.y.copy(), p.warm.copy()
        one, two = p.solve(solver, 1e-6), p.solve(solver, 1e-6)
        demand(np.array_equal(y, p.y) and np.array_equal(warm, p.warm), f"{p.name}: y or warm was changed")
        demand(np.array_equal(one.x, two.x) and one.residual == two.residual, f"{p.name}: not repeatable")
        demand(one.x is not p.warm and one.x is not p.y, f"{p.name}: x is one of the arguments")


LAWS: dict[str, Law] = {
    "residual-is-true": residual_is_true,
    "tolerance-is-met": tolerance_is_met,
    "minimizer-beats-perturbations": minimizer_beats_perturbations,
    "warm-start-is-never-worse": warm_start_is_never_worse,
    "nan-is-not-silent": nan_is_not_silent,
    "no-minimizer-is-said": no_minimizer_is_said,
    "arguments-stay": arguments_stay,
}
