"""Constants of a sum of which nothing is known, by Lanczos on products with Hessians at x0 and at points near it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..draw import Draw, Sampling
from ..errors import BadSettings
from ..xp import Array
from .base import Around
from .protocol import Batch, Facts, Sum

Vector: TypeAlias = NDArray[np.float64]
_BATCH, _COMPONENTS = 4096, 128  # components that stand for the mean, and components that are seen one by one, at most
_STEPS = 12  # products with the Hessian in one Lanczos run, at most: it has the ends of the spectrum to some per cent


class Range(NamedTuple):
    """The least and the largest value of a constant over the points."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True, eq=False)
class EstimatedSum(Around):
    """The same sum with facts that were estimated: nothing is proven of them, and `how` says so."""

    of: Sum
    Lbar: Range  # largest curvature of the mean
    least: Range  # its least curvature; negative where the mean is not convex
    L: Range  # mean-squared smoothness of the components
    L_v: Range  # variance smoothness
    gradients: int  # component gradients that it took
    points: int

    @property
    def how(self) -> str:
        return f"estimated by Lanczos at {self.points} points, not proven"

    def __str__(self) -> str:
        named = (("L̄", self.Lbar), ("least curvature", self.least), ("L", self.L), ("L_v", self.L_v))
        said = ", ".join(f"{name} {value}" for name, value in named)
        return f"{said}: {self.how}, {self.gradients} component gradients"

    def facts(self) -> Facts:
        """The largest values seen. What is known of rows is left out, so that nothing else is taken for these."""
        known = self.of.facts()
        L_H = max(self.Lbar.high, -self.least.low)
        return Facts(
            lower=known.lower, rho=known.rho, L_H=L_H, L=max(self.L.high, L_H), L_v=self.L_v.high, how=self.how,
            known_convex=known.known_convex, tables=known.tables,
        )  # fmt: skip

    def all(self) -> Batch:
        return self.of.all()

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Batch:
        return self.of.sample(b, draw, sampling)


class Curvatures:
    """Curvatures of a sum at a point, with a count of the component gradients that they took."""

    def __init__(self, f: Sum, seed: int) -> None:
        self.f, self.gradients, self._products = f, 0, True
        n = math.inf if f.n is None else f.n
        self.mean = f.all() if n <= _BATCH else f.sample(_BATCH, Draw(seed, 0))
        some = int(min(n, _COMPONENTS))
        self.each = [f.sample(1, Draw(seed, t + 1), "iid") for t in range(some)]
        self._start = np.random.Generator(np.random.Philox(seed)).standard_normal(math.prod(f.shape))

    def gradient(self, x: Array) -> Vector:
        self.gradients += self.mean.size
        return np.asarray(self.mean.grad(x), np.float64)

    def at(self, x: Array) -> tuple[float, float, float, float]:
        """L̄, the least curvature, L and L_v"""
        ends = lanczos(lambda v: self._product(self.mean, x, v), self._start)
        squares = lanczos(lambda v: self._squared(x, v, centred=False), self._start)
        spread = lanczos(lambda v: self._squared(x, v, centred=True), self._start)
        return ends[1], ends[0], math.sqrt(max(squares[1], 0.0)), math.sqrt(max(spread[1], 0.0))

    def _product(self, batch: Batch, x: Array, v: Vector) -> Vector:
        """∇²f_B(x) v, from the batch if it knows it, else from two gradients"""
        self.gradients += 2 * batch.size
        known: Callable[..., Any] | None = getattr(batch, "hess_dot", None) if self._products else None
        direction = v.reshape(x.shape)
        if known is not None:
            try:
                return np.asarray(known(x, direction.astype(x.dtype)), np.float64).ravel()
            except BadSettings:  # The sum has gradients that were given, and no derivative of these.
                self._products = False
        size, eps = float(np.linalg.norm(v)), float(np.finfo(x.dtype).eps)
        if size == 0.0:
            return np.zeros_like(v)
        # The cube root of ε balances rounding against the third derivative in a central difference.
        h = eps ** (1.0 / 3.0) * max(1.0, float(np.linalg.norm(x))) / size
        ahead, behind = ((x + s * h * direction).astype(x.dtype) for s in (1.0, -1.0))
        return np.asarray((batch.grad(ahead) - batch.grad(behind)) / (2.0 * h), np.float64).ravel()

    def _squared(self, x: Array, v: Vector, centred: bool) -> Vector:
        """(1/m) Σ H_i² v, minus H̄² v where `centred`, H̄ = (1/m) Σ H_i over the same components"""
        m = len(self.each)
        products = np.array([self._product(batch, x, v) for batch in self.each])
        mean = products.mean(axis=0)
        if centred:
            products = products - mean
        twice = np.array([self._product(batch, x, p) for batch, p in zip(self.each, products, strict=True)])
        out: Vector = twice.mean(axis=0)
        return out * (m / max(m - 1, 1)) if centred else out  # H̄ would be applied to a mean that is 0.


def lanczos(times: Callable[[Vector], Vector], start: Vector) -> tuple[float, float]:
    """The least and the largest eigenvalue of a symmetric map, from inside."""
    basis: list[Vector] = [start / np.linalg.norm(start)]
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(_STEPS, len(start))):
        w = times(basis[-1])
        diagonal.append(float(basis[-1] @ w))
        for _ in range(2):  # Twice is enough to keep the basis orthogonal.
            for q in basis:
                w = w - (q @ w) * q
        left = float(np.linalg.norm(w))
        if not left > 1e-8 * max(map(abs, diagonal)):
            break
        beside.append(left)
        basis.append(w / left)
    k = len(diagonal)
    T = np.diag(diagonal) + np.diag(beside[: k - 1], 1) + np.diag(beside[: k - 1], -1)
    values = np.linalg.eigvalsh(T)
    return float(values[0]), float(values[-1])


def estimated(f: Sum, x0: Array, seed: int, near: int) -> EstimatedSum:
    """L̄, the least curvature, L and L_v at x0, at the end of a step of length ‖∇f‖/L̄ from there, and beside it."""
    of = Curvatures(f, seed)
    points: list[Array] = [x0]
    seen = [of.at(x0)]
    g = of.gradient(x0)
    length = float(np.linalg.norm(g)) / max(seen[0][0], -seen[0][1], float(np.finfo(np.float64).tiny))
    draw = np.random.Generator(np.random.Philox([seed, 1]))
    for k in range(near):
        d = -g if k == 0 else draw.standard_normal(x0.shape)
        size = float(np.linalg.norm(d))
        points.append((x0 + (length / size if size > 0.0 else 0.0) * d).astype(x0.dtype))
        seen.append(of.at(points[-1]))
    Lbar, least, L, L_v = (Range(min(v), max(v)) for v in zip(*seen, strict=True))
    return EstimatedSum(f, Lbar, least, L, L_v, of.gradients, len(points))
