"""The law of `steepest`: where r₂ has kinks, its w is the subgradient along which F falls most. Seeded draws only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..regularizers.base import Regularizer
from .base import Law, demand
from .profiles import profile_of

_NEAR = 1e-7  # the distance of points whose gradients of r₂ stand for the extreme points of ∂r₂(x)
_AROUND = 64  # such points per x


def kinks(r: Regularizer) -> Iterator[tuple[np.random.Generator, Any, Any]]:
    """(draw, x, u): points x with many ties, blocks at the jumps of ψ' and zeros (the first x is 0), and vectors u."""
    profile = profile_of(r)
    jumps = [] if profile is None else [at for at, _, _ in profile.jumps or ()]
    fixed = r.shape or (6,)
    for shape in [fixed] if len(fixed) == 2 else [fixed, (*fixed, 3)]:
        draw = np.random.default_rng(sum(shape))
        for i in range(24):
            some = draw.random(shape) < (0.0, 0.2, 0.6)[i % 3]
            x = draw.choice([-1.0, 1.0], size=shape) * draw.choice([*jumps, 0.5], size=shape) * some
            yield draw, r.prox(x, 1.0) if r.r1(x) == np.inf else x, draw.normal(size=shape) * (0.05, 0.2, 2.0)[i % 3]


def steepest_is_farthest(r: Regularizer) -> None:
    """w = steepest(x, u) ∈ ∂r₂(x), and dist(u + w, ∂r₁(x)) ≥ dist(u + w', ∂r₁(x)) for the other extreme w'.

    The w' are gradients of r₂ near x. A regularizer that certifies "critical" promises no more than w ∈ ∂r₂(x).
    """
    for draw, x, u in kinks(r):
        w = r.steepest(x, u.copy)
        at, size = r.r1(x) - r.value(x), 1.0 + float(np.abs(u).max())
        around = [x + _NEAR * draw.normal(size=x.shape) for _ in range(_AROUND)]
        for y in [*around, 0.0 * x, 2.0 * x, -x, x + draw.normal(size=x.shape)]:
            if np.isfinite(r.r1(y)):
                below = at + float(np.sum(w * (y - x))) - (r.r1(y) - r.value(y))
                demand(below <= 1e-11 * (size + r.r1(x) + r.r1(y)), "the w of steepest is no subgradient of r2")
        if r.certifies == "critical":
            continue
        far = r.distance(u + w, x)
        for other in map(r.subgrad, around):
            more = r.distance(u + other, x) - far
            demand(more <= 1e-5 * size, f"F falls faster by {more:.3g} with another w than that of steepest")


LAWS: dict[str, Law] = {"steepest-is-farthest": steepest_is_farthest}
