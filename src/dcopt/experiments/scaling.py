"""Component gradients until the critical distance d(x) = dist(∇H(x) + w, ∂(G + r1)(x)) first falls below ε.

Form (S): F(x) = (1/N) Σ φ(⟨a_i, x⟩, y_i) + λ Σ (1 − exp(−α |x_j|)), rows of length 1, squared sigmoid, x0 = 0. Every
N is a prefix of one population in a fixed random order, and λ does not depend on N (the paper has 1/N): F changes with
N only by sampling, L_f not at all. ε is a share of d(x0) on the whole population, the same for every N.

Problem (M): those of `general`, with a G of their own. Gradients are those of the h_i, as the theorems count; what the
convex programs cost, where G is itself a mean over rows, is recorded apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data.check import as_rows
from ..measures import criticality
from ..problem import Problem
from ..problems.erm import erm
from ..regularizers import Exponential
from ..solve import iterate
from ..sums import LinearSum
from ..xp import Array
from . import general, source
from .contestants import KNOWN
from .ledger import Line
from .records import Record
from .scaling_recipe import Family, Recipe

_ROWS, _POINTS = 8192, 8  # One evaluation takes several points at once, through blocks of rows that fit the cache.


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
        found = crossings(problem(self.recipe, self.family, self.n), self)
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


class Ground(NamedTuple):
    """F on the first n rows, where its runs start, and its critical distance at several points."""

    P: Problem
    x0: Array
    look: Callable[[Sequence[Array]], list[float]]


@lru_cache(maxsize=1)
def problem(recipe: Recipe, family: Family, n: int) -> Ground:
    """F on the first n rows."""
    if recipe.is_general:
        P, x0, *_ = general.PROBLEMS[family.data](n, recipe.dim)
        return Ground(P, x0, lambda points: [criticality(P, x) for x in points])
    X, y = population(family.data, max(family.sizes), recipe.dim)
    P = erm(X[:n], y[:n], "squared-sigmoid", Exponential(lam=recipe.lam, alpha=recipe.alpha))
    return Ground(P, np.zeros(P.shape), Looker(P, X))


class Looker:
    """d(x_1), …, d(x_k) from one pass over the data."""

    def __init__(self, P: Problem, X: Any) -> None:
        f = P.sum.facts().rows
        assert isinstance(f, LinearSum)  # `problem` makes a loss over rows.
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
        whole = problem(recipe, family, max(family.sizes))
        start = whole.look([whole.x0])[0]
        for n in family.sizes:
            # Six digits give the same ε, and the same line, on machines that round differently.
            eps = tuple((level, float(f"{level * start:.6g}")) for level in family.wanted(n))
            for method in recipe.methods_on(family):
                for seed in range(1 if method in recipe.once else recipe.runs):
                    yield Task(recipe, family, n, method, seed, eps)


def crossings(ground: Ground, task: Task) -> list[Record]:
    """Follow the method, look at gradients N + 1, N + ratio, N + ratio², …, and note the first look with d ≤ ε.

    What is spent between two looks is at most a share ratio − 1 of the gradients beyond the first N, or one step.
    Looking is not counted.
    """
    recipe, n = task.recipe, task.n
    open_eps, found = list(task.eps), []
    began, before, due = perf_counter(), 0, 0.0
    waiting: list[tuple[Spent, Array]] = []
    for spent, x in _steps(ground, task):
        capped = spent.gradients > recipe.cap * n
        if not capped and spent.gradients - n >= due:
            waiting.append((spent, x))
            due = recipe.ratio * (spent.gradients - n)
        if len(waiting) < _POINTS and not capped:
            continue
        distances = ground.look([x for _, x in waiting]) if waiting else []
        for (spent, _), d in zip(waiting, distances, strict=True):
            while open_eps and d <= open_eps[0][1]:
                found.append(_record(task, open_eps.pop(0), spent, before, began))
            before = spent.gradients
        waiting.clear()
        if capped or not open_eps:
            break
    return found + [_record(task, eps, None, before, began) for eps in open_eps]


class Spent(NamedTuple):
    """What a run has spent: steps, component gradients in both counts, and those of the convex programs."""

    steps: int
    gradients: int
    paper: int
    programs: int


def _steps(ground: Ground, task: Task) -> Iterator[tuple[Spent, Array]]:
    """Every step of the method, without end."""
    if not task.recipe.is_general:
        for state in iterate(ground.P, KNOWN[task.method], seed=task.seed, x0=ground.x0):
            yield Spent(state.t, state.spent.gradients, state.spent.paper, 0), state.x
    P, method = general.contestant(task.method, ground.P)
    meter = general.Metered(method.prepare(P)[0])
    for state in iterate(P, method, seed=task.seed, x0=ground.x0, subsolver=meter):
        programs = meter.gradients
        yield Spent(state.t, state.spent.gradients - programs, state.spent.paper - programs, programs), state.x


def _record(task: Task, eps: tuple[float, float], at: Spent | None, before: int, began: float) -> Record:
    return Record(
        data=task.family.data,
        n=task.n,
        method=task.method,
        seed=task.seed,
        level=eps[0],
        eps=eps[1],
        status="crossed" if at else "censored",
        gradients=at and at.gradients,
        paper=at and at.paper,
        steps=at and at.steps,
        before=before,
        programs=at and at.programs,
        seconds=round(perf_counter() - began, 4),
    )
