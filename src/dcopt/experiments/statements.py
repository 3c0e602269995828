"""Sentences of the paper that numbers can contradict: every number is computed in a run, and kept in the ledger."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from ..convex import Quadratic
from ..errors import pick, require, require_count
from ..losses import Softmax, SquaredSigmoid
from ..measures import criticality, gap, lagged_gap
from ..problem import Problem
from ..problems.erm import erm
from ..regularizers import L1, Exponential
from ..solve import iterate
from ..sums import Function, LinearSum
from ..xp import Array
from . import general, source
from .ledger import Line
from .typed import build

NEAR = (1.0, 0.1, 0.001)  # The points of the example |x|.
PROMISED = 0.25  # The ratio L/ρ to which η is chosen by the printed formula.
_STEP = 1e-3  # The length of the differences that curvature is seen with.
_ROUNDING = 1e-12  # Relative to the values: a smaller excess has no sign.
_PAIRS = 1000
_TURNS = 4  # Looks at a point, each in the direction in which the last one saw the most.
Numbers = dict[str, list[float]]


@dataclass(frozen=True)
class Recipe:
    """The whole experiment."""

    title: str
    data: tuple[str, ...]  # Form (S): squared sigmoid on these rows.
    problems: tuple[str, ...]  # Problem (M).
    sizes: tuple[int, ...]  # For what the paper says of a large N.
    runs: int = 10
    dim: int = 8
    instead: str = "breast_cancer"

    def __post_init__(self) -> None:
        for name in (*self.data, self.instead):
            pick("data", name, source.NAMES)
        for name in self.problems:
            pick("problems", name, general.PROBLEMS)
        for n in self.sizes:
            require_count("sizes", n, 2)
        require(len(self.sizes) > 1, "sizes", self.sizes, "two or more")
        require_count("runs", self.runs)


class Probe(NamedTuple):
    """One look at one sentence."""

    recipe: Recipe
    statement: str
    problem: str
    n: int
    seed: int

    @property
    def key(self) -> str:
        return f"{self.statement}/{self.problem}/{self.n}/{self.seed}"

    def run(self) -> Line:
        numbers = STATEMENTS[self.statement](self)
        says = ", ".join(f"{name} {values[-1]:.4g}" for name, values in numbers.items())
        own = {"statement": self.statement, "problem": self.problem, "n": self.n, "seed": self.seed}
        return {"key": self.key, "says": says, **own, "numbers": numbers}


@dataclass(frozen=True)
class Finding:
    """A line of the ledger."""

    key: str
    says: str
    statement: str
    problem: str
    n: int
    seed: int
    numbers: dict[str, tuple[float, ...]]


def check_line(line: Line, where: str) -> Finding:
    """BadSettings for a line that no run of the experiment has written."""
    return build(Finding, line, where)


def jobs(recipe: Recipe, sets: Sequence[str]) -> Iterator[Probe]:
    """Every look at every sentence."""
    yield Probe(recipe, "kink", "F(x) = |x|", 1, 0)
    places = (*sets, *recipe.problems)
    for seed in range(recipe.runs):
        for name in ("lagged", "concave", "binary", "classes"):
            yield Probe(recipe, name, "random", 200, seed)
        yield from (Probe(recipe, "shift", place, min(recipe.sizes), seed) for place in places)
    for place in places:
        for n in recipe.sizes:
            yield from (Probe(recipe, "batch", place, n, seed) for seed in range(recipe.runs))


# ------------------------------------------------------------------------------------------- the gap


def _kink(probe: Probe) -> Numbers:
    """The paper's example: G + r1 = |x|, H = r2 = 0."""
    zero = Function(lambda x: 0.0, lambda x: 0.0 * x, (1,))
    P = Problem(Quadratic([[0.0]]), H=zero, r=L1(lam=1.0))
    return {"gap": [gap(P, [x]) for x in NEAR], "distance": [criticality(P, [x]) for x in NEAR]}


def _lagged(probe: Probe) -> Numbers:
    """The printed gap and the gap at the point itself, after exact steps."""
    rng = np.random.default_rng([probe.seed, 93])
    X = rng.standard_normal((probe.n, 5))
    P = erm(X, np.where(X[:, 0] > 0, 1.0, -1.0), "squared-sigmoid", Exponential(lam=0.005, alpha=5.0))
    states = list(islice(iterate(P, "dca"), 3))
    return {"printed": [lagged_gap(P, s.x, s.prev) for s in states], "own": [gap(P, s.x) for s in states]}


# ------------------------------------------------------------------------------------------- convexity


def excess(function: Callable[[Array], float], shape: tuple[int, ...], rng: np.random.Generator) -> tuple[float, float]:
    """Shares of random pairs with ½ f(x) + ½ f(y) − f((x + y)/2) above 0, and below: below never if f is convex."""
    up = down = 0
    for _ in range(_PAIRS):
        x, y = rng.standard_normal((2, *shape)) * rng.choice([0.3, 1.0, 3.0, 10.0])
        ends = 0.5 * function(x) + 0.5 * function(y)
        over = ends - function(0.5 * (x + y))
        up, down = up + (over > _ROUNDING * abs(ends)), down + (over < -_ROUNDING * abs(ends))
    return up / _PAIRS, down / _PAIRS


def _concave(probe: Probe) -> Numbers:
    """The exponential penalty, and the parts r1 and r2 that are used here."""
    r, rng = Exponential(lam=1.0, alpha=5.0), np.random.default_rng([probe.seed, 94])
    convex, _ = excess(r.value, (5,), rng)
    parts = [excess(f, (5,), rng)[1] for f in (r.r1, lambda x: r.r1(x) - r.value(x))]
    return {"not concave": [convex], "parts not convex": parts}


def _classes(probe: Probe) -> Numbers:
    """The multi-class loss and its largest curvature; as a control the binary loss, which is not convex."""
    rng = np.random.default_rng([probe.seed, 95])
    a, classes, signs = (rng.standard_normal((50, 4)), rng.integers(0, 3, 50), rng.choice([-1.0, 1.0], 50))
    many, two = Softmax(), SquaredSigmoid()
    _, down = excess(lambda W: float(np.mean(many.value(a @ W, classes))), (4, 3), rng)
    _, control = excess(lambda w: float(np.mean(two.value(a @ w, signs))), (4,), rng)
    top = []
    for c in (3, 10):
        z = rng.standard_normal((_PAIRS, c)) * rng.choice([1.0, 10.0, 100.0, 1000.0], (_PAIRS, 1))
        z[:, 1] = z[:, 0] + rng.standard_normal(_PAIRS) * 1e-2  # Two classes that are alike have the largest one.
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        bend = p[:, :, None] * np.eye(c) - p[:, :, None] * p[:, None, :]
        top.append(float(np.linalg.eigvalsh(bend)[:, -1].max()) / ((c - 1) / c))
    return {"not convex": [down], "binary not convex": [control], "share of L, c = 3 and 10": top}


def _binary(probe: Probe) -> Numbers:
    """The largest curvature of the binary loss over the printed L."""
    z = np.sort(np.random.default_rng([probe.seed, 96]).uniform(-8.0, 8.0, 100_000))
    slopes = SquaredSigmoid().slope(z, np.ones(len(z)))
    seen = float(np.max(np.abs(np.diff(slopes) / np.diff(z))))
    return {"share of L": [seen / ((39 + 55 * math.sqrt(33)) / 2304)]}


# ------------------------------------------------------------------------------------------- constants


def _problem(probe: Probe) -> tuple[Problem, Array]:
    """Form (S) on rows that the seed draws, or problem (M), and the point around which curvature is looked at."""
    if probe.problem in general.PROBLEMS:
        P, x0, *_ = general.PROBLEMS[probe.problem](probe.n, probe.recipe.dim)
        return P, x0
    X, y = source.rows(probe.problem)
    some = np.random.default_rng([probe.seed, 97]).permutation(len(y))[: probe.n]
    P = erm(X[some], y[some], "squared-sigmoid", Exponential(lam=1e-4, alpha=5.0))
    return P, np.zeros(P.shape)


def gradients(P: Problem, x: Array, rows: Array | None = None) -> Array:
    """∇h_i(x) of every component, (N, d); `rows`: those of `dense(P)`, where they are at hand"""
    own, rows = P.sum.all().slopes(x), dense(P) if rows is None else rows
    if rows is not None:
        own = own[:, None] * rows
    return P.G.grad(x) - own if P.f is not None else own + P.eta * x


def dense(P: Problem) -> Array | None:
    """The rows of the data as an array, (N, d); None for components that are no loss over rows"""
    f = P.sum.facts().rows
    if not isinstance(f, LinearSum):
        return None
    return np.asarray(f.a.dot(np.eye(f.a.shape[1], dtype=f.dtype)), np.float64)


def seen_L(P: Problem, x0: Array, seed: int, eta: float = 0.0) -> float:
    """The largest √(mean ‖∇h_i(x) − ∇h_i(y)‖²)/‖x − y‖ seen, η/2 ‖x‖² in every h_i: L of Assumption 2 from below."""
    rng, most, rows = np.random.default_rng([seed, 98]), 0.0, dense(P)
    for scale in (0.0, 0.3, 1.0):
        x = np.asarray(x0, np.float64) + scale * rng.standard_normal(len(x0))
        base, v = gradients(P, x, rows), rng.standard_normal(len(x))
        for _ in range(_TURNS):
            v = v / np.linalg.norm(v)
            apart = (gradients(P, x + _STEP * v, rows) - base) / _STEP + eta * v
            most = max(most, math.sqrt(float(np.mean((apart**2).sum(axis=1)))))
            v = np.linalg.eigh(apart.T @ apart)[1][:, -1]
    return most


def _batch(probe: Probe) -> Numbers:
    """4(1−p)L²/(pρ²), p = N^(−1/2), and what it must not exceed, ⌈√N⌉."""
    P, x0 = _problem(probe)
    n, L = probe.n, seen_L(P, x0, probe.seed)
    p = n**-0.5
    needed = 4.0 * (1.0 - p) * L**2 / (p * P.constants.rho**2)
    return {"ratio": [L / P.constants.rho], "needed over allowed": [needed / math.ceil(n**0.5)]}


def _shift(probe: Probe) -> Numbers:
    """L/ρ before and after the η for which the printed formula L/(ρ + 2η) gives ¼."""
    P, x0 = _problem(probe)
    L, rho = seen_L(P, x0, probe.seed), P.constants.rho
    eta = max(0.0, (L / PROMISED - rho) / 2.0)
    after = seen_L(P, x0, probe.seed, eta) / (rho + 2.0 * eta)
    return {"before": [L / rho], "after": [after], "promised": [L / (rho + 2.0 * eta)]}


STATEMENTS: dict[str, Callable[[Probe], Numbers]] = {
    "kink": _kink,
    "lagged": _lagged,
    "concave": _concave,
    "classes": _classes,
    "binary": _binary,
    "batch": _batch,
    "shift": _shift,
}
