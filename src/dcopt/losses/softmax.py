"""The multinomial logistic loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..xp import Array, namespace
from .base import Loss


@dataclass(frozen=True)
class Softmax(Loss):
    """ϕ(z) = log Σⱼ exp(zⱼ) − z_label

    z is (..., c) and labels (...), integers in 0..c−1; value (...), slope (..., c), bend (...).
    The Hessian is diag(p) − ppᵀ with eigenvalues in [0, 1/2] for every c ≥ 2; 1/2 at p = (1/2, 1/2, 0, ...).
    """

    labels = "class"

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 0.5

    def value(self, z: Array, labels: Array) -> Array:
        xp = namespace(z)
        z = z - xp.max(z, axis=-1, keepdims=True)
        own = xp.sum(xp.where(_hit(xp, z, labels), z, xp.zeros_like(z)), axis=-1)
        return xp.log(xp.sum(xp.exp(z), axis=-1)) - own

    def slope(self, z: Array, labels: Array) -> Array:
        xp = namespace(z)
        p = _probabilities(xp, z)
        return xp.where(_hit(xp, z, labels), p - 1.0, p)

    def both(self, z: Array, labels: Array) -> tuple[Array, Array]:
        xp = namespace(z)
        z = z - xp.max(z, axis=-1, keepdims=True)
        e, hit = xp.exp(z), _hit(xp, z, labels)
        total = xp.sum(e, axis=-1, keepdims=True)
        p = e / total
        own = xp.sum(xp.where(hit, z, xp.zeros_like(z)), axis=-1)
        return xp.log(total[..., 0]) - own, xp.where(hit, p - 1.0, p)

    def bend(self, z: Array, labels: Array) -> Array:
        """q · min(1, 2(1 − q)), q = maxⱼ pⱼ: above the largest eigenvalue λ of diag(p) − ppᵀ, and at most 2λ.

        λ ≤ q since ppᵀ ≥ 0; λ ≤ maxⱼ 2pⱼ(1 − pⱼ) = 2q(1 − q) by Gershgorin; λ ≥ q(1 − q) on a basis vector.
        Equal to λ for c = 2.
        """
        xp = namespace(z)
        q = xp.max(_probabilities(xp, z), axis=-1)
        return q * xp.clip(2.0 * (1.0 - q), 0.0, 1.0)

    def crosses(self, z: Array) -> Iterator[tuple[int, int, Array]]:
        """i, j and ∂²ϕ/∂zᵢ∂zⱼ = pᵢ ([i = j] − pⱼ) for j ≤ i < c − 1: with the last class each row of it sums to 0"""
        p = _probabilities(namespace(z), z)
        for i in range(p.shape[-1] - 1):
            for j in range(i + 1):
                yield i, j, p[..., i] * ((i == j) - p[..., j])


def _probabilities(xp: Array, z: Array) -> Array:
    """pⱼ = exp(zⱼ) / Σ exp(z): shifted by the largest, so that nothing overflows"""
    e = xp.exp(z - xp.max(z, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def _hit(xp: Array, z: Array, labels: Array) -> Array:
    """[j = label], ready to broadcast against z"""
    where = {} if xp is np else {"device": z.device}
    labels = xp.asarray(labels)
    return labels[..., None] == xp.arange(z.shape[-1], dtype=labels.dtype, **where)
