"""The step of a metric that stays for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex
from ..draw import Draw
from ..regularizers import Regularizer
from ..remembered import Seen
from ..sums import Cost
from ..xp import Array
from .base import Inner, Subsolver, finite, nowhere
from .metrics import Matrix, distances
from .parts import Parts, parts

TAUS = 3.0, 9.0  # of epochs: > ½ + sℓ for batches that are large enough, and Q need not majorize f


class Walk(NamedTuple):
    """Where an epoch in the metric τQ ended, after how many steps, and the component gradients that it took."""

    x: Array
    steps: int
    tau: float
    cost: Cost


class Walks(Protocol):
    """An estimator's small steps in a metric that is given for each τ, from a point that was seen."""

    def at(self, draw: Draw) -> Walks:
        """Those of this step."""

    def __call__(self, held: Callable[[float], Subsolver], seen: Seen) -> Iterator[Walk]: ...


@dataclass(frozen=True, eq=False)
class Held:
    """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨y − ∇G(x), v⟩ over some rows of x, the others as they are

    G cancels: y − ∇G(x) = w − g, whatever G is. It is solved to a share of the distance at x, and not certified: who
    holds the metric looks at F in the end.
    """

    Q: Matrix
    columns: NDArray[np.int64]
    own: tuple[Regularizer, Parts]  # r1, where it is the same in every step, and its parts
    share: float

    def scaled(self, tau: float) -> Held:
        """In the metric τQ"""
        return replace(self, Q=replace(self.Q, Q=tau * self.Q.Q, mu=tau * self.Q.mu))

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        p, some = self.own[1] if r is self.own[0] else parts(r, warm.shape), self.columns
        x: NDArray[Any] = np.array(warm, np.float64).reshape(p.c.shape)
        u = np.asarray(y - G.grad(warm), np.float64).reshape(x.shape)[some]
        few, begin = p.at(some), x[some]
        if not finite(u, begin):
            return nowhere(warm)
        off = distances(u, begin, few)
        v = self.Q.program(begin, u, few, self.share * float(np.linalg.norm(off)))
        x[some] = np.clip(v, few.low, few.high)  # rounding must not cross a bound
        return Inner(x.reshape(warm.shape).astype(warm.dtype, copy=False), 0.0, 1)
