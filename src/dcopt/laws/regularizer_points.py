"""The points and steps at which the laws of a regularizer are tried, and how they compare numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..regularizers.base import Regularizer

Cases = Iterator[tuple[np.random.Generator, list[Any]]]


def cases(r: Regularizer, n: int = 9) -> Cases:
    """For a vector and a matrix that r accepts: points of dom r₁ of several sizes, many entries and some
    whole rows exactly 0, the first as near to 0 as the domain allows."""
    fixed = r.shape or (6,)
    for shape in [fixed] if len(fixed) == 2 else [fixed, (*fixed, 3)]:
        draw = np.random.default_rng(sum(shape))
        xs = [r.prox(np.zeros(shape), 1.0)]
        for i in range(n - 1):
            x = draw.normal(size=shape) * (0.05, 0.4, 1.5, 6.0)[i % 4] * (draw.random(shape) > 0.33)
            x[draw.random(shape[0]) < 0.2] = 0.0
            xs.append(x if math.isfinite(r.r1(x)) else r.prox(x, 1.0))
        yield draw, xs


def steps(draw: np.random.Generator, shape: tuple[int, ...], r: Regularizer) -> list[Any]:
    """Two numbers, one step per entry, and for a matrix one per row; only numbers where r takes nothing else."""
    if r.one_step:
        return [0.3, 4.0]
    arrays = [np.exp(draw.normal(size=s)) for s in {shape, (shape[0], *(1 for _ in shape[1:]))}]
    return [0.3, 4.0, *arrays]


def small(gap: float, *sizes: float) -> bool:
    """gap ≤ rounding of numbers of these sizes (False for NaN)."""
    return bool(gap <= 1e-11 * (1.0 + sum(map(abs, sizes))))


def dot(a: Any, b: Any) -> float:
    return float(np.sum(a * b))
