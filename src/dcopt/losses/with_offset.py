"""A loss whose score has a known part in every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..xp import Array
from .base import Loss


@dataclass(frozen=True)
class WithOffset(Loss):
    """ϕ(z + o, y): a label is the pair (y, o), so that labels are (N, 2), and the score of row i is ⟨a_i, x⟩ + o_i

    The logarithm of an exposure is an offset of a loss with a log link. The offset is a part of the label, so that
    sums, batches and methods know nothing of it.
    """

    of: Loss

    labels = "real"

    @property
    def curvature(self) -> tuple[float, float]:
        return self.of.curvature

    @property
    def lower(self) -> float | None:  # type: ignore[override]
        return self.of.lower

    @property
    def steepest(self) -> float:  # type: ignore[override]
        return self.of.steepest

    def value(self, z: Array, labels: Array) -> Array:
        return self.of.value(z + labels[..., 1], labels[..., 0])

    def slope(self, z: Array, labels: Array) -> Array:
        return self.of.slope(z + labels[..., 1], labels[..., 0])

    def bend(self, z: Array, labels: Array) -> Array:
        return self.of.bend(z + labels[..., 1], labels[..., 0])

    def both(self, z: Array, labels: Array) -> tuple[Array, Array]:
        return self.of.both(z + labels[..., 1], labels[..., 0])

    def mean(self, z: Array) -> Array:
        return self.of.mean(z)

    def centre(self, labels: Array, weights: Array) -> float:
        """That of the loss without offsets, less their mean"""
        if self.of.labels == "binary":
            return 0.0
        return float(self.of.centre(labels[:, 0], weights)) - float(np.average(labels[:, 1], weights=weights))
