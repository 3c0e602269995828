"""The laws of a regularizer r = r₁ - r₂, on vectors and matrices. Fixed points and seeded draws only."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..regularizers.base import Regularizer
from ..regularizers.excepting import Except
from ..regularizers.reweighted import reweighted
from . import kinks, profiles, prox
from .base import Law, demand
from .regularizer_points import cases, dot, small


def halves_are_convex(r: Regularizer) -> None:
    """r₁ (strongly, with rho) and r₂ = r₁ - r are convex on segments."""
    for draw, xs in cases(r):
        for x, y in zip(xs, xs[::-1], strict=True):
            s = float(draw.random())
            z = s * x + (1 - s) * y
            one = [r.r1(p) for p in (x, y, z)]
            two = [a - r.value(p) for a, p in zip(one, (x, y, z), strict=True)]
            strong = 0.5 * r.rho * s * (1 - s) * dot(x - y, x - y)
            demand(small(one[2] + strong - s * one[0] - (1 - s) * one[1], *one), "r1 is not (rho-)convex")
            demand(small(two[2] - s * two[0] - (1 - s) * two[1], *one), "r2 = r1 - r is not convex")


def subgrad_supports_r2(r: Regularizer) -> None:
    """r₂(y) ≥ r₂(x) + ⟨w, y - x⟩ for w = subgrad(x), r₂ = r₁ - r: far pairs, and near ones for a wrong w."""
    for draw, xs in cases(r):
        for x in xs:
            w, at = r.subgrad(x), r.r1(x) - r.value(x)
            demand(w.shape == x.shape, f"subgrad has shape {w.shape}, x {x.shape}")
            demand(bool(np.all(w[x == 0] == 0)) or not np.all(x == 0), "subgrad(0) is not 0")
            near = [x + 1e-3 * s * draw.normal(size=x.shape) for s in (1.0, -1.0, 0.1, -0.1) for _ in range(4)]
            near += [x * (1 + s) for s in (1e-3, -1e-3)]
            for y in xs + [y for y in near if math.isfinite(r.r1(y))]:
                r2 = r.r1(y) - r.value(y)
                demand(small(at + dot(w, y - x) - r2, r.r1(x), r.r1(y), dot(w, y)), "subgrad is not one of r2")


def subgrad_is_L2_smooth(r: Regularizer) -> None:
    """|subgrad(x) - subgrad(y)| ≤ L2 |x - y|; where L2 is None, halving a segment ends at a jump."""
    steepest = 0.0
    for draw, xs in cases(r):
        pairs = [(x, y) for x, y in zip(xs, xs[1:], strict=False)] + [(x, -x) for x in xs[1:]]
        pairs += [(x, x + 1e-5 * draw.normal(size=x.shape)) for x in xs]
        for x, y in pairs:
            for _ in range(45 if r.L2 is None else 1):
                wx, wy, m = r.subgrad(x), r.subgrad(y), 0.5 * (x + y)
                move = float(np.linalg.norm(x - y))
                if move < 1e-9 or not np.any(wx != wy):
                    break
                change = float(np.linalg.norm(wx - wy))
                steepest = max(steepest, change / move)
                if r.L2 is not None:
                    demand(change <= r.L2 * move * (1 + 1e-9) + 1e-13, f"subgrad is steeper than L2 = {r.L2:g}")
                wm = r.subgrad(m)
                x, y = (x, m) if np.linalg.norm(wm - wx) >= np.linalg.norm(wm - wy) else (m, y)
    demand(r.L2 is not None or steepest > 1e4, f"L2 is None, yet subgrad changes by {steepest:g} at most")


def nan_stays(r: Regularizer) -> None:
    """NaN in, NaN out: prox and subgrad where it was (or in its group), value, r1 and distance as a whole."""
    for _, xs in cases(r, 3):
        for j in np.ndindex(xs[1].shape):
            x = xs[2].copy()
            x[j] = math.nan
            for step in (0.3,) if r.one_step else (0.3, np.full(x.shape, 0.3)):
                demand(bool(np.isnan(r.prox(x, step)[j])), f"prox turns a NaN at {j} into a number")
            for name, w in (("subgrad", r.subgrad(x)), ("steepest", r.steepest(x, xs[1].copy))):
                demand(bool(np.isnan(w[j])), f"{name} turns a NaN at {j} into a number")
            demand(math.isnan(r.value(x)), f"value hides a NaN at {j}")
            demand(math.isnan(r.r1(x)), f"r1 hides a NaN at {j}")
            demand(math.isnan(r.distance(xs[1], x)), f"distance hides a NaN at {j} of x")
            demand(math.isnan(r.distance(x, xs[2])), f"distance hides a NaN at {j} of u")


def majorizes(r: Regularizer) -> None:
    """r ≤ b.r1 - ⟨w, ·⟩ + const, equal at x, for (w, b) = linearize(x): the DCA step, and the reweighted one,
    which is the tighter of the two."""
    kinds = [r] if profiles.profile_of(r) is None else [r, reweighted(plain(r))]
    for _, xs in cases(r):
        for x in xs:
            models = []
            for kind in kinds:
                w, b = kind.linearize(x, x.copy)
                const = r.value(x) - b.r1(x) + dot(w, x)
                models.append([b.r1(y) - dot(w, y) + const for y in xs])
                for y, m in zip(xs, models[-1], strict=True):
                    demand(small(r.value(y) - m, m, b.r1(x), const), f"{type(kind).__name__}: model below r")
            for one, two in zip(models[0], models[-1], strict=True):
                demand(small(two - one, one, two), "the reweighted model is above the plain one")


def one_column_is_scalar(r: Regularizer) -> None:
    """Rows of one column, and groups of one feature, are entries."""
    if (p := profiles.profile_of(r)) is None:
        return
    d = (p.shape or (6,))[0]
    weights = p.weights if p.weights is not None and len(p.weights) == d else None
    scalar = replace(p, groups=None, weights=weights)
    rows, lists = replace(scalar, groups="rows"), replace(scalar, groups=[[j] for j in range(d)])
    for _, xs in [next(cases(scalar))]:
        for x, v in zip(xs, xs[::-1], strict=True):
            for other, shape in ((rows, (d, 1)), (lists, (d,)), (lists, (d, 1)), (rows, (d,))):
                y, u = x.reshape(shape), v.reshape(shape)
                for f, g in (
                    (scalar.value(x), other.value(y)), (scalar.r1(x), other.r1(y)),
                    (scalar.subgrad(x), other.subgrad(y)), (scalar.prox(x, 0.7), other.prox(y, 0.7)),
                    (scalar.distance(v, x), other.distance(u, y)),
                ):  # fmt: skip
                    gap = float(np.abs(np.ravel(f) - np.ravel(g)).max())
                    demand(small(gap, float(np.abs(f).max())), "a group of one is not the scalar penalty")


def lam_has_its_limits(r: Regularizer) -> None:
    """λ = 0 is no regularizer; a huge λ gives exact zeros wherever r₁ has a kink at 0."""
    if not any(f.name == "lam" for f in (fields(bare(r)) if is_dataclass(bare(r)) else ())):
        return
    none, tiny, huge = (with_lam(r, lam) for lam in (0.0, 1e-13, 1e300))
    for _, xs in cases(r):
        for x in xs[1:]:
            demand(none.value(x) == 0.0 and none.r1(x) == 0.0, "lam = 0 still penalises")
            demand(bool(np.all(none.prox(x, 0.7) == x) and np.all(none.subgrad(x) == 0)), "lam = 0 still moves x")
            demand(none.L2 == 0.0, f"lam = 0 has L2 = {none.L2}")
            demand(abs(tiny.value(x)) <= 1e-9 and bool(np.all(abs(tiny.prox(x, 1.0) - x) <= 1e-9)), "lam -> 0 jumps")
            p = huge.prox(x, 1.0)
            for j in np.ndindex(x.shape):
                e = np.zeros(x.shape)
                e[j] = 1.0
                kink = huge.distance(e, 0.0 * x) == 0.0 == huge.distance(-e, 0.0 * x)  # A bound holds one of them.
                demand(p[j] == 0.0 if kink else p[j] == x[j] or abs(p[j]) < 1e-250, f"huge lam leaves {p[j]:g}")


def input_is_kept(r: Regularizer) -> None:
    """Arguments are not changed, results are fresh, float32 stays float32 and numbers are Python floats."""
    for _, xs in cases(r, 3):
        for dtype in (np.float32, np.float64):
            x, u = xs[1].astype(dtype), xs[2].astype(dtype)
            before = x.copy(), u.copy()
            for step in (0.5, np.float64(0.5), *(() if r.one_step else (np.full(x.shape, 0.5),))):
                out = [r.prox(x, step), r.subgrad(x), r.linearize(x, u.copy)[0], r.steepest(0.0 * x, u.copy)]
                demand(all(o.dtype == dtype for o in out), f"{np.dtype(dtype).name} is not kept")
                demand(not any(np.shares_memory(o, x) for o in out), "a result shares memory with its argument")
            numbers = (r.value(x), r.r1(x), r.distance(u, x))
            same = np.array_equal(x, before[0]) and np.array_equal(u, before[1])
            demand(same, "an argument was changed in place")
            demand(all(type(f) is float for f in numbers), f"not Python floats: {numbers}")


def minus_zero_is_zero(r: Regularizer) -> None:
    """-0.0 counts as 0."""
    for _, xs in cases(r, 5):
        for x, u in zip(xs, xs[::-1], strict=True):
            y = np.where(x == 0.0, -0.0, x)
            same = r.value(x) == r.value(y) and r.distance(u, x) == r.distance(u, y)
            same = same and np.array_equal(r.subgrad(x), r.subgrad(y))
            same = same and np.array_equal(r.steepest(x, u.copy), r.steepest(y, u.copy))
            demand(bool(same and np.array_equal(r.prox(x, 0.4), r.prox(y, 0.4))), "-0.0 is not treated as 0")


def bare(r: Any) -> Any:
    """r without its wrappers."""
    return bare(r.of) if hasattr(r, "of") else r


def plain(r: Any) -> Any:
    """r with the DCA step."""
    return replace(r, of=plain(r.of)) if isinstance(r, Except) else bare(r)


def with_lam(r: Any, lam: float) -> Any:
    """r with another λ (and μ = λ, where there is one)."""
    if hasattr(r, "of"):
        return replace(r, of=with_lam(r.of, lam))
    return replace(r, **{f.name: lam for f in fields(r) if f.name in ("lam", "mu")})


def above_its_bound(r: Regularizer) -> None:
    """r ≥ lower (up to rounding); None promises nothing."""
    if r.lower is not None:
        for _, xs in cases(r):
            for x in xs:
                demand(r.value(x) >= r.lower - 1e-12 * (1 + abs(r.r1(x))), "the value is below `lower`")


LAWS: dict[str, Law] = {
    **profiles.LAWS,
    **kinks.LAWS,
    **prox.LAWS,
    "above-its-bound": above_its_bound,
    "halves-are-convex": halves_are_convex,
    "subgrad-supports-r2": subgrad_supports_r2,
    "subgrad-is-L2-smooth": subgrad_is_L2_smooth,
    "nan-stays": nan_stays,
    "linearize-majorizes": majorizes,
    "one-column-is-scalar": one_column_is_scalar,
    "lam-has-its-limits": lam_has_its_limits,
    "input-is-kept": input_is_kept,
    "minus-zero-is-zero": minus_zero_is_zero,
}
