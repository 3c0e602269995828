"""Every estimator in the metric of the curvature of f: an epoch of small steps, and a look at F that decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from .convex import LocalCurvature
from .draw import Draw
from .errors import CannotSolve
from .estimators import Estimator, Extrapolated, Full, Revisited
from .loop import dca
from .methods import METHODS, Method, outside, separate
from .problem import Problem
from .remembered import Known, Seen
from .state import State
from .subproblems.base import FREE, Subsolver, finite
from .subproblems.held import TAUS, Walk
from .subproblems.local import Local
from .sums import Cost, LinearSum

_STEPS = 256  # of an epoch, at most: a program costs more than a small batch


@dataclass(frozen=True)
class Epoch:
    """x_{k+1} = argmin_v τ/2 ⟨v − x_k, Q (v − x_k)⟩ + r1(v) − ⟨w_k − g_k, v⟩,   g_k ≈ ∇f(x_k), x_0 = x

    Algorithm 1 in the metric Q = Q_x of the point x where it begins, until a pass of component gradients is spent. An
    estimator that starts with all components has them from the look at F(x). Nothing is promised of x_m: who asked
    for it looks at F there. Draws are a function of (seed, t) of the step that it belongs to.
    """

    P: Problem
    estimator: Estimator
    draw: Draw | None = None

    def at(self, draw: Draw) -> Epoch:
        return replace(self, draw=draw)

    def __call__(self, held: Callable[[float], Subsolver], seen: Seen) -> Iterator[Walk]:
        """From the point that was seen in the metric τQ, for each τ that is worth an epoch."""
        f = self.P.f
        assert self.draw is not None and isinstance(f, LinearSum)
        for k, tau in enumerate(TAUS):
            known = Known(f, seen)
            P, begin = replace(self.P, f=known), State(0, seen.x, None, None, FREE)
            for state in islice(dca(P, self.estimator, held(tau), begin, self.draw.inner(k)), _STEPS):
                spent = Cost(state.spent.gradients - known.served, state.spent.paper - known.served)
                if spent.gradients >= f.n or not finite(state.x):
                    break
            yield Walk(state.x, state.t, tau, spent)


def enough(P: Problem) -> int:
    """⌈√(Nd/2)⌉ rows: s ℓ ≤ 1 for the N/2b′ corrections of an epoch of PAGE's, if ℓ² is not above d by much."""
    assert P.n is not None
    return math.ceil(math.sqrt(P.n * math.prod(P.shape) / 2.0))


def locally(recipe: Method, P: Problem) -> tuple[Method, tuple[str, ...]]:
    """The recipe in the metric of the curvature of f, if that is P's G, and what is to be said of it.

    The full gradient gives `dca-local`. Named recipes take batches of at least `enough` rows; where a few of these are
    all rows, the full gradient. "Quadratic inside" is outside: the quadratic is known exactly.
    """
    if not isinstance(P.G, LocalCurvature) or P.n is None:
        return recipe, ()
    estimator: Any = outside(recipe.estimator(P.n))
    if isinstance(estimator, Revisited):
        return recipe, ()
    separate(P, 'decomposition="local"', 'decomposition="scalar"')
    own_step = recipe.transform is not None or recipe.subsolver is not Method.subsolver
    if own_step or isinstance(estimator, Extrapolated):
        raise CannotSolve(recipe.name, 'its step is not one in a metric that changes (decomposition="local")', "dca")
    if getattr(estimator, "sampling", "") == "cyclic":
        raise CannotSolve(recipe.name, "every epoch would begin with the same rows", 'sampling="iid" or "distinct"')
    if METHODS.get(recipe.name) is recipe:
        estimator = _wide(estimator, enough(P), P.n)
    estimator.check(P.n)
    full = isinstance(estimator, Full)
    how = "the full gradient" if full else f"epochs of {estimator!r}, with a look at F at the end of each"
    said = f"in the metric of f's curvature: {how}"
    made = replace(
        recipe, estimator=lambda n: Revisited(), says=said, stream=None, only_S=True,
        subsolver=lambda P: Local(P, epoch=None if full else Epoch(P, estimator)),
    )  # fmt: skip
    return made, (said,)


def _wide(estimator: Any, b: int, n: int) -> Estimator:
    size = "b_small" if hasattr(estimator, "b_small") else "b"
    if isinstance(estimator, Full) or 4 * max(b, getattr(estimator, size)) > n:
        return Full()
    wide: Estimator = replace(estimator, **{size: max(b, getattr(estimator, size))})
    return wide
