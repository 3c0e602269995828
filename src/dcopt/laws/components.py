"""The laws of components that a user wrote: fn(x, batch), its gradient, and what is claimed of their mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from ..data import batches
from ..draw import Draw
from ..errors import DcoptError
from ..sums import Components
from ..sums.autodiff.tree import as_numpy
from .base import Law, LawBroken, demand

_ROWS = 24  # Components of a batch on which the laws are tried.
_SIZES = (0.0, 0.1, 1.0)  # How far the points are from the x at which fn was tried first.
_FEW = 256  # Up to so many components the constants of single components are tried on all of them.


def _law(law: Callable[[Components], None]) -> Law:
    """What fn or its checks raise breaks the law."""

    @wraps(law)
    def tried(f: Components) -> None:
        try:
            with np.errstate(all="ignore"):
                law(f)
        except LawBroken:
            raise
        except DcoptError as why:
            raise LawBroken(str(why)) from why
        except Exception as why:
            raise LawBroken(f"fn raised {type(why).__name__}: {' '.join(str(why).split())[:300]}") from why

    return tried


def points(f: Components, dtype: Any = None) -> Iterator[Any]:
    """Points of several distances from the first one"""
    draw = np.random.default_rng(math.prod(f.shape))
    for size in _SIZES:
        yield (f.start + size * draw.normal(size=f.shape)).astype(f.dtype if dtype is None else dtype)


def some(f: Components) -> Components:
    """The mean over a few of the components"""
    n = f.n
    return f.take(np.arange(n) if n <= _ROWS else Draw(1, 0).rows(n, _ROWS, "distinct"))


def _best(f: Components) -> Any:
    """The type in which derivatives are compared: float64 where fn accepts it"""
    return np.float64 if f.double else f.dtype


@_law
def one_number_each(f: Components) -> None:
    """fn gives one finite number for each component, in the type of x; the gradient is finite and has it too"""
    few = some(f)
    for dtype in {np.dtype(f.dtype), np.dtype(_best(f))}:
        for x in points(f, dtype):
            values = few.engine.values(x, few.engine.cut(few.own, 0, few.n), few.n)
            bad = np.flatnonzero(~np.isfinite(values))
            where = f"at x of length {np.linalg.norm(x):.3g}"
            demand(not bad.size, f"fn returned {values[bad[:1]]} for a component, {where}")
            g = few.all().grad(x)
            demand(g.dtype == dtype, f"the gradient has {g.dtype} numbers for x in {dtype}")
            demand(bool(np.isfinite(g).all()), f"the gradient is not finite, {where}")


@_law
def additive(f: Components) -> None:
    """A number does not depend on the rest of the batch: fn of any cut of a batch is the same cut of fn of the batch"""
    few = some(f)
    whole, room = few.all(), 1e3 * float(np.finfo(f.dtype).eps)
    for x in points(f):
        values, g = whole.values(x), whole.grad(x)
        size = 1.0 + float(np.abs(values).max())
        for cut in {1, few.n // 3, few.n // 2, few.n - 1} - {0, few.n}:
            parts = [few.take(np.arange(cut)), few.take(np.arange(cut, few.n))]
            off = float(np.abs(np.concatenate([p.all().values(x) for p in parts]) - values).max())
            demand(off <= room * size, f"the numbers of a batch of {few.n} change by {off:.3g} when it is cut at {cut}")
            each = [p.all().grad(x).astype(np.float64) for p in parts]
            off = float(np.abs(sum(p.n / few.n * part for p, part in zip(parts, each, strict=True)) - g).max())
            most = float(np.abs(g).max()) + max(float(np.abs(part).max()) for part in each)
            demand(off <= room * (1.0 + most), f"the gradient of a batch is off by {off:.3g} from that of its cuts")


@_law
def gradient_is_derivative(f: Components) -> None:
    """⟨∇f(x), v⟩ = lim (f(x + tv) − f(x − tv)) / 2t, by a formula of order 4, for every parameter by itself and all"""
    few, dtype = some(f), _best(f)
    t, room = (1e-3, 1e-6) if np.dtype(dtype) == np.float64 else (3e-2, 2e-2)
    draw, batch = np.random.default_rng(5), few.all()
    for x in points(f, dtype):
        g = batch.grad(x)
        for name, v in _directions(f, draw):

            def rise(k: float, x: Any = x, v: Any = v) -> float:
                step = (k * t * v).astype(dtype)
                return batch.value(x + step) - batch.value(x - step)

            fine, coarse = ((8 * rise(k) - rise(2 * k)) / (12 * k * t) for k in (1.0, 2.0))
            exact = float(np.sum(g * v))
            size = 1.0 + abs(exact) + abs(batch.value(x))
            if not abs(fine - coarse) <= room * size:  # A kink is near.
                continue
            missing = not np.any(g[v != 0.0]) and abs(fine) > room * size
            demand(not missing, f"f changes with {name}, but has no gradient in it: was it detached?")
            off = abs(fine - exact)
            demand(off <= room * size, f"the slope along {name} is {exact:.6g}, by differences {fine:.6g}")


def _directions(f: Components, draw: Any) -> Iterator[tuple[str, Any]]:
    """One direction for each parameter of a tree, and one in all of x"""
    if (tree := f.engine.tree) is not None:
        ends = np.cumsum([0, *tree.sizes])
        for name, start, stop in zip(tree.names, ends, ends[1:], strict=False):
            v = np.zeros(f.shape)
            v[start:stop] = draw.normal(size=stop - start)
            yield f"the parameter {name}", v / np.linalg.norm(v)
    v = draw.normal(size=f.shape)
    yield "x", v / np.linalg.norm(v)


@_law
def same_numbers_twice(f: Components) -> None:
    """The same x and batch give the same bits: fn draws no random numbers (dropout) and keeps no count of its calls"""
    few = some(f)
    for x in points(f):
        for what in ("values", "grad", "values"):
            one, two = (getattr(few.all(), what)(x) for _ in range(2))
            said = "fn is random (dropout?) or depends on earlier calls"
            demand(bool(np.array_equal(one, two, equal_nan=True)), f"two calls give different {what}: {said}")


@_law
def nothing_is_changed(f: Components) -> None:
    """Neither fn nor grad writes into x or into the batch"""
    if f.engine.name == "JAX":  # Its arrays cannot be changed.
        return
    few = some(f)
    for x in points(f):
        engine = replace(few.engine, fn=_watched(few.engine.fn, "fn"))
        engine.each = few.engine.each
        if engine.grad is not None:
            engine.grad = _watched(engine.grad, "grad")
        watched = replace(few, engine=engine, own=engine.prepare(few.data))
        watched.all().values(x)
        watched.all().grad(x)


def _watched(function: Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    def call(x: Any, batch: Any) -> Any:
        before = _numbers(x), _numbers(batch)
        out = function(x, batch)
        for what, then, now in (("x", before[0], _numbers(x)), ("the batch", before[1], _numbers(batch))):
            same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(then, now, strict=True))
            demand(same, f"{name} writes into {what}: make a copy first")
        return out

    return call


def _numbers(tree: Any) -> list[Any]:
    """Copies of the arrays in a batch or in parameters; objects of the user's own are left out."""
    if isinstance(tree, (tuple, list)):
        return [a for part in tree for a in _numbers(part)]
    if isinstance(tree, dict):
        return _numbers(list(tree.values()))
    if batches.kind_of(tree) == "sparse":
        return [tree.data.copy()]
    return [np.array(as_numpy(tree))] if batches.kind_of(tree) in ("numpy", "torch") else []


@_law
def convex_where_claimed(f: Components) -> None:
    """f(sx + (1−s)y) ≤ s f(x) + (1−s) f(y), where convex=True"""
    if not f.facts().convex:
        return
    batch, draw = f.all(), np.random.default_rng(7)
    for k in range(12):
        x, y = (f.start + _SIZES[1 + k % 2] * draw.normal(size=f.shape) for _ in range(2))
        fx, fy = (batch.value(p.astype(_best(f))) for p in (x, y))
        for s in (0.5, float(draw.random())):
            above = batch.value((s * x + (1 - s) * y).astype(_best(f))) - s * fx - (1 - s) * fy
            room = 1e2 * float(np.finfo(_best(f)).eps) * (1 + abs(fx) + abs(fy))
            demand(above <= room, f"claimed to be convex, and is above its chord by {above:.3g}")


@_law
def claimed_constants_hold(f: Components) -> None:
    """f ≥ lower; ‖∇f(x) − ∇f(y)‖ ≤ L_H ‖x − y‖; of few components also L and L_v"""
    known, batch, dtype = f.facts(), f.all(), _best(f)
    xs = list(points(f, dtype))
    eps = 1e2 * float(np.finfo(dtype).eps)
    if known.lower is not None:
        for x in xs:
            value = batch.value(x)
            demand(value >= known.lower - eps * (1 + abs(value)), f"f = {value:.6g} is below lower = {known.lower:g}")
    for x, y in zip(xs, xs[1:], strict=False):
        change = batch.diff(x, y).astype(np.float64)
        length = float(np.linalg.norm(x - y))
        seen = {"L_H": float(np.linalg.norm(change)) / length}
        if f.n <= _FEW and (known.L is not None or known.L_v is not None):
            each = [f.take(np.array([i])).all().diff(x, y) for i in range(f.n)]
            squares = np.array([float(np.sum(np.asarray(d, np.float64) ** 2)) for d in each])
            seen["L"] = math.sqrt(float(squares.mean())) / length
            seen["L_v"] = math.sqrt(max(0.0, float(squares.mean()) - float(np.sum(change**2)))) / length
        for name, value in seen.items():
            claimed = getattr(known, name)
            demand(claimed is None or value <= claimed * (1 + 1e-6) + eps, f"{name} = {claimed}: {value:.6g} is seen")


LAWS: dict[str, Law] = {
    "one-number-each": one_number_each,
    "additive": additive,
    "gradient-is-derivative": gradient_is_derivative,
    "same-numbers-twice": same_numbers_twice,
    "nothing-is-changed": nothing_is_changed,
    "convex-where-claimed": convex_where_claimed,
    "claimed-constants-hold": claimed_constants_hold,
}
