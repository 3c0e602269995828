"""Component gradients until the critical distance d(x) = dist(∇H(x) + w, ∂(G + r1)(x)) first falls below ε.

F(x) = (1/N) Σ φ(⟨a_i, x⟩, y_i) + λ Σ (1 − exp(−α |x_j|)), rows of length 1, squared sigmoid, x0 = 0. Every N is a
prefix of one population in a fixed random order, and λ does not depend on N (the paper has 1/N): F changes with N
only by sampling, L_f not at all. ε is a share of d(0) on the whole population, the same for every N.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..data.check import as_rows
from ..data.datasets import available, load_dataset
from ..errors import BadSettings, pick, require_count, require_number
from ..estimators import SAGA
from ..methods import METHODS, Method
from ..problem import Problem, erm
from ..regularizers import Exponential
from ..solve import iterate
from ..sums import LinearSum
from ..xp import Array

# Do the batches of theory have to be so large? SAGA with PAGE's, for which no theorem is known.
CONTROLS = {"mm-saga-sqrt": Method("mm-saga-sqrt", lambda n: SAGA(b=math.isqrt(n - 1) + 1), says="SAGA, b = ⌈√N⌉")}
_KNOWN = METHODS | CONTROLS
TESTED = ("dca", "dca-saga", "dca-svrg", "mm-saga", "mm-svrg", "dca-page", *CONTROLS)
_ROWS, _POINTS = 8192, 8  # a look takes several points at once, through blocks of rows that fit the cache


@dataclass(frozen=True)
class Family:
    """One population: the sizes of its prefixes, and the size at which ε varies further."""

    data: str  # a LIBSVM name, or "synthetic"
    sizes: tuple[int, ...]
    at: int  # this N is also run with `fine`
    levels: tuple[float, ...]  # ε / d(0) at every N; the last one is the ε of the fit against N
    fine: tuple[float, ...]  # ε / d(0) at N = `at`, for the fit against ε

    def __post_init__(self) -> None:
        for n in (*self.sizes, self.at):
            require_count("sizes", n, 2)
        for level in (*self.levels, *self.fine):
            require_number("levels", level, 0.0, 1.0, open_low=True)
        if not self.sizes or self.at not in self.sizes or not self.levels:
            raise BadSettings("at", self.at, "one of the sizes, with at least one level")

    def wanted(self, n: int) -> tuple[float, ...]:
        """The levels of a run with n components, from loose to tight."""
        return tuple(sorted({*self.levels, *(self.fine if n == self.at else ())}, reverse=True))


@dataclass(frozen=True)
class Recipe:
    """The whole experiment."""

    families: tuple[Family, ...]
    methods: tuple[str, ...] = TESTED
    seeds: int = 10  # one for deterministic DCA
    lam: float = 1e-4
    alpha: float = 5.0
    dim: int = 20  # of the synthetic population
    ratio: float = 1.04  # gradients beyond the first N, from one look to the next
    cap: float = 2000.0  # passes after which a run is censored

    def __post_init__(self) -> None:
        for name in self.methods:
            pick("methods", name, _KNOWN)
        require_count("seeds", self.seeds)
        require_number("ratio", self.ratio, 1.0, open_low=True)
        require_number("cap", self.cap, 1.0)

    @property
    def digest(self) -> str:
        """Results of different recipes are not mixed."""
        return sha256(repr(self).encode()).hexdigest()[:8]


_POWERS = (*(2**k for k in range(9, 17)), 2**18, 2**20)
_LEVELS = (1 / 8, 1 / 16)
_FINE = tuple(2 ** (-k / 2) for k in range(6, 15))  # 1/8 … 1/128
FULL = Recipe(
    (
        Family("a9a", (*_POWERS[:6], 32561), 2**13, _LEVELS, _FINE),
        Family("w8a", (*_POWERS[:7], 49749), 2**13, _LEVELS, _FINE),
        Family("synthetic", _POWERS, 2**13, _LEVELS, _FINE),
    )
)
QUICK = Recipe(
    (
        Family("a9a", _POWERS[:5:2], 2**11, (1 / 8,), _FINE[:5]),
        Family("synthetic", _POWERS[:7:2], 2**11, (1 / 8,), _FINE[:5]),
    ),
    seeds=3,
)


def at_hand(recipe: Recipe) -> tuple[Family, ...]:
    """The families whose data is on this machine."""
    return tuple(f for f in recipe.families if f.data == "synthetic" or available(f.data))


class Task(NamedTuple):
    """One run."""

    recipe: Recipe
    family: Family
    n: int
    method: str
    seed: int
    eps: tuple[tuple[float, float], ...]  # (share of d(0), ε), from loose to tight


class Record(NamedTuple):
    """One ε of one run. Censored: `gradients`, `paper`, `steps` are None and more than `before` were spent."""

    recipe: str
    data: str
    n: int
    method: str
    seed: int
    level: float
    eps: float
    status: str  # "crossed" or "censored"
    gradients: int | None  # honest count at the first look with d ≤ ε
    paper: int | None
    steps: int | None
    before: int  # honest count at the last look before it, with d > ε
    seconds: float  # of the run until here, with looking

    @property
    def key(self) -> tuple[str, str, int, str, int, float]:
        return self.recipe, self.data, self.n, self.method, self.seed, self.eps


# ------------------------------------------------------------------------------------------------- problems


@lru_cache(maxsize=1)
def population(data: str, n: int, dim: int) -> tuple[Any, Any]:
    """The first n rows, each of length 1, in an order that does not depend on n.

    synthetic: a ~ N(0, diag(1, 1/2, …, 1/d)) / ‖·‖, P(y = 1) = σ(⟨a, x*⟩), every second entry of x* is ±8;
    float32, so that a million rows are quick to read and ε is still thousands of roundings away.
    """
    if data != "synthetic":
        X, y = load_dataset(data, normalize=True)
        order = np.random.default_rng(0).permutation(len(y))[:n]
        return X[order], y[order]
    rows, coins, signs = (np.random.default_rng([0, k]) for k in range(3))
    a = rows.standard_normal((n, dim), np.float32)
    a *= np.arange(1, dim + 1, dtype=np.float32) ** -0.5
    a /= np.sqrt(np.einsum("ij,ij->i", a, a))[:, None]
    planted = np.where(np.arange(dim) % 2 == 0, 8.0 * signs.choice([-1.0, 1.0], dim), 0.0)
    return a, np.where(coins.random(n) < 1.0 / (1.0 + np.exp(-(a @ planted))), 1.0, -1.0)


@lru_cache(maxsize=1)
def problem(recipe: Recipe, family: Family, n: int) -> tuple[Problem, Looker]:
    """F on the first n rows, and its critical distance."""
    X, y = population(family.data, max(family.sizes), recipe.dim)
    P = erm(X[:n], y[:n], "squared-sigmoid", Exponential(lam=recipe.lam, alpha=recipe.alpha))
    return P, Looker(P, X)


class Looker:
    """d(x_1), …, d(x_k) from one pass over the data."""

    def __init__(self, P: Problem, X: Any) -> None:
        assert isinstance(P.f, LinearSum)
        f, self.r, self.n = P.f, P.r, P.f.n
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
        return [self.r.distance(self.r.subgrad(x) - grad, x) for x, grad in pairs]


# ------------------------------------------------------------------------------------------------- runs


def tasks(recipe: Recipe) -> Iterator[Task]:
    """Every run of the recipe, those on the same data together."""
    for family in at_hand(recipe):
        P, look = problem(recipe, family, max(family.sizes))
        start = look([np.zeros(P.shape)])[0]
        for n in family.sizes:
            # six digits: the same ε, hence the same line, whatever the rounding of this machine
            eps = tuple((level, float(f"{level * start:.6g}")) for level in family.wanted(n))
            for method in recipe.methods:
                for seed in range(1 if method == "dca" else recipe.seeds):
                    yield Task(recipe, family, n, method, seed, eps)


def run(task: Task) -> list[Record]:
    """One run, until d ≤ the smallest ε or the cap: a record for each ε."""
    P, look = problem(task.recipe, task.family, task.n)
    return crossings(P, look, task)


def crossings(P: Problem, look: Looker, task: Task) -> list[Record]:
    """Follow the method, look at gradients N + 1, N + ratio, N + ratio², …, and note the first look with d ≤ ε.

    What is spent between two looks is at most a share ratio − 1 of the gradients beyond the first N, or one step.
    Looking is not counted.
    """
    recipe, n = task.recipe, task.n
    open_eps, found = list(task.eps), []
    began, before, due = perf_counter(), 0, 0.0
    waiting: list[tuple[int, int, int, Array]] = []
    for state in iterate(P, _KNOWN[task.method], seed=task.seed):
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
        recipe=task.recipe.digest,
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


def beyond(record: Record, count: str = "gradients") -> float:
    """Gradients after the first N (or steps); ∞ if censored, which medians understand."""
    value = getattr(record, count)
    if value is None:
        return math.inf
    return float(value) if count == "steps" else float(value - record.n)
