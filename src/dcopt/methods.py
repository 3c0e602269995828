"""The named recipes: an estimator, κ in units of L_f, batch sizes from N."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

from .constants import importance_kappa, smoothness
from .convex import LocalCurvature, Majorizer, Mean, ScaledIdentity
from .draw import Draw
from .errors import BadSettings, CannotSolve, NeedsFiniteSum, pick
from .estimators import ESTIMATORS, PAGE, SAG, SAGA, SVRG, Estimator, Extrapolated, Fresh, Full, LooplessSVRG, Revisited
from .estimators.base import Steady
from .functions import KnownSquare
from .nested import Nested
from .problem import Problem
from .regularizers import Except
from .subproblems import Subsolver, choose
from .subproblems import subsolver as as_subsolver
from .subproblems.boosted import Boosted
from .subproblems.local import Local
from .subproblems.parts import separable
from .subproblems.staged import StagedSPG, StagedSVRG
from .sums import LinearSum
from .theory import Scene, shift_for


@runtime_checkable
class Planned(Protocol):
    """A plan: a problem with its κ, an estimator, the steps, and the output that a theorem speaks of."""

    @property
    def P(self) -> Problem: ...
    @property
    def estimator(self) -> Estimator: ...
    @property
    def T(self) -> int: ...
    @property
    def D0(self) -> float: ...
    @property
    def x0(self) -> Any: ...
    @property
    def measure(self) -> Literal["gap", "criticality"]: ...
    @property
    def output(self) -> Literal["uniform", "uniform-before"]: ...


@dataclass(frozen=True)
class Method:
    """A recipe. `estimator` makes the estimator for N components."""

    name: str
    estimator: Callable[[int], Estimator]
    kappa: float = 1.0  # κ / L_f, where the problem leaves κ to the method
    says: str = ""
    only_S: bool = False  # needs f: keeps ∇G(x) exact, so it must know F = f + r
    linear: bool = False  # needs f as a sum over rows of data
    smooth_r2: bool = False
    convex_f: bool = False
    stream: Estimator | None = None  # what it uses on a stream, which has no N
    transform: Callable[[Problem], Problem] | None = None  # another decomposition of the same F
    subsolver: Callable[[Problem], Subsolver] = lambda P: choose(P.G, P.r)

    def prepare(self, P: Problem) -> tuple[Problem, Estimator]:
        """The problem with this method's κ, and the estimator for its N; refuses what cannot be solved."""
        if P.n is None and self.stream is None:
            raise NeedsFiniteSum(self.name)
        if self.only_S and P.f is None:
            raise CannotSolve(self.name, "it needs form (S), F = f + r, and was given G − H", "dca-page")
        if self.linear and not isinstance(P.f, LinearSum):
            raise CannotSolve(self.name, _NEEDS_ROWS, "dca")
        if self.smooth_r2 and P.r.L2 is None:
            raise CannotSolve(self.name, "r2 is not smooth", "dca")
        if self.convex_f and not (isinstance(P.f, LinearSum) and P.f.loss.curvature[0] >= 0.0):
            raise CannotSolve(self.name, "f is not known to be convex, and extrapolation needs that", "dca")
        if P.tunable:
            P = P.with_kappa(self._kappa(P))
        if self.transform is not None:
            P = self.transform(P)
        estimator = self.stream if P.n is None else self.estimator(P.n)
        assert estimator is not None  # seen above
        if isinstance(estimator, SAGA | SAG) and P.n is not None and P.sum.sample(1, Draw(0, 0)).rows is None:
            raise CannotSolve(self.name, "it remembers a gradient for every row, and this sum has no rows", "dca")
        if getattr(estimator, "sampling", "") == "importance" and not _weighs(P):
            why = "rows are drawn by their length in form (S) with G = κ/2 ‖x‖² only"
            raise CannotSolve(self.name, why, 'sampling="iid"')
        if P.n is None:
            return P, estimator
        if P.f is None and isinstance(estimator, PAGE) and P.constants.L_v is not None:
            if not math.isfinite(P.constants.L_v):
                raise CannotSolve(self.name, "the h_i have kinks, so that no step is short enough for batches", "dca")
            P = P.shift(_needed_shift(P, estimator.spread(P.n)))  # a general G need not leave it the descent of (S)
        if P.f is None or isinstance(P.G, Majorizer):
            estimator = outside(estimator)  # the h_i are given, or ∇G costs nothing beside them
        if isinstance(P.G, Majorizer) and isinstance(P.f, LinearSum):
            P = replace(P, G=P.G.steady(P.f, self._noise(estimator, P.f.n)))
        return P, estimator

    def _kappa(self, P: Problem) -> float:
        """κ, where it is the method's to choose."""
        kappa: float = self.kappa * P.G.L
        estimator: Any = None if P.n is None else self.estimator(P.n)
        if P.n is not None and getattr(estimator, "sampling", "") == "importance" and isinstance(estimator, Steady):
            assert isinstance(P.f, LinearSum)  # what is tunable has one
            own = importance_kappa(P.f, estimator.spread(P.n))
            return min(kappa, own or kappa)  # 0: all rows are empty
        return kappa

    def _noise(self, estimator: Any, n: int) -> float:
        """s of an estimator that says how much of the steps' lengths its error is."""
        if getattr(estimator, "sampling", "") == "cyclic":
            why = "rows that come in order are no random sample, and nothing is known of their error"
            raise CannotSolve(self.name, why, 'sampling="iid" or "distinct"')
        if isinstance(estimator, Steady):
            return estimator.spread(n)
        why = "it has no spread(n), which says how long steps may be in a metric that is made of the data"
        raise CannotSolve(self.name, why, 'dca, or with decomposition="scalar"')


def outside(estimator: Any) -> Any:
    """The same with ∇G(x) exact, where it would be estimated with the rest (SAGA, SAG)."""
    return replace(estimator, quadratic="outside") if getattr(estimator, "quadratic", "") == "inside" else estimator


def _weighs(P: Problem) -> bool:
    """Whether the length of a row says how much it may matter."""
    return isinstance(P.f, LinearSum) and isinstance(P.G, ScaledIdentity)


def _needed_shift(P: Problem, s: float) -> float:
    """The smallest η for which an estimator of spread s keeps the descent: a = ρ/2 − s L_v > 0, else a = ρ/4."""
    c = P.constants
    scene = Scene(float(P.n or 1), c.rho_phi, c.rho_H, c.L_H or 0.0, c.L or 0.0, c.L_v or 0.0, c.L_r2)
    return shift_for(scene, s * scene.L_v)


def _floor(value: float) -> int:
    """⌊value⌋, where 512^(1/3) is 8 and not 7.999…"""
    return math.floor(value * (1 + 1e-12))


def _size(value: float, n: int) -> int:
    return min(n, max(1, _floor(value)))


def _page(n: int) -> Estimator:
    b = math.isqrt(n - 1) + 1  # ⌈√N⌉
    return PAGE(p=1.0 / b, b_small=b)


def _dca_svrg(n: int) -> Estimator:
    period = _floor(n ** (1 / 3) / (4 * math.sqrt(math.e - 1)))
    return SVRG(b_small=_size(n ** (2 / 3), n), period=max(1, period))


def _mm_svrg(n: int) -> Estimator:
    return LooplessSVRG(b_small=_size(n ** (2 / 3), n), q=1.0 / max(1, _floor(n ** (1 / 3) / 4)))


def _mm_sarah(n: int) -> Estimator:
    b = math.isqrt(n)
    return PAGE(p=1.0 / b, b_small=b)


def _dca_saga(n: int) -> Estimator:
    return SAGA(b=_size(2 * 2**0.25 * n**0.75, n), quadratic="inside")


def _mm_saga(n: int) -> Estimator:
    return SAGA(b=_size((4 * n) ** (2 / 3), n))


def _sdca(n: int) -> Estimator:
    return SAG(b=_size(n / 10, n), quadratic="inside")


def _online(n: int) -> Estimator:
    return Fresh(b=min(n, 64), growth=1.0)


def _full(n: int) -> Estimator:
    return Full()


def _strong_inside(P: Problem) -> Problem:
    """SSDC: F = (f + μ/2 ‖x‖²) − μ/2 ‖x‖² + r: all of f is in the convex program, with μ = m_f + γ.

    m_f makes f convex, γ = L̄ makes the program well conditioned (its published code takes 3L for γ, and is slower).
    """
    assert isinstance(P.f, LinearSum)  # the recipe is linear
    s = smoothness(P.f)
    mu = s.m_f + (s.Lbar or 1.0)
    return replace(P, G=Mean(P.f, mu), H=KnownSquare(mu, P.f), f=None, inner_tol=math.inf)


def _spg(P: Problem) -> Subsolver:
    G = P.G
    assert isinstance(G, Mean)
    b = math.isqrt((P.n or 1) - 1) + 1
    return StagedSPG(G.mu - G.smoothness.m_f, b)  # type: ignore[return-value]  # told the step by the loop


def separate(P: Problem, name: str = "a local metric", instead: str = "dca") -> Problem:
    """P itself, if a metric can be made of f and the program in it falls apart."""
    if not isinstance(P.f, LinearSum):
        raise CannotSolve(name, _NEEDS_ROWS, instead)
    if not separable(P.r):
        own = type(P.r.of if isinstance(P.r, Except) else P.r).__name__
        raise CannotSolve(name, f"r = {own} does not fall apart into entries or rows", instead)
    return P


def _boosted(P: Problem) -> Subsolver:
    return Boosted(P, choose(P.G, P.r))


def _staged_svrg(P: Problem) -> Subsolver:
    return StagedSVRG()  # type: ignore[return-value]  # told the step by the loop


_NEEDS_ROWS = "it needs f as a sum over rows of data (dcopt.erm)"
_GROWS = Nested()
_MANY = 4096  # rows: below it a full gradient costs less than what a batch saves
AUTO = "auto"

METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        Method("dca", _full, says="the full gradient"),
        Method("cccp", _full, says="the full gradient, for smooth r2", smooth_r2=True),
        Method("dca-page", _page, says="PAGE, p = 1/b', b' = ⌈√N⌉", stream=PAGE(p=1 / 32, b_small=32, b=1024)),
        Method("dca-svrg", _dca_svrg, 2.0, says="SVRG, b = N^(2/3), M = N^(1/3)/(4√(e−1))"),
        Method("dca-saga", _dca_saga, 2.0, says="SAGA on the h_i, b = 2·2^(1/4)·N^(3/4)"),
        Method("sdca", _sdca, 1.1, says="SAG on the h_i, b = N/10"),
        Method("mm-saga", _mm_saga, says="SAGA on the f_i, b = (4N)^(2/3)", only_S=True),
        Method("mm-svrg", _mm_svrg, says="loopless SVRG, b = N^(2/3), q = 4/N^(1/3)", only_S=True),
        Method("mm-sarah", _mm_sarah, says="loopless SARAH, b = ⌊√N⌋, p = 1/b", only_S=True),
        Method(
            "ssdc-spg", _full, says="DCA; SPG on all of f inside", only_S=True, linear=True,
            transform=_strong_inside, subsolver=_spg,
        ),
        Method(
            "ssdc-svrg", _full, says="DCA; SVRG on all of f inside", only_S=True, linear=True,
            transform=_strong_inside, subsolver=_staged_svrg,
        ),
        Method("pdcae", lambda n: Extrapolated(), says="the full gradient, extrapolated", only_S=True, convex_f=True),
        Method("bdca", _full, says="the full gradient, then a line search", subsolver=_boosted),
        Method(
            "dca-local", lambda n: Revisited(), says="the full gradient; G is the curvature of f at x", only_S=True,
            linear=True, transform=separate, subsolver=Local,
        ),
        Method(
            "dca-nested", lambda n: Revisited(_GROWS), says="dca-local on 1/16, 1/4, 1/2 of the rows, then on all",
            only_S=True, linear=True, transform=separate, subsolver=lambda P: Local(P, _GROWS),
        ),
        Method("online-dca", _online, says="64 (t+1) fresh samples in step t", stream=Fresh(b=64, growth=1.0)),
    )
}


def as_method(spec: str | Method | Estimator) -> Method:
    """A recipe from its name, or one that uses the given estimator with κ = L_f."""
    if isinstance(spec, Method):
        return spec
    if isinstance(spec, str):
        return METHODS[pick("method", spec, METHODS, "an estimator")]
    if isinstance(spec, type) or not all(hasattr(spec, verb) for verb in ("start", "step", "check")):
        pick("method", spec, METHODS, "an estimator")  # says what is known
    estimator: Estimator = spec
    if isinstance(estimator, Revisited):  # who looks at F pays for its gradients
        nested = estimator.nested
        own = METHODS["dca-local" if nested is None else "dca-nested"]
        return replace(own, estimator=lambda n: estimator, subsolver=lambda P: Local(P, nested))
    return Method(_name(estimator), lambda n: estimator, stream=estimator)


def own_subsolver(given: str | Subsolver | None, recipe: Method, estimator: Estimator) -> Subsolver | None:
    """The sub-solver that was asked for, if the method can do with it."""
    if given is None:
        return None
    solver = as_subsolver(given)
    if isinstance(estimator, Revisited) and not (isinstance(solver, Local) and solver.nested == estimator.nested):
        expected = f"None: {recipe.name} makes its own metric, looks at F in it, and that pays for the gradients"
        raise BadSettings("subsolver", given, expected)
    return solver


def resolve(spec: str | Method | Estimator, P: Problem) -> tuple[Method, tuple[str, ...]]:
    """The recipe, and what "auto" took for this problem and why."""
    if not (isinstance(spec, str) and spec == AUTO):
        if isinstance(spec, str):
            pick("method", spec, (*METHODS, AUTO), "an estimator")
        return as_method(spec), ()
    name, why = _automatic(P)
    return METHODS[name], (f"auto took {name}: {why}",)


def _automatic(P: Problem) -> tuple[str, str]:
    f = P.f
    if P.n is None:
        return "dca-page", "a stream"
    if not isinstance(f, LinearSum):
        if P.n < _MANY:
            return "dca", f"a general G, and {P.n} components are soon seen"
        if not math.isfinite(getattr(P.sum, "L_v", None) or 0.0):
            return "dca", "a general G, and components with kinks"
        return "dca-page", f"a general G and {P.n} components"
    convex = f.loss.curvature[0] >= 0.0
    if (P.tunable or isinstance(P.G, LocalCurvature)) and separable(P.r):
        if f.grams is not None:
            return "dca-local", "the curvature is the same everywhere, so that one matrix serves all steps"
        if f.n >= _MANY and _GROWS.share(0, f) < 1.0:
            return "dca-nested", f"curvature at x, and {f.n} rows for {math.prod(f.shape)} unknowns let samples grow"
        return "dca-local", f"curvature at x; {f.n} rows for {math.prod(f.shape)} unknowns are seen from the start"
    if P.tunable and f.n >= _MANY:
        return "dca-page", f"r does not fall apart into entries or rows, and {f.n} rows allow batches"
    return ("pdcae" if convex else "dca"), "full gradients in the given metric" if not P.tunable else f"{f.n} rows"


def _name(estimator: Estimator) -> str:
    known = (name for name, sample in ESTIMATORS.items() if type(sample) is type(estimator))
    return next(known, type(estimator).__name__)
