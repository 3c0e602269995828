"""The rows that experiments run on: registered data sets, and a synthetic population of any size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..datasets.named import BUNDLED, LIBSVM, load_dataset
from ..errors import DcoptError
from .campaign import Watch

SYNTHETIC = "synthetic"
NAMES = (*LIBSVM, *BUNDLED, SYNTHETIC)
_DIM, _MANY = 20, 2**16  # The size of the synthetic population, unless a recipe sets it.


class Missing:
    """The data sets that cannot be had here, and why; each of them is tried once."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.why, self.instead = watch, dict[str, str](), dict[str, None]()

    def at_hand(self, names: tuple[str, ...], instead: str | None) -> tuple[str, ...]:
        """Those that can be had (this may download them); if none can, the one that always can."""
        found = tuple(name for name in names if self._has(name))
        if found or instead is None:
            return found
        self.instead[instead] = None
        self.watch.note(f"{instead} is used instead of {listed(names)}")
        return (instead,)

    def _has(self, name: str) -> bool:
        if name in self.why:
            return False
        try:
            rows(name)
        except DcoptError as why:
            self.why[name] = str(why)
            self.watch.note(str(why))
        return name not in self.why

    def sentence(self) -> str:
        """For the reader of a report."""
        instead = list(self.instead)
        take = f"{listed(instead)} {'takes its' if len(instead) == 1 else 'take their'} place, and " if instead else ""
        which = "this set" if len(self.why) == 1 else "these sets"
        return (
            f"{listed(list(self.why))} could not be had on this machine: {take}claims about {which} "
            "are not tested here."
        )


def listed(names: Sequence[str]) -> str:
    """a, b and c"""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


@lru_cache(maxsize=2)
def rows(name: str) -> tuple[Any, Any]:
    """(X, y) with rows of length 1."""
    return synthetic(_MANY, _DIM) if name == SYNTHETIC else load_dataset(name, normalize=True)


def synthetic(n: int, dim: int) -> tuple[Any, Any]:
    """a ~ N(0, diag(1, 1/2, …, 1/d)) / ‖·‖, P(y = 1) = σ(⟨a, x*⟩), every second entry of x* is ±8.

    The first rows do not depend on n. float32, so that a million rows are quick to read and measures are still
    thousands of roundings away.
    """
    normal, coins, signs = (np.random.default_rng([0, k]) for k in range(3))
    a = normal.standard_normal((n, dim), np.float32)
    a *= np.arange(1, dim + 1, dtype=np.float32) ** -0.5
    a /= np.sqrt(np.einsum("ij,ij->i", a, a))[:, None]
    planted = np.where(np.arange(dim) % 2 == 0, 8.0 * signs.choice([-1.0, 1.0], dim), 0.0)
    return a, np.where(coins.random(n) < 1.0 / (1.0 + np.exp(-(a @ planted))), 1.0, -1.0)
