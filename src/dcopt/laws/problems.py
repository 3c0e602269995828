"""The laws of a problem: that F is what was meant, and that G and H are convex where it is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..draw import Draw
from ..problem import Problem
from ..sums import Batch
from .base import Law, demand

_SIZES = (0.1, 1.0, 3.0)


def points(P: Problem, n: int = 12) -> Iterator[Any]:
    """Points of dom r1, of several sizes."""
    draw = np.random.default_rng(sum(P.shape))
    for i in range(n):
        yield P.r.prox(draw.normal(size=P.shape) * _SIZES[i % 3], 1.0)


def value_of_H(P: Problem, x: Any) -> float:
    """H(x), the shift and all: G − f where f is given."""
    value = P.evaluation_sum.all().value_grad(x)[0]
    return P.G.value(x) - value if P.f is not None else value + 0.5 * P.eta * float(np.sum(x * x))


def _convex(value: Callable[[Any], float], P: Problem, name: str) -> None:
    draw, xs = np.random.default_rng(7), list(points(P, 24))
    for x, y in zip(xs, xs[1:], strict=False):
        ends = value(x), value(y)
        for s in (0.5, float(draw.random())):
            above = value(s * x + (1 - s) * y) - s * ends[0] - (1 - s) * ends[1]
            room = 1e-10 * (1 + sum(map(abs, ends)))
            demand(above <= room, f"{name} is above its chord by {above:.3g}")


def G_is_convex(P: Problem) -> None:
    """G(sx + (1−s)y) ≤ sG(x) + (1−s)G(y) on segments of dom r1"""
    _convex(P.G.value, P, "G")


def H_is_convex(P: Problem) -> None:
    """The same of H: linearizing it must not put the model below F."""
    _convex(lambda x: value_of_H(P, x), P, "H")


def F_is_its_parts(P: Problem) -> None:
    """F = G − H + r, to rounding, and the linear term u = ∇H + w − ∇G is that of F's model"""
    for x in points(P):
        at = P.examine(x)
        G, H, r = P.G.value(x), value_of_H(P, x), P.r.value(x)
        room = 1e-12 * (1 + abs(G) + abs(H) + abs(r))
        demand(abs(at.F - (G - H + r)) <= room, f"F = {at.F:.15g}, G − H + r = {G - H + r:.15g}")
        down = partial(P.down, x, P.linear(x, P.evaluation_sum.all().grad(x)))
        u = down() + P.r.steepest(x, down)
        gap = float(np.abs(u - at.u).max())
        demand(gap <= 1e-10 * (1 + float(np.abs(u).max())), f"the linear term is off by {gap:.3g}")


def components(P: Problem) -> list[Batch]:
    """Every component by itself."""
    f = P.evaluation_sum
    return [f.sample(1, Draw(0, i), "cyclic") for i in range(f.n or 0)]


def component_gradients_are_derivatives(P: Problem) -> None:
    """⟨∇h_i(x), v⟩ = (h_i(x + tv) − h_i(x − tv)) / 2t for every component, where that does not depend on t (a kink)"""
    draw, t = np.random.default_rng(3), 1e-4
    for i, component in enumerate(components(P)):
        for x in points(P, 3):
            v = draw.normal(size=P.shape)
            v /= np.linalg.norm(v)

            def slope(t: float, x: Any = x, v: Any = v, component: Batch = component) -> float:
                return (component.value_grad(x + t * v)[0] - component.value_grad(x - t * v)[0]) / (2 * t)

            wide, near = slope(2 * t), slope(t)
            exact = float(np.sum(component.grad(x) * v))
            size = 1 + abs(component.value_grad(x)[0]) + abs(exact)
            if abs(wide - near) <= 1e-5 * size:
                demand(abs(near - exact) <= 2e-5 * size, f"component {i}: slope {exact:.6g}, by differences {near:.6g}")


def batches_are_means(P: Problem) -> None:
    """A batch, and all of them: value, gradient, difference and pull(slopes) are the means over its components"""
    f, each = P.evaluation_sum, components(P)
    x, prev = list(points(P, 3))[1:]
    for batch in [f.all(), *(f.sample(b, Draw(1, b)) for b in (1, 3, 2 * len(each)))]:
        mine = [each[i] for i in (range(len(each)) if batch.rows is None else batch.rows)]
        value, g = batch.value_grad(x)
        want = np.mean([c.grad(x) for c in mine], axis=0)
        room = 1e-11 * (1 + max(float(np.abs(c.grad(x)).max()) for c in mine))
        values = [c.value_grad(x)[0] for c in mine]
        close = abs(value - float(np.mean(values))) <= 1e-11 * (1 + max(map(abs, values)))
        demand(close, "the value is not the mean of the components'")
        gradients = [("value_grad", g), ("grad", batch.grad(x))]
        if f.facts().tables:
            gradients.append(("pull(slopes)", batch.pull(batch.slopes(x))))
        for name, got in gradients:
            demand(float(np.abs(got - want).max()) <= room, f"{name} is not the mean of the components'")
        change = np.mean([c.grad(x) - c.grad(prev) for c in mine], axis=0)
        room = 1e-11 * (1 + max(float(np.abs(c.grad(p)).max()) for c in mine for p in (x, prev)))
        demand(float(np.abs(batch.diff(x, prev) - change).max()) <= room, "diff is not the mean of the differences")


def steps_descend(P: Problem) -> None:
    """Exact DCA steps do not raise F: the model lies above F and touches it."""
    from ..solve import iterate

    for x0 in points(P, 3):
        F = P.value(x0)
        for state, _ in zip(iterate(P, "dca", x0=x0, seed=0), range(5), strict=False):
            new = P.value(state.x)
            slack = (state.residual or 0.0) * float(np.linalg.norm(state.x - state.prev)) + 1e-9 * (1 + abs(F))
            demand(new <= F + slack, f"F rose from {F:.12g} to {new:.12g} at step {state.t}")
            F = new


def same_objective(P: Problem, F: Callable[[Any], float]) -> None:
    """F agrees with a formula of its own to 1e-12 of the sizes of its parts."""
    for x in points(P):
        mine, other = P.value(x), F(x)
        size = 1 + abs(P.G.value(x)) + abs(value_of_H(P, x)) + abs(P.r.r1(x))
        demand(abs(mine - other) <= 1e-12 * size, f"F = {mine:.15g}, the formula says {other:.15g}")


LAWS: dict[str, Law] = {
    "G-is-convex": G_is_convex,
    "H-is-convex": H_is_convex,
    "F-is-its-parts": F_is_its_parts,
    "component-gradients-are-derivatives": component_gradients_are_derivatives,
    "batches-are-means": batches_are_means,
    "steps-descend": steps_descend,
}
