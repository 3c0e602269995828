"""The laws of a convex part G, on vectors and, where it takes them, matrices. Seeded draws only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..convex.base import Convex
from .base import Law, demand

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_ETA = 0.7


def cases(G: Convex, n: int = 10) -> Iterator[tuple[np.random.Generator, list[Any]]]:
    """Points of several sizes, the first 0, of every number of dimensions that G takes."""
    fixed = G.shape or (5,)
    for shape in [fixed, (*fixed, 2)] if len(fixed) == 1 and getattr(G, "columns", False) else [fixed]:
        draw = np.random.default_rng(sum(shape))
        yield draw, [draw.normal(size=shape) * (0.0, 0.1, 1.0, 3.0)[i % 4] for i in range(n)]


def pairs(G: Convex) -> Iterator[tuple[Any, Any]]:
    for draw, xs in cases(G):
        yield from zip(xs, xs[1:], strict=False)
        yield from ((x, x + 1e-4 * draw.normal(size=x.shape)) for x in xs)


def dot(a: Any, b: Any) -> float:
    return float(np.sum(a * b))


def size(a: Any) -> float:
    return float(np.linalg.norm(a))


def convex_on_segments(G: Convex) -> None:
    """G(sx + (1−s)y) + ρ/2 s(1−s)‖x − y‖² ≤ sG(x) + (1−s)G(y)"""
    for draw, xs in cases(G, 24):
        for x, y in zip(xs, xs[1:], strict=False):
            for s in (0.5, float(draw.random())):
                ends, z = (G.value(x), G.value(y)), s * x + (1 - s) * y
                over = G.value(z) + 0.5 * G.rho * s * (1 - s) * dot(x - y, x - y) - s * ends[0] - (1 - s) * ends[1]
                demand(over <= 1e-11 * (1 + sum(map(abs, ends))), f"not (rho-)convex on a segment, by {over:.3g}")


def grad_is_derivative(G: Convex) -> None:
    """⟨∇G(x), v⟩ = lim (G(x + tv) − G(x − tv)) / 2t, by a formula of order 4"""
    for draw, xs in cases(G):
        for x in xs:
            v = draw.normal(size=x.shape)
            g = G.grad(x)
            demand(g.shape == x.shape, f"grad has shape {g.shape}, x {x.shape}")
            t = 1e-3
            near, far = (G.value(x + k * t * v) - G.value(x - k * t * v) for k in (1, 2))
            off = abs((8 * near - far) / (12 * t) - dot(g, v))
            demand(off <= 1e-8 * (1 + abs(dot(g, v)) + abs(G.value(x))), f"grad is off by {off:.3g}")


def bregman_is_its_definition(G: Convex) -> None:
    """D(x, y) = G(x) − G(y) − ⟨∇G(y), x − y⟩ = ∫ ⟨∇G(y + s(x − y)) − ∇G(y), x − y⟩ ds; the second near y, too"""
    for x, y in pairs(G):
        h, own = x - y, G.bregman(x, y)
        sizes = abs(G.value(x)) + abs(G.value(y)) + abs(dot(G.grad(y), h))
        off = abs(own - (G.value(x) - G.value(y) - dot(G.grad(y), h)))
        demand(off <= 1e-13 * (1 + sizes), f"bregman is {off:.3g} away from its definition")
        at = [dot(G.grad(y + 0.5 * (1 + s) * h) - G.grad(y), h) for s in _NODES]
        whole = 0.5 * dot(_WEIGHTS, np.array(at))
        close = size(h) > 0.1 or abs(own - whole) <= 1e-6 * whole + 1e-15 * (1 + sizes)
        demand(close, f"bregman is {own:.9g}, its integral {whole:.9g}")


def constants_bound_the_curvature(G: Convex) -> None:
    """ρ‖h‖² ≤ ⟨∇G(x) − ∇G(y), h⟩ and ‖∇G(x) − ∇G(y)‖ ≤ L‖h‖, h = x − y"""
    demand(0.0 <= G.rho < math.inf and G.L >= G.rho, f"rho = {G.rho}, L = {G.L}: 0 <= rho <= L is expected")
    for x, y in pairs(G):
        h, change = x - y, G.grad(x) - G.grad(y)
        room = 1e-13 * (1 + size(G.grad(x)) + size(G.grad(y)))
        demand(dot(change, h) >= G.rho * dot(h, h) * (1 - 1e-9) - room * size(h), f"less convex than rho = {G.rho:g}")
        demand(size(change) <= G.L * size(h) * (1 + 1e-9) + room, f"steeper than L = {G.L:g}")


def shift_adds_a_square(G: Convex) -> None:
    """shift(η): G + η/2 ‖x‖², ρ + η, L + η"""
    H = G.shift(_ETA)
    for have, want in ((H.rho, G.rho + _ETA), (H.L, G.L + _ETA)):
        demand(have == want or abs(have - want) <= 1e-9 * want, f"shift gives {have:g} in place of {want:g}")
    demand(H.shape == G.shape and H.components == G.components, "shift changes the shape or the components")
    for _, xs in cases(G):
        for x, y in zip(xs, xs[1:], strict=False):
            want = G.value(x) + 0.5 * _ETA * dot(x, x)
            demand(abs(H.value(x) - want) <= 1e-12 * (1 + abs(want)), "shift: value is wrong")
            off = size(H.grad(x) - G.grad(x) - _ETA * x)
            demand(off <= 1e-12 * (1 + size(H.grad(x))), "shift: grad is wrong")
            want = G.bregman(x, y) + 0.5 * _ETA * dot(x - y, x - y)
            demand(abs(H.bregman(x, y) - want) <= 1e-12 * (1 + abs(H.value(x)) + want), "shift: bregman is wrong")


def hess_dot_is_derivative(G: Any) -> None:
    """hess_dot(x, v) = lim (∇G(x + tv) − ∇G(x − tv)) / 2t, by a formula of order 4, where there is one"""
    if not hasattr(G, "hess_dot"):
        return
    for draw, xs in cases(G):
        for x in xs:
            v, t = draw.normal(size=x.shape), 1e-3
            near, far = (G.grad(x + k * t * v) - G.grad(x - k * t * v) for k in (1, 2))
            off = size((8 * near - far) / (12 * t) - G.hess_dot(x, v))
            demand(off <= 1e-6 * (1 + size(G.hess_dot(x, v))), f"hess_dot is off by {off:.3g}")


def nan_in_nan_out(G: Convex) -> None:
    for _, xs in cases(G, 3):
        x = xs[-1].copy()
        x.flat[0] = math.nan
        demand(math.isnan(G.value(x)), "value swallows a NaN")
        demand(bool(np.isnan(G.grad(x)).any()), "grad swallows a NaN")


def leaves_its_argument(G: Convex) -> None:
    """No write into x, and the precision of x is kept."""
    for _, xs in cases(G, 3):
        x = xs[-1].copy()
        G.value(x), G.grad(x), G.bregman(x, xs[0])
        demand(bool(np.array_equal(x, xs[-1])), "x was changed")
        demand(G.grad(x) is not x, "grad is x itself")
        demand(G.components > 0 or G.grad(x.astype(np.float32)).dtype == np.float32, "float32 does not stay float32")


LAWS: dict[str, Law] = {
    "convex-on-segments": convex_on_segments,
    "grad-is-derivative": grad_is_derivative,
    "bregman-is-its-definition": bregman_is_its_definition,
    "constants-bound-the-curvature": constants_bound_the_curvature,
    "shift-adds-a-square": shift_adds_a_square,
    "hess-dot-is-derivative": hess_dot_is_derivative,
    "nan-in-nan-out": nan_in_nan_out,
    "leaves-its-argument": leaves_its_argument,
}
