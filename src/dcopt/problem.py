"""F = G − H + r1 − r2 as one object."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np

from .convex import (
    Convex,
    Majorizer,
    ScaledIdentity,
    UnknownScale,
    variance_smoothness,
)
from .data import check
from .errors import BadInput, BadSettings, CannotSolve, require_number
from .regularizers import Regularizer
from .regularizers import regularizer as as_regularizer
from .sums import Look, Sum
from .sums.constants import Constants, Smoothness, majorizing_kappa
from .xp import Array, namespace

# ω/ρ_φ, the residual of a program over ρ_φ times the last step. `dca-page` to a tolerance of 1e-5, programs by FISTA,
# passes with 0.01, 0.03, 0.1, 0.2, 0.3: a ramp SVM 1918, 1695, 1640, 1998, 2972; phase
# retrieval 5533, 4841, 4280, 4825, 6473.
INNER_SHARE = 0.1


class Point(NamedTuple):
    """All that one pass over the data tells about x."""

    x: Array
    F: float
    down: Array  # ∇H(x) − ∇G(x)
    u: Array  # down + w, w ∈ ∂r2(x) as `steepest` chooses it: if u ∈ ∂r1(x), x is what r certifies


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """min F(x) = G(x) − H(x) + r1(x) − r2(x)

    Either `H` is given, the mean of the convex h_i (problem (M)), or `f`, and H = G − f (form (S), F = f + r).
    With f the estimators work on the f_i and ∇G is exact: SAGA is better so, recursive and anchored ones are the same.
    With f, G may be left out: it is κ/2 ‖x‖², with κ = L_f where f knows it. Where it does not, runs need
    kappa="adaptive".
    """

    G: Convex = None  # type: ignore[assignment]  # None: κ/2 ‖x‖², κ = L of f where that is known
    H: Sum | None = None
    r: Regularizer = None  # type: ignore[assignment]  # keyword, required
    f: Sum | None = None
    tunable: bool = False  # a method may choose κ
    classes: Array | None = None
    eta: float = 0.0  # how much of H is the shift η/2 ‖x‖², which is kept exact (problem (M))
    inner_tol: float = 1e-10  # residual to which the convex program is solved
    settled: bool = False  # problem (M): no method adds a shift

    def __post_init__(self) -> None:
        if (self.H is None) == (self.f is None):
            raise BadSettings("H, f", (self.H, self.f), "exactly one of H (problem (M)) and f (form (S))")
        convex = "a convex part, such as dcopt.convex.ScaledIdentity(2.0)"
        if self.f is not None and _left_out(self.G):
            _require_part("f", self.f, _VERBS, _A_SUM)
            object.__setattr__(self, "G", _scale_of(self.f))
            object.__setattr__(self, "tunable", isinstance(self.G, ScaledIdentity))
        _require_part("G", self.G, ("value", "grad", "bregman", "shift"), convex)
        name = "H" if self.f is None else "f"
        _require_part(name, self.sum, _VERBS, _A_SUM)
        object.__setattr__(self, "r", as_regularizer(self.r).rounded(self.dtype))
        if (wants := self.r.shape) is not None and self.shape[: len(wants)] != wants:
            raise BadInput("regularizer", f"is made for x of shape {wants}, the problem's x has shape {self.shape}")

    def __repr__(self) -> str:
        kind = "H" if self.f is None else type(getattr(self.f, "loss", self.f)).__name__
        many = "a stream" if self.n is None else f"{self.n} components"
        r = shorten(repr(self.r), 200, placeholder=" …")  # weights may be as long as x
        return f"Problem(G={self.G!r}, {kind} over {many}, x {self.shape}, r={r})"

    @property
    def sum(self) -> Sum:
        """The stochastic part that estimators see."""
        return self.H if self.f is None else self.f  # type: ignore[return-value]  # one of them is there

    @property
    def evaluation_sum(self) -> Sum:
        """The sum on which F and the measures are evaluated: the sum itself, or the held-out sample of a stream."""
        return self.sum.evaluation

    @property
    def n(self) -> int | None:
        return self.sum.n

    @property
    def shape(self) -> tuple[int, ...]:
        return self.sum.shape

    @property
    def dtype(self) -> Any:
        return self.sum.dtype

    def linear(self, x: Array, g: Array) -> Array:
        """The paper's gᵗ: g itself if it estimates ∇H, ∇G(x) − g if it estimates ∇f."""
        if self.f is not None:
            return self.G.grad(x) - g
        return g + self.eta * x if self.eta else g

    def down(self, x: Array, y: Array) -> Array:
        """−∇(G − H)(x) from y = ∇H(x) or an estimate."""
        return y - self.G.grad(x)

    def value(self, x: Array) -> float:
        """F(x)"""
        return self.examine(check.point(x, self.shape, np.float64, "x")).F

    def examine(self, x: Array, look: Look | None = None) -> Point:
        """F and the linear term at x, from all components (of a stream: from the held-out sample).

        `look`: what a pass over all components has told about x, where there was one.
        """
        value, g = self.evaluation_sum.all().value_grad(x) if look is None else (look.f, look.grad)
        down = -g if self.f is not None else self.down(x, self.linear(x, g))
        return Point(x, self.value_with(x, value), down, down + self.r.steepest(x, lambda: down))

    def value_with(self, x: Array, value: float) -> float:
        """F(x) from f(x), or from H(x)"""
        if self.f is None:
            value = self.G.value(x) - 0.5 * self.eta * float(namespace(x).sum(x * x)) - value
        return value + self.r.value(x)

    @cached_property
    def constants(self) -> Constants:
        """ρ, L_H, L, L_v, L_r2: algorithms use them, plans state them."""
        G, r, known = self.G, self.r, self.sum.facts()
        s = self.evaluation_sum.smoothness() if self.f is not None else None
        if s is not None:
            how = "from all components" if self.n is not None else f"estimated from {self.evaluation_sum.n} samples"
            return self.constants_from(s, how)
        if self.f is not None:  # H = G − f, and f has its curvature in [ρ, L], or in [−L, L] where ρ = 0
            m, L_f = -known.rho if known.rho > 0.0 else known.L, known.L
            L_H = None if m is None or L_f is None else max(G.L + m, L_f - G.rho)
            return Constants(G.rho + r.rho, G.rho - (L_f or 0.0), L_H, L_H, known.L_v, r.L2, how=known.how)
        L_H, L = (None if c is None else c + self.eta for c in (known.L_H, known.L))
        return Constants(G.rho + r.rho, known.rho + self.eta, L_H, L, known.L_v, r.L2, how=known.how)

    def constants_from(self, s: Smoothness, how: str = "") -> Constants:
        """The constants of form (S) from what is known of f, without another look at the data."""
        G, r = self.G, self.r
        # h_i has its curvature in [κ − L_f, κ + m_i], H in [κ − L̄, κ + m_f]; E‖Z‖² = ‖EZ‖² + Var ties them together
        L_H = max(G.L + s.m_f, s.Lbar - G.rho)
        L = min(max(G.L + s.m_i, s.L_f - G.rho), math.hypot(L_H, s.L_v))
        rho_H = max(G.rho - s.Lbar, 0.0) if isinstance(G, Majorizer) else G.rho - s.Lbar  # Q − ∇²f ⪰ 0
        return Constants(G.rho + r.rho, rho_H, L_H, L, s.L_v, r.L2, s, how)

    @cached_property
    def own_constants(self) -> Constants | None:
        """The constants in the metric ‖x‖² = ⟨x, Qx⟩ of a G = τ/2 ⟨x, Qx⟩ that was made to majorize f, else None."""
        G, r, rows = self.G, self.r, None if self.f is None else self.f.facts().rows
        if not isinstance(G, Majorizer) or rows is None:
            return None
        low, high = rows.loss.curvature
        steep = max(high, -low)
        L_H, L_v = G.tau + max(0.0, -low) / steep, G.tau * variance_smoothness(rows, G)
        L_r2 = None if r.L2 is None else r.L2 * G.tau / G.rho
        return Constants(G.tau * (1.0 + r.rho / G.L), G.tau - high / steep, L_H, math.hypot(L_H, L_v), L_v, L_r2)

    def tolerance(self, x: Array, prev: Array | None, y: Array) -> float:
        """The residual ξ to which the next convex program is solved: ξ ≤ max(inner_tol, ω ‖x − prev‖).

        ξ acts like an error of the gradient, so it may be a share of the progress, and not below what rounding leaves
        of a linear term y; where a formula solves the program exactly, nothing is asked beyond inner_tol.
        """
        if self.omega == 0.0:
            return self.inner_tol
        xp = namespace(y)
        rounding = 64.0 * float(xp.finfo(y.dtype).eps) * float(xp.sqrt(xp.sum(y * y)))
        step = 0.0 if prev is None else float(xp.sqrt(xp.sum((x - prev) ** 2)))
        return max(self.inner_tol, rounding, self.omega * step)

    @property
    def omega(self) -> float:
        """ω, the residual of a convex program that is asked for over the length of the last step: 0.1 ρ_φ at most.

        0 where a formula solves it. For a majorizer 0.1 ρ_G, which is 0.1 τ in its metric, where r1 may add less.
        """
        if isinstance(self.G, ScaledIdentity):
            return 0.0
        return INNER_SHARE * (self.G.rho + (0.0 if isinstance(self.G, Majorizer) else self.r.rho))

    @property
    def lower_bound(self) -> float | None:
        """A number below inf F, None where none is known."""
        f = None if self.f is None else self.f.facts().lower
        return None if f is None or self.r.lower is None else f + self.r.lower

    def fixed(self) -> Problem:
        """The same problem with its G final: no method changes κ, and on problem (M) none adds a shift."""
        return replace(self, tunable=False, settled=True)

    def with_kappa(self, kappa: float) -> Problem:
        """The same F with G = κ/2 ‖x‖²."""
        if self.f is None:
            raise CannotSolve("with_kappa", "the problem is not in form (S)", "shift")
        return replace(self, G=ScaledIdentity(kappa), tunable=False)

    def shift(self, eta: float) -> Problem:
        """The same F with η/2 ‖x‖² added to G and H: ρ grows by 2η, L_v stays."""
        require_number("eta", eta, 0.0)
        added = 0.0 if self.f is not None else self.eta + eta  # with f, H = G − f follows G
        return replace(self, G=self.G.shift(eta), eta=added, tunable=False)


def _left_out(part: object) -> bool:
    return part is None


def _scale_of(f: Sum) -> Convex:
    """κ/2 ‖x‖² with κ = L_f, for rows of data the largest one of a row; or with a κ that is not known"""
    known = f.facts()
    rows = known.rows
    L = known.L if rows is None else majorizing_kappa(rows)
    return ScaledIdentity(L or 1.0) if L is not None and math.isfinite(L) else UnknownScale()


_VERBS = ("n", "shape", "dtype", "facts", "look")
_A_SUM = "a sum: dcopt.Function(value, gradient, shape), or a class of your own that derives from dcopt.sums.SumBase"


def _require_part(name: str, given: object, verbs: tuple[str, ...], expected: str) -> None:
    """Refuse functions and classes where an object is wanted."""
    if isinstance(given, type) or not all(hasattr(given, verb) for verb in verbs):
        raise BadSettings(name, given, expected)
