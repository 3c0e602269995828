"""Runs of many methods on random parts of a data set: F, measures, non-zeros and accuracy during the run.

F(x) = (1/N) Σ φ(⟨a_i, x⟩, y_i) + r(x), rows of length 1, no intercept, x0 = 0. Every run draws its own part of the rows
for testing; all methods of a run see the same rows. Evaluations for the trace are neither counted nor timed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadSettings, pick, require, require_count, require_number
from ..losses import LOSSES
from ..measures import MEASURES
from ..problem import Problem
from ..problems.erm import erm
from ..problems.stream import stream
from ..regularizers import REGULARIZERS, Regularizer
from ..solve import iterate
from . import source
from .contestants import method
from .ledger import Line
from .typed import build

KAPPAS = ("L_f", "(c - 1)/c")
REFERENCE = "reference"  # A long run for the best known F, which is not shown.
COLUMNS = ("t", "seconds", "gradients", "paper", "F", "gap", "criticality", "nnz", "train", "test")
_MAY_MISS = ("train", "test")  # A regression has no accuracy, and a run without test rows no test accuracy.


@dataclass(frozen=True)
class Recipe:
    """One experiment."""

    title: str
    data: tuple[str, ...]
    loss: str
    methods: tuple[str, ...]
    penalty: dict[str, Any] = field(hash=False)  # The name and settings; for lam = "1/N", N is that of the run.
    shown: tuple[str, ...] = ()  # The methods that are shown at first; all if empty.
    instead: str = "breast_cancer"  # A set that is always available, in place of missing ones.
    passes: float = 20.0  # The budget, in the paper's count.
    every: float = 0.5  # The passes, each counted, between two records.
    runs: int = 10
    test: float = 0.1  # The share of test rows.
    reference: float = 0.0  # The passes, each counted, of the long run.
    kappa: str = "L_f"  # What the κ of the methods are multiples of; "(c - 1)/c" is the paper's L for c classes.
    online: bool = False  # Whether samples are drawn from the rows with replacement.
    variants: dict[str, dict[str, Any]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        require(bool(self.data), "data", self.data, "at least one data set")
        for name in (*self.data, self.instead):
            pick("data", name, source.NAMES)
        pick("loss", self.loss, LOSSES)
        pick("kappa", self.kappa, KAPPAS if self.loss == "softmax" else KAPPAS[:1])
        regularizer(self.penalty, 100)
        for name in (*self.methods, *self.shown):
            method(name, self.variants)
        if not set(self.shown) <= set(self.methods):
            raise BadSettings("shown", self.shown, "some of the methods")
        for name in ("passes", "every"):
            require_number(name, getattr(self, name), 0.0, open_low=True)
        require_number("reference", self.reference, 0.0)
        require_number("test", self.test, 0.0, 0.9)
        require_count("runs", self.runs)


def regularizer(penalty: dict[str, Any], n: int) -> Regularizer:
    """The penalty of a recipe for n rows."""
    settings = dict(penalty)
    sample: Any = REGULARIZERS[pick("penalty: name", settings.pop("name", None), REGULARIZERS)]
    for key in settings:
        pick("penalty: key", key, sample.__dataclass_fields__)
    if settings.get("lam") == "1/N":
        settings["lam"] = 1.0 / n
    result: Regularizer = replace(sample, **settings)
    return result


@dataclass(frozen=True)
class Trace:
    """A line of the ledger: one run, with a column of numbers for every name in COLUMNS."""

    key: str
    data: str
    method: str
    seed: int
    status: str
    n: int
    shape: tuple[int, ...]
    says: str
    columns: dict[str, tuple[float | None, ...]]

    def __post_init__(self) -> None:
        require(self.key == f"{self.data}/{self.method}/{self.seed}", "key", self.key, "data/method/seed of this line")
        require(self.n >= 1, "n", self.n, "the number of rows")
        require(set(self.columns) == set(COLUMNS), "columns", list(self.columns), f"the columns {', '.join(COLUMNS)}")
        looks = len(self.columns["t"])
        for name, values in self.columns.items():
            same = looks > 0 and len(values) == looks
            require(same, f"columns.{name}", f"{len(values)} numbers", f"one for each look, as t has ({looks})")
            missing = None in values and name not in _MAY_MISS
            finite = all(v is None or abs(v) <= sys.float_info.max for v in values)
            require(finite and not missing, f"columns.{name}", "a missing number", "finite numbers")


def check_line(line: Line, where: str) -> Trace:
    """BadSettings for a line that no run of an experiment has written."""
    return build(Trace, line, where)


class Job(NamedTuple):
    """One run of one method."""

    recipe: Recipe
    data: str
    method: str
    seed: int

    @property
    def key(self) -> str:
        return f"{self.data}/{self.method}/{self.seed}"

    def run(self) -> Line:
        split = SplitProblem.of(self)
        columns, status = follow(self, split)
        line = {"key": self.key, "data": self.data, "method": self.method, "seed": self.seed, "status": status}
        shape = {"n": split.P.n, "shape": list(split.P.shape)}
        return line | shape | {"says": f"F {columns['F'][-1]:.5f}", "columns": columns}


def jobs(recipe: Recipe, sets: tuple[str, ...]) -> Iterator[Job]:
    """Every run, those on the same rows together."""
    names = (*recipe.methods, *([REFERENCE] if recipe.reference else []))
    for data in sets:
        for seed in range(recipe.runs):
            yield from (Job(recipe, data, name, seed) for name in names)


class SplitProblem(NamedTuple):
    """The problem of one run, and the quantities that are recorded at a point."""

    P: Problem
    X: Any  # Training rows.
    y: Any
    X_test: Any
    y_test: Any

    @classmethod
    def of(cls, job: Job) -> SplitProblem:
        return _split(job.recipe, job.data, job.seed)

    def look(self, x: Any) -> dict[str, Any]:
        """F and both measures with G = L_f/2 ‖x‖², whatever κ the method has; accuracies are shares of rows."""
        at = self.P.examine(np.asarray(x, np.float64))
        seen: dict[str, Any] = {"F": at.F} | {name: measure(self.P, at) for name, measure in MEASURES.items()}
        train, test = self.accuracy(x, self.X, self.y), self.accuracy(x, self.X_test, self.y_test)
        return seen | {"nnz": int(np.count_nonzero(x)), "train": train, "test": test}

    def accuracy(self, x: Any, X: Any, y: Any) -> float | None:
        """The share of rows whose class is found; None without rows or classes."""
        if self.P.classes is None or not len(y):
            return None
        z = X @ x
        found = (z > 0).astype(int) if z.ndim == 1 else np.argmax(z, axis=1)
        return float(np.mean(np.asarray(self.P.classes)[found] == y))


@lru_cache(maxsize=2)
def _split(recipe: Recipe, data: str, seed: int) -> SplitProblem:
    X, y = source.rows(data)
    order = np.random.default_rng([seed, 90]).permutation(len(y))
    cut = round(recipe.test * len(y))
    test, train = np.sort(order[:cut]), np.sort(order[cut:])
    P = erm(X[train], y[train], recipe.loss, regularizer(recipe.penalty, len(train)))
    return SplitProblem(P, X[train], y[train], X[test], y[test])


# ---------------------------------------------------------------------------------------------------- one run


def follow(job: Job, split: SplitProblem) -> tuple[dict[str, list[Any]], str]:
    """Run the method from x0 = 0 until its budget is spent: the recorded columns, and the status at the end."""
    recipe, n = job.recipe, int(split.P.n or 0)
    long = job.method == REFERENCE
    budget, every = (recipe.reference, recipe.reference / 8) if long else (recipe.passes, recipe.every)
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}

    def note(t: int, seconds: float, gradients: int, paper: int, x: Any) -> bool:
        seen = {"t": t, "seconds": round(seconds, 6), "gradients": gradients, "paper": paper} | split.look(x)
        good = all(map(math.isfinite, (seen["F"], seen["gap"], seen["criticality"])))
        for name in COLUMNS if good else ():
            columns[name].append(seen[name])
        return good

    note(0, 0.0, 0, 0, np.zeros(split.P.shape))
    states, seconds, due = _states(job, split), 0.0, every
    while True:
        began = perf_counter()
        state = next(states)
        seconds += perf_counter() - began
        spent = state.spent
        ended = min(spent.gradients, spent.gradients if long else spent.paper) >= budget * n
        if ended or spent.gradients >= due * n:
            due = max(due + every, spent.gradients / n)
            if not note(state.t, seconds, spent.gradients, spent.paper, state.x):
                return columns, "diverged"
        if ended:
            return columns, "done"


def _states(job: Job, split: SplitProblem) -> Iterator[Any]:
    if job.method == REFERENCE:
        return iterate(split.P, method("mm-saga-sqrt", {}), seed=job.seed)
    chosen = method(job.method, job.recipe.variants)
    if job.recipe.kappa != KAPPAS[0]:  # L_f is max ‖a_i‖²/2.
        assert split.P.classes is not None  # `Recipe` allows it for softmax alone.
        c = len(split.P.classes)
        chosen = replace(chosen, kappa=chosen.kappa * 2.0 * (c - 1) / c)
    if not job.recipe.online:
        return iterate(split.P, chosen, seed=job.seed)
    rng = np.random.default_rng([job.seed, 91])

    def fresh(b: int) -> tuple[Any, Any]:
        rows = rng.integers(0, len(split.y), b)
        return split.X[rows], split.y[rows]

    P = stream(fresh, job.recipe.loss, split.P.r, classes=split.P.classes, kappa=split.P.G.L)
    return iterate(P, chosen, seed=job.seed)
