"""Φ(x, ζ) over samples that are seen once: every batch is fresh, and a held-out sample stands for the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..data.block_stream import BlockStream
from ..draw import Draw, Sampling
from ..xp import Array
from .components import ComponentBatch, Components
from .protocol import Facts
from .stream import StreamBase

_GROUPS = 32  # Groups of held-out samples whose mean gradients tell the deviation of one gradient.


@dataclass(eq=False, repr=False)
class ComponentStream(StreamBase):
    """f(x) = E fn(x, ζ) over samples ζ that come and go. Not frozen: a stream has a position.

    `holdout` was taken first and is never drawn from: F and the measures are estimated on it.
    """

    stream: BlockStream
    holdout: Components

    def __repr__(self) -> str:
        return f"ComponentStream({self.holdout!r} held out)"

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> ComponentBatch:
        """The next b samples, as the whole of a sum of their own: both points of a correction see the same ones."""
        return self.holdout.over(self.stream.take(int(b))).all()

    def facts(self) -> Facts:
        return self.holdout.facts()

    def spread(self, x: Array) -> float:
        """σ̂(x), σ̂² = (1/(K−1)) Σ m_k ‖g_k − ḡ‖², g_k the mean gradient of the k-th of K groups of held-out samples.

        Its mean is σ², because a mean of m_k gradients has the variance σ²/m_k.
        """
        f, groups = self.holdout, min(_GROUPS, self.holdout.n)
        if groups < 2:
            return math.inf
        ends = np.linspace(0, f.n, groups + 1).astype(int)
        sizes = np.diff(ends)
        g = np.stack([f.take(np.arange(*ends[k : k + 2])).all().grad(x).ravel() for k in range(groups)])
        mean = sizes @ g / f.n
        return math.sqrt(float(sizes @ np.sum((g - mean) ** 2, axis=1)) / (groups - 1))

    def notes(self) -> tuple[str, ...]:
        return self.holdout.notes()

    def ravel(self, tree: object) -> Array:
        """x, one vector, from parameters in the structure of `like`"""
        return self.holdout.ravel(tree)

    def unravel(self, x: Array) -> object:
        """The parameters in the structure of `like`, as NumPy arrays"""
        return self.holdout.unravel(x)


