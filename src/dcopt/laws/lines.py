"""Where the laws of a loss look: straight lines through its scores, fixed grids and seeded draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..losses.base import Loss
from .base import demand

Vec: TypeAlias = np.ndarray[Any, Any]
_powers = np.geomspace(1e-6, 1e2, 60)
GRID: Vec = np.sort(np.concatenate([np.linspace(-8.0, 8.0, 397), _powers, -_powers, [0.0]]))
STEPS = (1e-3, 1e-4, 1e-5, 1e-6)  # one must agree: bends spoil the long, rounding spoils the short


class Line(NamedTuple):
    """The loss of one row along z(t), a straight line of unit speed: (m,) -> (m,), whatever the labels."""

    name: str
    value: Callable[[Vec], Vec]
    slope: Callable[[Vec], Vec]
    bend: Callable[[Vec], Vec]


def lines(loss: Loss) -> list[Line]:
    """z = t for a scalar loss; z = start + t·way for a loss of c scores."""
    real = {"any": (0.0, 0.7), "nonnegative": (0.0, 0.7, 3.0), "positive": (0.7, 3.0)}[loss.domain]
    kinds: dict[str, tuple[float, ...]] = {"binary": (-1.0, 1.0), "real": real, "class": ()}
    demand(loss.labels in kinds, f"labels = {loss.labels!r}: expected 'binary', 'class' or 'real'")
    if loss.wide:
        return [_along(loss, *way) for way in _ways()]
    return [_straight(loss, y) for y in kinds[loss.labels]]


def _straight(loss: Loss, y: float) -> Line:
    def at(f: Callable[[Vec, Vec], Vec]) -> Callable[[Vec], Vec]:
        return lambda t: f(t, np.full_like(t, y))

    return Line(f"label {y:g}", at(loss.value), at(loss.slope), at(loss.bend))


def _along(loss: Loss, start: Vec, way: Vec, label: int) -> Line:
    targets = np.arange(len(way)) - 0.5 * label  # of a loss of several numbers

    def at(f: Callable[[Vec, Vec], Vec]) -> Callable[[Vec], Vec]:
        def along(t: Vec) -> Vec:
            z = start.astype(t.dtype) + t[:, None] * way.astype(t.dtype)
            one = (
                np.full(t.shape, label) if loss.labels == "class" else np.broadcast_to(targets.astype(t.dtype), z.shape)
            )
            return f(z, one)

        return along

    full = at(loss.slope)
    name = f"{len(way)} classes, label {label}"
    return Line(name, at(loss.value), lambda t: np.sum(full(t) * way.astype(t.dtype), axis=-1), at(loss.bend))


def _ways() -> Iterator[tuple[Vec, Vec, int]]:
    """Axes and random lines; two equal scores far above the rest (most curvature); all ones (none)."""
    draw = np.random.default_rng(0)
    for c in (2, 3, 5):
        pair = np.where(np.arange(c) < 2, 0.0, -40.0)
        cases = [(draw.normal(size=c), axis) for axis in np.eye(c)]
        cases += [(draw.normal(size=c), draw.normal(size=c)) for _ in range(3)]
        cases += [(pair, np.eye(c)[0] - np.eye(c)[1]), (pair, np.ones(c))]
        for start, way in cases:
            yield start, way / np.linalg.norm(way), int(draw.integers(c))


def scores(numbers: bool = False) -> Iterator[tuple[Vec, Vec]]:
    """Scores (m, c), with classes or c numbers: random, two equal far above the rest, all equal, one far above."""
    draw = np.random.default_rng(1)
    for c in (2, 3, 5):
        pair = np.where(np.arange(c) < 2, 0.0, -40.0)
        free = draw.normal(size=(40, c)) * draw.choice([0.1, 1.0, 5.0], (40, 1))
        z = np.concatenate([free, [pair, np.zeros(c), 30.0 * np.eye(c)[0]]])
        yield z, draw.normal(size=z.shape) if numbers else draw.integers(c, size=len(z))


def rows(loss: Loss) -> tuple[Vec, Vec]:
    """Seven rows with labels, as the kind of labels wants them; three scores per row for classes."""
    draw = np.random.default_rng(3)
    if loss.wide:
        z = 3.0 * draw.normal(size=(7, 3))
        return z, draw.integers(3, size=7) if loss.labels == "class" else draw.normal(size=(7, 3))
    y = draw.normal(size=7)
    y = np.sign(y) if loss.labels == "binary" else y if loss.domain == "any" else np.abs(y)
    return 3.0 * draw.normal(size=7), y


def hessian(loss: Loss, z: Vec, labels: Vec) -> Vec:
    """(m, c, c), by central differences of the slope, made symmetric."""
    h = 1e-4
    ups = [loss.slope(z + h * d, labels) - loss.slope(z - h * d, labels) for d in np.eye(z.shape[-1])]
    H = np.stack(ups, axis=-1) / (2 * h)
    return np.asarray((H + np.swapaxes(H, -1, -2)) / 2)


def pairs() -> Iterator[tuple[Vec, Vec]]:
    """b < a: neighbours on grids of size 1e-2 to 1e4, and random pairs from 1e-6 to 1e6."""
    for k in range(-3, 4):
        grid = 10.0**k * np.linspace(-10.0, 10.0, 4001)
        yield grid[:-1], grid[1:]
    draw = np.random.default_rng(2)
    size = 10.0 ** draw.uniform(-6.0, 6.0, size=4000)
    low, high = np.sort(draw.uniform(-1.0, 1.0, size=(2, 4000)) * size, axis=0)
    yield low, high


def everywhere(ok: Vec, t: Vec, what: str, share: float = 0.0) -> None:
    """All but a share of the points; the message shows the first that is wrong."""
    bad = ~np.asarray(ok)
    demand(bool(np.mean(bad) <= share), f"{what} at z = {t[bad][0] if bad.any() else 0.0:.6g}")


def misses(f: Callable[[Vec], Vec], df: Callable[[Vec], Vec], t: Vec) -> Vec:
    """|df − central difference of f|, the best over the steps; inf where it is NaN."""
    want = df(t)
    wrong = [np.abs((f(t + h) - f(t - h)) / ((t + h) - (t - h)) - want) for h in STEPS]
    return np.asarray(np.min(np.where(np.isnan(wrong), np.inf, wrong), axis=0))
