"""The laws of a loss: each takes the loss and raises LawBroken. Nothing is random, so a verdict repeats."""

from __future__ import annotations

import numpy as np

from ..losses.base import Loss
from ..losses.logistic import Logistic
from ..losses.softmax import Softmax
from .base import Law, demand
from .lines import GRID, everywhere, hessian, lines, misses, pairs, rows, scores

EPS = float(np.finfo(np.float64).eps)
RANGES = ((np.float64, 1e6), (np.float32, 1e4))


def slope_is_derivative(loss: Loss) -> None:
    """slope = dϕ/dz"""
    for line in lines(loss):
        ok = misses(line.value, line.slope, GRID) <= 1e-6 * (1.0 + np.abs(line.slope(GRID)))
        everywhere(ok, GRID, f"slope is not the derivative of value ({line.name})")


def bend_is_derivative(loss: Loss) -> None:
    """bend = d²ϕ/dz² but at kinks of the slope; of c scores: λ_max(Hessian) ≤ bend ≤ curvature"""
    if loss.wide:
        for z, labels in scores(loss.labels == "real"):
            top = np.linalg.eigvalsh(hessian(loss, z, labels))[:, -1]
            bend = loss.bend(z, labels)
            demand(bool(np.all(bend >= top - 1e-7)), "bend is below the largest eigenvalue of the Hessian")
            demand(bool(np.all(bend <= loss.curvature[1] + 1e-9)), "bend is above the curvature")
        return
    for line in lines(loss):
        size = max(map(abs, loss.curvature)) if loss.bounded else np.abs(line.bend(GRID))
        ok = misses(line.slope, line.bend, GRID) <= 1e-5 * (1.0 + size)
        everywhere(ok, GRID, f"bend is not the derivative of slope ({line.name})", share=0.02)


def curvature_bounds_slopes(loss: Loss) -> None:
    """lo (a − b) ≤ slope(a) − slope(b) ≤ hi (a − b) for a > b, up to rounding; hi may be infinite"""
    lo, hi = loss.curvature
    demand(-np.inf < lo <= hi, f"curvature = {loss.curvature} is not a range with a finite lower end")
    top = max(abs(lo), abs(hi)) if loss.bounded else 0.0
    for line in lines(loss):
        for b, a in pairs():
            sa, sb = line.slope(a), line.slope(b)
            rounding = np.abs(sa) + np.abs(sb) + (top + 1e-3) * (1.0 + np.abs(a) + np.abs(b))
            slack = 1e-9 * top * (a - b) + 64 * EPS * rounding
            everywhere(sa - sb <= hi * (a - b) + slack, a, f"ϕ'' exceeds curvature {hi:.6g} ({line.name})")
            everywhere(sa - sb >= lo * (a - b) - slack, a, f"ϕ'' is below curvature {lo:.6g} ({line.name})")


def curvature_is_tight(loss: Loss) -> None:
    """both ends of curvature are met within 2 %; one that is infinite, by a ϕ'' above 1e9 for some label"""
    lo, hi = loss.curvature
    if not loss.bounded:
        far = [loss.bend(np.linspace(-35.0, 35.0, 141), np.full(141, y)) for y in (1.0, 1e11)]
        demand(max(float(np.max(bend)) for bend in far) >= 1e9, "curvature is bounded, and is said to be infinite")
        least = min(float(np.min(bend)) for bend in far)
        demand(lo <= least <= lo + 1e-9, f"curvature {lo:.6g} is loose: {least:.6g} is the furthest seen")
        return
    seen = [(line.slope(a) - line.slope(b)) / (a - b) for line in lines(loss) for b, a in pairs()]
    if loss.wide:
        numbers = loss.labels == "real"
        seen += [np.linalg.eigvalsh(hessian(loss, z, labels)).ravel() for z, labels in scores(numbers)]
    least, most = min(float(np.min(q)) for q in seen), max(float(np.max(q)) for q in seen)
    for end, off, met in ((hi, hi - most, most), (lo, least - lo, least)):
        room = 0.02 * (abs(end) or max(abs(lo), abs(hi))) + 1e-9
        demand(off <= room, f"curvature {end:.6g} is loose: {met:.6g} is the furthest seen")


def steepest_is_tight(loss: Loss) -> None:
    """|slope| ≤ steepest, and it is met within 5 % where it is finite"""
    fine = np.linspace(-8.0, 8.0, 16001)
    fine = np.concatenate([fine, 12.5 * fine])  # Some losses are steep in a narrow place, some far out.
    lengths = [np.abs(line.slope(fine)) for line in lines(loss)]
    if loss.labels == "class":
        lengths = [np.linalg.norm(loss.slope(far * z, labels), axis=-1) for z, labels in scores() for far in (1.0, 1e3)]
    most = max(float(np.max(length)) for length in lengths)
    demand(most <= loss.steepest * (1.0 + 1e-9), f"steepest = {loss.steepest:.6g} is exceeded: {most:.6g}")
    tight = not np.isfinite(loss.steepest) or most >= 0.95 * loss.steepest
    demand(tight, f"steepest = {loss.steepest:.6g} is loose: {most:.6g} is the most seen")


def finite_when_huge(loss: Loss) -> None:
    """finite, without a floating-point fault, in the type that came: |z| ≤ 1e6 (float64), 1e4 (float32)"""
    for dtype, top in RANGES:
        far = np.geomspace(1e-30, top, 200)
        t = np.concatenate([-far, [0.0], far]).astype(dtype)
        for line in lines(loss):
            for name in ("value", "slope", "bend"):
                try:
                    with np.errstate(over="raise", invalid="raise", divide="raise"):
                        out = getattr(line, name)(t)
                except FloatingPointError as why:
                    demand(False, f"{name}: {why} in {t.dtype} ({line.name})")
                everywhere(np.isfinite(out), t, f"{name} is not finite in {t.dtype} ({line.name})")
                demand(out.dtype == t.dtype, f"{name} turns {t.dtype} into {out.dtype}")


def asymptote_is_right(loss: Loss) -> None:
    """ϕ(2a) − ϕ(a) = ∫ϕ′ far out; |ϕ(z) − ϕ(0) − ϕ′(0)z| ≤ sup|ϕ″| z²/2; float32 is float64 rounded"""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    top = max(map(abs, loss.curvature))
    for line in lines(loss):
        for a in (-5e5, -1e5, -1e4, 1e4, 1e5, 5e5):
            va, vb = line.value(np.array([a, 2 * a]))
            area = a / 2 * line.slope(a * (1.5 + nodes / 2)) @ weights
            ok = abs(vb - va - area) <= 1e-9 * (1.0 + abs(va) + abs(vb))
            where = f"from z = {a:g} to {2 * a:g} ({line.name})"
            demand(bool(ok), f"value rises by {vb - va:.6g}, slope says {area:.6g} {where}")
        t = np.concatenate([GRID, 1e3 * GRID, 1e4 * GRID])
        zero = np.zeros(1)
        rest = np.abs(line.value(t) - line.value(zero) - line.slope(zero) * t)
        most = (1 + 1e-9) * top / 2 * t**2 + 1e-9 * (1.0 + np.abs(t)) if loss.bounded else np.inf
        everywhere(rest <= most, t, f"value outgrows the curvature ({line.name})")
        short = (1e2 * GRID).astype(np.float32)
        t = short.astype(np.float64)
        moved = np.abs(t) if loss.labels == "class" else np.abs(t * line.slope(t))  # rounding of z itself
        for f in (line.value, line.slope):
            slack = 2e-6 * (1.0 + np.abs(f(t)) + moved)
            everywhere(np.abs(f(short) - f(t)) <= slack, t, f"float32 is not float64 rounded ({line.name})")


def nan_in_nan_out(loss: Loss) -> None:
    """a NaN score or label makes its own row NaN, and no other"""
    z, labels = rows(loss)
    cases = []
    for j in range(3) if loss.wide else (...,):
        sick = z.copy()
        sick[2, j] = np.nan
        cases.append((sick, labels))
    if loss.labels != "class":
        sick = labels.copy()
        sick[2] = np.nan
        cases.append((z, sick))
    for f in (loss.value, loss.slope, loss.bend):
        clean = f(z, labels)
        for case in cases:
            out = f(*case)
            apart = loss.wide and loss.labels == "real"  # The slopes of several numbers do not see each other.
            lost = np.isnan(out[2])
            demand(bool(np.any(lost) if apart else np.all(lost)), f"{f.__name__} swallows a NaN: {out[2]}")
            others = np.array_equal(np.delete(out, 2, 0), np.delete(clean, 2, 0))
            demand(others, f"{f.__name__} spreads a NaN to other rows")


def batch_is_one_by_one(loss: Loss) -> None:
    """rows do not see each other, nor do columns (m, k) with labels (m, 1); the input is not written to"""
    z, labels = rows(loss)
    kept = z.copy(), labels.copy()
    for f in (loss.value, loss.slope, loss.bend):
        out = f(z, labels)
        shape = z.shape if f.__name__ == "slope" or not loss.wide else z.shape[:-1]
        demand(out.shape == shape, f"{f.__name__} has shape {out.shape}: expected {shape}")
        ones = np.concatenate([f(z[i : i + 1], labels[i : i + 1]) for i in range(len(z))])
        same = np.allclose(out, ones, rtol=1e-13, atol=1e-15)
        demand(same, f"{f.__name__} of a batch is not that of its rows")
        if not loss.wide:
            both = f(np.stack([z, -2 * z], axis=1), labels[:, None])
            each = np.stack([out, f(-2 * z, labels)], axis=1)
            same = both.shape == each.shape and np.allclose(both, each, rtol=1e-13, atol=1e-15)
            demand(same, f"{f.__name__} of two points at once is not that of each")
    same = np.array_equal(z, kept[0]) and np.array_equal(labels, kept[1])
    demand(same, "the input was written to")


def both_is_value_and_slope(loss: Loss) -> None:
    """`both` has the bits of `value` and `slope`, also where scores are huge, infinite or NaN"""
    z, labels = rows(loss)
    for scale in (1.0, 1e3, np.inf, np.nan):
        with np.errstate(all="ignore"):
            far = np.where(z == 0.0, 0.0, z * scale)
            pairs = zip(loss.both(far, labels), (loss.value(far, labels), loss.slope(far, labels)), strict=True)
            for name, (one, other) in zip(("value", "slope"), pairs, strict=True):
                demand(np.array_equal(one, other, equal_nan=True), f"both gives another {name} at {scale:g} times z")


def classes_are_shift_invariant(loss: Loss) -> None:
    """ϕ(z + 1e5) = ϕ(z): only differences of scores count"""
    if loss.labels != "class":
        return
    for z, labels in scores():
        z = np.round(z * 1024) / 1024  # so that z + 1e5 is exact, and the shift is all that differs
        for f in (loss.value, loss.slope, loss.bend):
            off = np.max(np.abs(f(z + 1e5, labels) - f(z, labels)))
            demand(bool(off <= 1e-12), f"{f.__name__} moves by {off:.3g} when 1e5 is added to all scores")


def two_classes_are_logistic(loss: Loss) -> None:
    """softmax of two scores = logistic of their difference: slope (−s, s), largest eigenvalue 2ϕ″"""
    if not isinstance(loss, Softmax):
        return
    z = np.stack([np.repeat(GRID, 2), np.repeat(GRID[::-1] / 3, 2)], axis=1)
    labels = np.tile([0, 1], len(GRID))
    d, y = z[:, 1] - z[:, 0], 2.0 * labels - 1.0
    s = Logistic().slope(d, y)
    want = Logistic().value(d, y), np.stack([-s, s], axis=1), 2 * Logistic().bend(d, y)
    for f, expected in zip((loss.value, loss.slope, loss.bend), want, strict=True):
        off = np.max(np.abs(f(z, labels) - expected) / (1.0 + np.abs(expected)))
        demand(bool(off <= 1e-12), f"{f.__name__} of two classes is not logistic: off by {off:.3g}")


def above_its_bound(loss: Loss) -> None:
    """ϕ ≥ lower, on a grid (up to rounding); None promises nothing."""
    if loss.lower is not None:
        for line in lines(loss):
            everywhere(line.value(GRID) >= loss.lower - 1e-12, GRID, "the value is below `lower`")


LAWS: dict[str, Law] = {
    "above-its-bound": above_its_bound,
    "slope-is-derivative": slope_is_derivative,
    "bend-is-derivative": bend_is_derivative,
    "curvature-bounds-slopes": curvature_bounds_slopes,
    "curvature-is-tight": curvature_is_tight,
    "steepest-is-tight": steepest_is_tight,
    "finite-when-huge": finite_when_huge,
    "asymptote-is-right": asymptote_is_right,
    "nan-in-nan-out": nan_in_nan_out,
    "batch-is-one-by-one": batch_is_one_by_one,
    "both-is-value-and-slope": both_is_value_and_slope,
    "classes-are-shift-invariant": classes_are_shift_invariant,
    "two-classes-are-logistic": two_classes_are_logistic,
}
