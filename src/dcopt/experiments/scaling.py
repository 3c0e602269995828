"""Component gradients until the critical distance d(x) = dist(∇H(x) + w, ∂(G + r1)(x)) first falls below ε.

F(x) = (1/N) Σ φ(⟨a_i, x⟩, y_i) + λ Σ (1 − exp(−α |x_j|)), rows of length 1, squared sigmoid, x0 = 0. Every N is a
prefix of one population in a fixed random order, and λ does not depend on N (the paper has 1/N): F changes with N
only by sampling, L_f not at all. ε is a share of d(0) on the whole population, the same for every N.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data.check import as_rows
from ..errors import BadSettings, pick, require, require_count, require_number
from ..problem import Problem
from ..problems.erm import erm
from ..regularizers import Exponential
from ..solve import iterate
from ..sums import LinearSum
from ..xp import Array
from . import source
from .contestants import KNOWN
from .ledger import Line
from .records import Record

_FINEST = 50.0  # 2^−50 is about the rounding of one number in float64: no distance is known to a smaller share
_ROWS, _POINTS = 8192, 8  # One evaluation takes several points at once, through blocks of rows that fit the cache.


@dataclass(frozen=True)
class Family:
    """One population: the sizes of its prefixes, and the size at which ε varies further."""

    data: str  # A LIBSVM name, or "synthetic".
    sizes: tuple[int, ...]
    at: int  # This N is also run with `fine`.
    levels: tuple[float, ...]  # ε / d(0) at every N; the last one is the ε of the fit against N
    fine: tuple[float, ...]  # The exponents k of ε = 2^−k d(0) at N = `at`, for the fit against ε.

    def __post_init__(self) -> None:
        pick("data", self.data, source.NAMES)
        for n in (*self.sizes, self.at):
            require_count("sizes", n, 2)
        for level in self.levels:
            require_number("levels", level, 0.0, 1.0, open_low=True)
        for k in self.fine:
            require_number("fine", k, 0.0, _FINEST)
        if not self.sizes or self.at not in self.sizes or not self.levels:
            raise BadSettings("at", self.at, "one of the sizes, with at least one level")

    def wanted(self, n: int) -> tuple[float, ...]:
        """The levels of a run with n components, from loose to tight."""
        return tuple(sorted({*self.levels, *(2.0**-k for k in self.fine if n == self.at)}, reverse=True))


@dataclass(frozen=True)
class Recipe:
    """The whole experiment."""

    title: str
    families: tuple[Family, ...]
    methods: tuple[str, ...]
    runs: int = 10  # Deterministic DCA makes one run.
    lam: float = 1e-4
    alpha: float = 5.0
    dim: int = 20  # The dimension of the synthetic population.
    ratio: float = 1.04  # The ratio of gradients beyond the first N between two records.
    cap: float = 2000.0  # The passes after which a run is censored.

    def __post_init__(self) -> None:
        require(bool(self.families), "families", self.families, "at least one family")
        for name in self.methods:
            pick("methods", name, KNOWN)
        require_count("runs", self.runs)
        require_count("dim", self.dim)
        require_number("ratio", self.ratio, 1.0, open_low=True)
        require_number("cap", self.cap, 1.0)


class Task(NamedTuple):
    """One run."""

    recipe: Recipe
    family: Family
    n: int
    method: str
    seed: int
    eps: tuple[tuple[float, float], ...]  # (share of d(0), ε), from loose to tight

    @property
    def key(self) -> str:
        return f"{self.family.data}/{self.n}/{self.method}/{self.seed}"

    def run(self) -> Line:
        P, look = problem(self.recipe, self.family, self.n)
        found = crossings(P, look, self)
        says = f"{found[-1].status} after {found[-1].gradients or found[-1].before} gradients"
        return {"key": self.key, "says": says, "records": [r._asdict() for r in found]}


# ------------------------------------------------------------------------------------------------- problems


@lru_cache(maxsize=1)
def population(data: str, n: int, dim: int) -> tuple[Any, Any]:
    """The first n rows, each of length 1, in an order that does not depend on n."""
    if data == source.SYNTHETIC:
        return source.synthetic(n, dim)
    X, y = source.rows(data)
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return X[order], y[order]


@lru_cache(maxsize=1)
def problem(recipe: Recipe, family: Family, n: int) -> tuple[Problem, Looker]:
    """F on the first n rows, and its critical distance."""
    X, y = population(family.data, max(family.sizes), recipe.dim)
    P = erm(X[:n], y[:n], "squared-sigmoid", Exponential(lam=recipe.lam, alpha=recipe.alpha))
    return P, Looker(P, X)


class Looker:
    """d(x_1), …, d(x_k) from one pass over the data."""

    def __init__(self, P: Problem, X: Any) -> None:
        f = P.sum.facts().rows
        assert f is not None  # `problem` makes a loss over rows.
        self.r, self.n = P.r, f.n
        cuts = range(0, f.n, _ROWS)
        self.blocks = [
            LinearSum(as_rows(X[low : min(low + _ROWS, f.n)]), f.loss, f.labels[low : low + _ROWS]) for low in cuts
        ]

    def __call__(self, points: Sequence[Array]) -> list[float]:
        xs = np.stack(points, axis=1)
        g = np.zeros(xs.shape)
        for block in self.blocks:
            g += block.a.tdot(block.loss.slope(block.a.dot(xs), block.labels[:, None]))
        pairs = zip(points, g.T / self.n, strict=True)
        return [self.r.distance(self.r.steepest(x, partial(np.negative, g)) - g, x) for x, g in pairs]


# ------------------------------------------------------------------------------------------------- runs


def jobs(recipe: Recipe, sets: Sequence[str]) -> Iterator[Task]:
    """Every run of the recipe on the sets at hand, those on the same data together."""
    for family in (f for f in recipe.families if f.data in sets):
        P, look = problem(recipe, family, max(family.sizes))
        start = look([np.zeros(P.shape)])[0]
        for n in family.sizes:
            # Six digits give the same ε, and the same line, on machines that round differently.
            eps = tuple((level, float(f"{level * start:.6g}")) for level in family.wanted(n))
            for method in recipe.methods:
                for seed in range(1 if method == "dca" else recipe.runs):
                    yield Task(recipe, family, n, method, seed, eps)


def crossings(P: Problem, look: Looker, task: Task) -> list[Record]:
    """Follow the method, look at gradients N + 1, N + ratio, N + ratio², …, and note the first look with d ≤ ε.

    What is spent between two looks is at most a share ratio − 1 of the gradients beyond the first N, or one step.
    Looking is not counted.
    """
    recipe, n = task.recipe, task.n
    open_eps, found = list(task.eps), []
    began, before, due = perf_counter(), 0, 0.0
    waiting: list[tuple[int, int, int, Array]] = []
    for state in iterate(P, KNOWN[task.method], seed=task.seed):
        spent = state.spent
        capped = spent.gradients > recipe.cap * n
        if not capped and spent.gradients - n >= due:
            waiting.append((state.t, spent.gradients, spent.paper, state.x))
            due = recipe.ratio * (spent.gradients - n)
        if len(waiting) < _POINTS and not capped:
            continue
        distances = look([x for *_, x in waiting]) if waiting else []
        for (t, gradients, paper, _), d in zip(waiting, distances, strict=True):
            while open_eps and d <= open_eps[0][1]:
                found.append(_record(task, open_eps.pop(0), (gradients, paper, t), before, began))
            before = gradients
        waiting.clear()
        if capped or not open_eps:
            break
    return found + [_record(task, eps, (), before, began) for eps in open_eps]


def _record(task: Task, eps: tuple[float, float], at: tuple[int, ...], before: int, began: float) -> Record:
    gradients, paper, steps = at or (None, None, None)
    return Record(
        data=task.family.data,
        n=task.n,
        method=task.method,
        seed=task.seed,
        level=eps[0],
        eps=eps[1],
        status="crossed" if at else "censored",
        gradients=gradients,
        paper=paper,
        steps=steps,
        before=before,
        seconds=round(perf_counter() - began, 4),
    )
