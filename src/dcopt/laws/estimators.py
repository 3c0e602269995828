"""The laws of an estimator, by enumeration of all draws on four rows: expectations are finite sums, not statistics.

With the quadratic inside, an estimate is one of ∇H, H = κ/2 ‖x‖² − f, so that errors are those of y = κ·at − g.
The laws of bias, variance and exactness apply to known kinds and their subclasses. The laws of cost and conduct,
which are in this file, apply to any estimator.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from ..draw import Draw
from ..errors import BadSettings, DcoptError, NeedsFiniteSum
from ..estimators import Estimator
from ..xp import Array
from . import estimator_exactness, estimator_moments
from .base import Law, demand
from .four_rows import N, Stream, Watched, chosen, points, sums
from .walks import SEEDS, STEPS, Permuted, cases, draws, near, term, walk, with_batch


def cost_is_what_was_evaluated(estimator: Estimator) -> None:
    """cost.gradients: the slopes that an instrumented loss saw; cost.paper: each batch once, also at two points"""
    for f in cases(estimator):
        watched = Watched(f)
        for seed in range(6):
            for t, now in enumerate(walk(estimator, watched, points(f, STEPS), draws(seed))):
                gradients, paper = watched.seen()
                told = f"at step {t}: cost says {tuple(now.cost)}"
                demand(now.cost.gradients == gradients, f"{gradients} gradients were evaluated {told}")
                demand(now.cost.paper == paper, f"batches of {paper} rows in all were drawn {told}")


def names_of_rows_do_not_matter(estimator: Estimator) -> None:
    """Rows and draws permuted together: the same estimates"""
    for f in cases(estimator):
        path = points(f, STEPS)
        for seed, order in enumerate(([1, 0, 2, 3], [3, 2, 1, 0], [2, 3, 1, 0])):
            moved, names = chosen(f, np.array(order)), np.argsort(order)
            here = walk(estimator, f, path, draws(seed))
            there = walk(estimator, moved, path, lambda t, s=seed, to=names: Permuted(Draw(s, t), to))  # type: ignore[misc]
            for x, one, two in zip(path, here, there, strict=True):
                near(term(x, two), term(x, one), "the order of the rows matters")


def memory_is_all(estimator: Estimator) -> None:
    """All that a step needs is in its memory, a NamedTuple: a copy continues with the same bits; points stay"""
    for f in cases(estimator):
        path = points(f, STEPS)
        for x in path:
            x.flags.writeable = False  # a write would raise
        for seed in SEEDS:
            copies: list[tuple[Array, Any]] = []
            for now in walk(estimator, f, path, draws(seed)):
                good = isinstance(now.memory, tuple) and hasattr(now.memory, "_fields")
                demand(good, f"the memory is a {type(now.memory).__name__}, not a NamedTuple")
                copies.append((now.g.copy(), deepcopy(now.memory)))
            for t in range(STEPS - 1):
                other = estimator.start(f, path[-1], Draw(99, 0))  # another run in between
                estimator.step(f, path[0], path[-1], other.memory, Draw(99, 1))
                again = estimator.step(f, path[t + 1], path[t], copies[t][1], Draw(seed, t + 1))
                same = np.array_equal(again.g, copies[t + 1][0])
                demand(same, f"a copy of the memory of step {t} does not continue the run")


def stream_is_refused_or_served(estimator: Estimator) -> None:
    """check(None) raises NeedsFiniteSum, or the estimator works on samples without identity as on rows"""
    try:
        estimator.check(None)
    except NeedsFiniteSum:
        return
    except DcoptError as why:
        demand(False, f"refuses a stream with {type(why).__name__}, not NeedsFiniteSum")
    for f in cases(estimator):
        path = points(f, STEPS)
        for seed in SEEDS:
            here, there = (walk(estimator, g, path, draws(seed)) for g in (f, Stream(f)))
            try:
                for x, one, two in zip(path, here, there, strict=True):
                    near(term(x, two), term(x, one), "a stream is served worse than rows")
                    demand(one.cost == two.cost, "a stream is charged otherwise than rows")
            except NeedsFiniteSum:
                demand(False, "check(None) accepts a stream, and a step needs a finite sum")


def too_large_batches_are_refused(estimator: Estimator) -> None:
    """A batch of N + 1 rows of N: BadSettings"""
    large = with_batch(estimator, N + 1)
    if large is not None:
        try:
            large.check(N)
        except BadSettings:
            return
        demand(False, f"check({N}) accepts batches of {N + 1} rows")


def precision_is_kept(estimator: Estimator) -> None:
    """float32 rows and points: float32 estimates and memory, near those in float64"""
    cases(estimator)
    for single, double in zip(sums(dtype=np.float32), sums(), strict=True):
        short, long = points(single, STEPS), points(double, STEPS)
        pair = walk(estimator, single, short, draws(1)), walk(estimator, double, long, draws(1))
        for t, (now, want) in enumerate(zip(*pair, strict=True)):
            for name, array in [("g", now.g), ("at", now.at), *_arrays(now.memory)]:
                wide = getattr(array, "dtype", None) == np.float64
                demand(not wide, f"{name} is float64 for float32 rows at step {t}")
            near(term(short[t], now), term(long[t], want), f"float32 is far from float64 at step {t}", 1e-4)


def _arrays(memory: Any) -> Iterator[tuple[str, Any]]:
    for name, part in zip(memory._fields, memory, strict=True):
        if hasattr(part, "_fields"):
            yield from _arrays(part)
        else:
            yield f"memory.{name}", part


LAWS: dict[str, Law] = {
    **estimator_moments.LAWS,
    **estimator_exactness.LAWS,
    "cost-is-what-was-evaluated": cost_is_what_was_evaluated,
    "names-of-rows-do-not-matter": names_of_rows_do_not_matter,
    "memory-is-all": memory_is_all,
    "stream-is-refused-or-served": stream_is_refused_or_served,
    "too-large-batches-are-refused": too_large_batches_are_refused,
    "precision-is-kept": precision_is_kept,
}
