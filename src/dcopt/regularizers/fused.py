"""Penalties of the differences of neighbours: total variation, the fused lasso, and their concave versions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import require
from ..xp import Array, namespace
from .base import AboveZero, settle, total
from .l1 import L1
from .profiled import Profiled
from .units import ENTRIES, like


@dataclass(frozen=True)
class Fused(AboveZero):
    """r(x) = Σ_j w_j ψ(|x_{j+1} − x_j|) + l1 ‖x‖₁: r₁ = Σ_j w_j ψ'(0) |x_{j+1} − x_j| + l1 ‖x‖₁, r₂ = r₁ − r.

    differences: a penalty by entries, for ψ and one weight w_j for each of the d − 1 differences; a number λ stands for
    L1(λ), total variation. The columns of x (d, c) are chains by themselves. The prox of r₁ is exact in O(d), and so is
    the distance to ∂r₁: it is the norm of the prox of the part of r₁ that has a kink at x.
    """

    differences: Profiled
    l1: float = 0.0
    homogeneous: ClassVar[bool] = True  # r₁(tx) = t r₁(x) for t > 0

    def __post_init__(self) -> None:
        given: Any = self.differences
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            object.__setattr__(self, "differences", given := L1(given))
        good = isinstance(given, Profiled) and given.groups is None
        expected = "a number λ ≥ 0, or a penalty by entries such as dcopt.regularizers.MCP(lam=0.1)"
        require(good, "differences", given, expected)
        settle(self, "l1", 0.0)

    @property
    def L2(self) -> float | None:
        """‖D‖² L_ψ with ‖D‖² ≤ 4, (Dx)_j = x_{j+1} − x_j"""
        L = self.differences.L2
        return None if L is None else 4.0 * L

    @property
    def shape(self) -> tuple[int, ...] | None:
        wants = self.differences.shape
        return None if wants is None else (wants[0] + 1,)

    def value(self, x: Array) -> float:
        return self.differences.value(_differences(x)) + self.l1 * total(namespace(x).abs(x))

    def r1(self, x: Array) -> float:
        return self.differences.r1(_differences(x)) + self.l1 * total(namespace(x).abs(x))

    def subgrad(self, x: Array) -> Array:
        """Dᵀ w, w of ψ at Dx"""
        w = self.differences.subgrad(_differences(x))
        xp, none = namespace(x), 0.0 * x[:1, ...]
        return xp.concat([none, w]) - xp.concat([w, none])

    def prox(self, v: Array, step: Any) -> Array:
        c, l = self._slopes(v.shape)
        one = np.asarray(1.0 / np.asarray(step, np.float64))
        one = one[:, None] if one.ndim == 1 and v.ndim == 2 and len(one) == len(v) else one
        return like(_shrink(np.asarray(v, np.float64), np.broadcast_to(one, v.shape), c, l), v)

    def distance(self, u: Array, x: Array) -> float:
        """min ‖u − Dᵀz − l1 s‖ over z_j = c_j sign(x_{j+1} − x_j), |z_j| ≤ c_j where that is 0, and such an s of x.

        With the fixed z_j and s_i subtracted from u this is the projection of u on the subdifferential, at 0, of the
        rest of r₁, and what it leaves of u is the prox of the rest (Moreau).
        """
        at, (c, l) = np.asarray(x, np.float64), self._slopes(x.shape)
        gap = np.diff(at, axis=0)
        z = c * np.sign(gap)
        left = np.asarray(u, np.float64) - l * np.sign(at)
        left[:-1] += z
        left[1:] -= z
        free = _shrink(left, np.ones(x.shape), np.where(gap == 0.0, c, 0.0), np.where(at == 0.0, l, 0.0))
        return float(np.sqrt(np.sum(free * free)))

    def _slopes(self, shape: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """c_j for every difference and l1 for every entry, for x of this shape"""
        gaps, kink = np.zeros((shape[0] - 1, *shape[1:])), self.differences.kink
        return gaps + ENTRIES.fit(kink.c, gaps), np.full(shape, self.l1)


def _differences(x: Array) -> Array:
    return x[1:, ...] - x[:-1, ...]


def _shrink(
    v: NDArray[np.float64], m: NDArray[Any], c: NDArray[np.float64], l: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The program of `chain_kernels.shrink`; a column that holds NaN or infinity becomes NaN."""
    wide = [np.ascontiguousarray(a.reshape(len(a), math.prod(v.shape[1:]))) for a in (v, m, c, l)]
    bad = ~np.isfinite(wide[0]).all(axis=0)
    out = np.empty_like(wide[0])
    _kernel()(np.where(bad, 0.0, wide[0]), *wide[1:], out)
    out[:, bad] = math.nan
    return out.reshape(v.shape)


@cache
def _kernel() -> Any:
    """Imported at first use: the compiler takes longer to import than everything else here."""
    from . import chain_kernels

    chain_kernels.make_ready()
    return chain_kernels.shrink
