"""The named recipes: an estimator, κ in units of L_f, batch sizes from N."""

from __future__ import annotations

import math
from dataclasses import replace

from .convex import Mean
from .errors import pick
from .estimators import ESTIMATORS, PAGE, SAG, SAGA, SVRG, Estimator, Extrapolated, Fresh, Full, LooplessSVRG
from .local import ALL, Local, Samples
from .method import Method
from .problem import Problem
from .subproblems import Subsolver, choose
from .subproblems.boosted import Boosted
from .subproblems.staged import StagedSPG, StagedSVRG
from .sums import KnownSquare


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
    rows = P.sum.facts().rows
    assert rows is not None  # the recipe is linear
    s = rows.smoothness()
    mu = s.m_f + (s.Lbar or 1.0)
    return replace(P, G=Mean(rows, mu), H=KnownSquare(mu, rows), f=None, inner_tol=math.inf)


def _spg(P: Problem) -> Subsolver:
    G = P.G
    assert isinstance(G, Mean)
    b = math.isqrt((P.n or 1) - 1) + 1
    return StagedSPG(G.mu - G.smoothness.m_f, b)  # type: ignore[return-value]  # told the step by the loop


def _boosted(P: Problem) -> Subsolver:
    return Boosted(P, choose(P.G, P.r))


def _staged_svrg(P: Problem) -> Subsolver:
    return StagedSVRG()  # type: ignore[return-value]  # told the step by the loop


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
        Method("dca-local", _full, says="the full gradient; G is the curvature of f at x", local=Local()),
        Method(
            "dca-nested", _full, says="dca-local on 1/16, 1/4, 1/2 of the rows, then on all", local=Local(Samples()),
        ),
        Method("online-dca", _online, says="64 (t+1) fresh samples in step t", stream=Fresh(b=64, growth=1.0)),
    )
}


def as_method(spec: str | Method | Estimator | Local) -> Method:
    """A recipe from its name, or one that uses the given estimator with κ = L_f."""
    if isinstance(spec, Method):
        return spec
    if isinstance(spec, str):
        return METHODS[pick("method", spec, METHODS, "an estimator")]
    if isinstance(spec, Local):
        name = "dca-local" if spec.samples == ALL else "dca-nested"
        return replace(METHODS[name], local=spec)
    if isinstance(spec, type) or not all(hasattr(spec, verb) for verb in ("start", "step", "check")):
        pick("method", spec, METHODS, "an estimator")  # says what is known
    return Method(_name(spec), lambda n: spec, stream=spec, sizes_are_given=True)


def _name(estimator: Estimator) -> str:
    known = (name for name, sample in ESTIMATORS.items() if type(sample) is type(estimator))
    return next(known, type(estimator).__name__)
