"""The multinomial logistic loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from ..xp import Array, namespace
from .base import Loss

_FEW = 16  # The largest number of classes for which reductions go class by class.


@dataclass(frozen=True)
class Softmax(Loss):
    """ϕ(z) = log Σⱼ exp(zⱼ) − z_label

    z is (..., c) and labels (...), integers in 0..c−1; value (...), slope (..., c), bend (...).
    The Hessian is diag(p) − ppᵀ with eigenvalues in [0, 1/2] for every c ≥ 2; 1/2 at p = (1/2, 1/2, 0, ...).
    """

    labels = "class"
    wide = True
    steepest = math.sqrt(2)  # ‖p − e_label‖, where p is at another class

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 0.5

    def value(self, z: Array, labels: Array) -> Array:
        xp = namespace(z)
        z = z - _over(xp.maximum, xp.max, z)
        own = _over(add, xp.sum, xp.where(_hit(xp, z, labels), z, xp.zeros_like(z)))
        return (xp.log(_over(add, xp.sum, xp.exp(z))) - own)[..., 0]

    def slope(self, z: Array, labels: Array) -> Array:
        xp = namespace(z)
        p = _probabilities(xp, z)
        return xp.where(_hit(xp, z, labels), p - 1.0, p)

    def both(self, z: Array, labels: Array) -> tuple[Array, Array]:
        xp = namespace(z)
        z = z - _over(xp.maximum, xp.max, z)
        e, hit = xp.exp(z), _hit(xp, z, labels)
        total, own = _over(add, xp.sum, e), _over(add, xp.sum, xp.where(hit, z, xp.zeros_like(z)))
        p = e / total
        return (xp.log(total) - own)[..., 0], xp.where(hit, p - 1.0, p)

    def bend(self, z: Array, labels: Array) -> Array:
        """q · min(1, 2(1 − q)), q = maxⱼ pⱼ: above the largest eigenvalue λ of diag(p) − ppᵀ, and at most 2λ.

        λ ≤ q since ppᵀ ≥ 0; λ ≤ maxⱼ 2pⱼ(1 − pⱼ) = 2q(1 − q) by Gershgorin; λ ≥ q(1 − q) on a basis vector.
        Equal to λ for c = 2.
        """
        xp = namespace(z)
        q = _over(xp.maximum, xp.max, _probabilities(xp, z))[..., 0]
        return q * xp.clip(2.0 * (1.0 - q), 0.0, 1.0)

    def chances(self, z: Array) -> Array:
        """p, one number for every class"""
        return _probabilities(namespace(z), z)

    def crosses(self, z: Array) -> Iterator[tuple[int, int, Array]]:
        """i, j and ∂²ϕ/∂zᵢ∂zⱼ = pᵢ ([i = j] − pⱼ) for j ≤ i < c − 1: with the last class each row of it sums to 0"""
        p = self.chances(z)
        for i in range(p.shape[-1] - 1):
            for j in range(i + 1):
                yield i, j, p[..., i] * ((i == j) - p[..., j])


def _over(two: Callable[..., Array], all_of: Callable[..., Array], z: Array) -> Array:
    """A reduction over all classes of z that keeps the axis. For few classes it goes class by class, which is up to
    sixteen times as fast as a reduction along a short last axis
    """
    if z.shape[-1] > _FEW:
        return all_of(z, axis=-1, keepdims=True)
    return reduce(two, (z[..., j : j + 1] for j in range(z.shape[-1])))


def _probabilities(xp: Array, z: Array) -> Array:
    """pⱼ = exp(zⱼ) / Σ exp(z): shifted by the largest, so that nothing overflows"""
    e = xp.exp(z - _over(xp.maximum, xp.max, z))
    return e / _over(add, xp.sum, e)


def _hit(xp: Array, z: Array, labels: Array) -> Array:
    """[j = label], ready to broadcast against z"""
    where = {} if xp is np else {"device": z.device}
    labels = xp.asarray(labels)
    return labels[..., None] == xp.arange(z.shape[-1], dtype=labels.dtype, **where)
