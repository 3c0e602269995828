"""The first κ (or shift η), from a batch and one step."""

from __future__ import annotations

import math

from ..draw import Draw
from ..estimators.base import Estimator, KnowsItsError
from ..loop import program
from ..subproblems.base import for_step
from ..sums import FREE, Cost
from ..xp import namespace
from .levels import Levels
from .memory import Good
from .policy import Adaptive


def first_level(levels: Levels, how: Adaptive, estimator: Estimator, here: Good, draw: Draw) -> tuple[float, Cost]:
    """The first level and its cost in component gradients. It is found on a batch of ⌈√N⌉."""
    b = math.isqrt(levels.n - 1) + 1
    if levels.scales:
        return _first_scale(levels, how, here, draw, b)
    s = estimator.spread(levels.n) if isinstance(estimator, KnowsItsError) else 1.0
    return (0.0, FREE) if s == 0.0 else _first_shift(levels, here, draw, b, s)


def _first_scale(levels: Levels, how: Adaptive, here: Good, draw: Draw, b: int) -> tuple[float, Cost]:
    """`margin` times the curvature of f along a step whose κ is at least that curvature and at most about four times.

    κ goes down while the batch allows it, and up by fours where the step is too long for it.
    """
    batch = levels.P.sum.sample(b, Draw(draw.inner(0), 0))
    f, slope = batch.value_grad(here.x)
    cost, xp = Cost(batch.size, batch.size), namespace(here.x)

    def bend(kappa: float) -> float | None:
        """The curvature of f_B along the step: the larger one of what f_B and ∇f_B tell; inf where these overflow

        None where x stays: such an x stays with every κ.
        """
        nonlocal cost
        Q, subsolver = levels.at(kappa)
        inner, _ = program(Q, for_step(subsolver, draw), here.x, None, Q.linear(here.at, here.g))
        d = inner.x - here.x
        moved = float(xp.sum(d * d))
        if moved == 0.0:
            return None
        value, grad = batch.value_grad(inner.x)
        cost = cost.plus(inner.cost).plus(Cost(batch.size, batch.size))
        above = value - f - float(xp.sum(slope * d)) - 8.0 * levels.eps * (abs(f) + abs(value))
        told = max(2.0 * above, float(xp.sum((grad - slope) * d))) / moved
        return told if math.isfinite(told) else math.inf

    kappa, rose = how.first, False
    while True:
        c = bend(kappa)
        if c is None or kappa < 1.0 / _LARGEST:  # Nothing is told by this batch.
            return how.first, cost
        if c > kappa and kappa < _LARGEST:
            kappa, rose = 4.0 * kappa, True
        elif rose or 4.0 * c >= kappa:
            return max(how.margin * c, kappa), cost
        else:
            kappa = max(2.0 * c, kappa / _FAR)


def _first_shift(levels: Levels, here: Good, draw: Draw, b: int, s: float) -> tuple[float, Cost]:
    """s L_v, where L_v is estimated by how the gradients of two batches differ along the step without a shift."""
    Q, subsolver = levels.at(0.0)
    inner, _ = program(Q, for_step(subsolver, draw), here.x, None, Q.linear(here.at, here.g))
    d, xp = inner.x - here.x, namespace(here.x)
    moved = float(xp.sum(d * d))
    one, two = (levels.P.sum.sample(b, Draw(draw.inner(k), 0)) for k in (0, 1))
    cost = inner.cost.plus(Cost(2 * (one.size + two.size), one.size + two.size))
    apart = one.diff(inner.x, here.x) - two.diff(inner.x, here.x)
    variance = 0.5 * b * float(xp.sum(apart * apart))
    known = moved > 0.0 and math.isfinite(variance)
    return (s * math.sqrt(variance / moved) if known else 0.0), cost


_FAR = 4096.0  # The search goes down by at most this factor at once, where f is flat or concave along the step.
_LARGEST = 1e100  # Beyond it the search ends: κ‖x‖² and 1/κ stay within the numbers.
