"""How the laws of an estimator look: walks along given points, the truth beside them, every outcome of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..draw import Draw, Rows, Sampling
from ..errors import DcoptError
from ..estimators import PAGE, SAGA, SARAH, SVRG, Estimate, Estimator, Fresh, Full, LooplessSVRG
from ..sums import LinearSum, Sum
from ..xp import Array
from .base import demand
from .four_rows import N, gradients, points, sums

T = TypeVar("T")
_COINS = 16  # where the chance of a refresh is not known, coins are the middles of so many intervals


class Outcome(Draw):
    """A draw that takes prescribed turns; the same question has the same answer, as with every Draw."""

    __slots__ = ("p", "script", "chance", "_said")

    def __init__(self, t: int, p: float | None, script: list[tuple[int, int]]) -> None:
        super().__init__(0, t)
        self.p, self.script, self.chance = p, script, 1.0
        self._said: dict[Any, Any] = {}

    def coin(self) -> float:
        """Just below p with chance p, p itself otherwise: any other threshold would show."""
        p = self.p
        if p is None:
            return self._ask("coin", [((k + 0.5) / _COINS, 1.0 / _COINS) for k in range(_COINS)])
        sides = [(float(np.nextafter(p, 0.0)), p)] + [(p, 1.0 - p)] * (p < 1.0)
        return self._ask("coin", sides)

    def rows(self, n: int, b: int, sampling: Sampling = "iid") -> Rows:
        if sampling == "cyclic":
            return super().rows(n, b, sampling)
        every = list(product(range(n), repeat=b) if sampling == "iid" else combinations(range(n), b))
        return np.array(self._ask((n, b, sampling), [(rows, 1.0 / len(every)) for rows in every]), np.int64)

    def _ask(self, question: Any, answers: list[tuple[T, float]]) -> T:
        if question not in self._said:
            if len(self._said) == len(self.script):
                self.script.append((0, len(answers)))
            answer, chance = answers[self.script[len(self._said)][0]]
            self._said[question] = answer
            self.chance *= chance
        said: T = self._said[question]
        return said


def outcomes(t: int, p: float | None, act: Callable[[Outcome], T]) -> Iterator[tuple[float, T]]:
    """(chance, act(draw)) for every outcome of the draw of step t, each once: E is a finite sum."""
    script: list[tuple[int, int]] = []
    while True:
        draw = Outcome(t, p, script)
        result = act(draw)
        yield draw.chance, result
        while script and script[-1][0] + 1 == script[-1][1]:
            script.pop()
        if not script:
            return
        script[-1] = (script[-1][0] + 1, script[-1][1])


class Permuted(Draw):
    """The rows of another draw under their new names."""

    __slots__ = ("of", "names")

    def __init__(self, of: Draw, names: Rows) -> None:
        super().__init__(of.seed, of.t)
        self.of, self.names = of, names

    def coin(self) -> float:
        return self.of.coin()

    def rows(self, n: int, b: int, sampling: Sampling = "iid") -> Rows:
        return self.names[self.of.rows(n, b, sampling)]


KAPPA = 0.8
STEPS, SEEDS = 8, range(3)
KNOWN = (Full, Fresh, PAGE, SVRG, SAGA)  # These kinds and their subclasses have formulas for bias and variance.


class Step(NamedTuple):
    """A step about to be made: where the estimator stands, and where it goes."""

    t: int
    x: Array
    prev: Array
    before: Estimate


def walk(estimator: Estimator, f: Sum, path: list[Array], draw: Callable[[int], Draw]) -> Iterator[Estimate]:
    """The estimates along given points."""
    now = estimator.start(f, path[0], draw(0))
    yield now
    for t in range(1, len(path)):
        now = estimator.step(f, path[t], path[t - 1], now.memory, draw(t))
        yield now


def steps(estimator: Estimator, f: LinearSum) -> Iterator[Step]:
    """All steps of three walks; each may be made many times, from a copy of the memory."""
    path = points(f, STEPS)
    for seed in SEEDS:
        for t, now in enumerate(walk(estimator, f, path[:-1], draws(seed)), start=1):
            yield Step(t, path[t], path[t - 1], now._replace(memory=deepcopy(now.memory)))


def draws(seed: int) -> Callable[[int], Draw]:
    return lambda t: Draw(seed, t)


def everywhere(estimator: Estimator, f: LinearSum, at: Step) -> Iterator[tuple[float, Estimate]]:
    """The estimate after every outcome of the draw, with its chance."""

    def act(draw: Draw) -> Estimate:
        return estimator.step(f, at.x, at.prev, deepcopy(at.before.memory), draw)

    return outcomes(at.t, coin(estimator, at.t), act)


def cases(estimator: Estimator, n: int = N) -> list[LinearSum]:
    """The sums of n rows, for an estimator that takes them."""
    try:
        estimator.check(n)
    except DcoptError as why:
        demand(False, f"refuses {n} rows ({why}): the laws need batches of at most {n}")
    return sums(n)


def term(x: Array, estimate: Estimate) -> Array:
    """y = κ·at − g, the estimate of ∇H(x)"""
    return KAPPA * (x if estimate.at is None else estimate.at) - estimate.g


def truth(f: LinearSum, x: Array) -> Array:
    """∇H(x) = κx − ∇f(x)"""
    return KAPPA * x - np.mean(gradients(f, x), axis=0)


def near(a: Array, b: Array, what: str, tol: float = 1e-12) -> None:
    off = float(np.max(np.abs(np.asarray(a) - np.asarray(b)), initial=0.0))
    demand(off <= tol * (1.0 + float(np.max(np.abs(b), initial=0.0))), f"{what}: off by {off:.3g}")


def coin(estimator: Estimator, t: int = 1) -> float | None:
    """The chance of a refresh by coin in step t."""
    if isinstance(estimator, PAGE):
        return estimator.chance(t)
    return estimator.q if isinstance(estimator, LooplessSVRG) else None


def refresh(estimator: Any, t: int) -> float:
    """The chance that step t starts afresh."""
    p = coin(estimator, t)
    if isinstance(estimator, SARAH) or p is None:
        return float(t % getattr(estimator, "period", t + 1) == 0)
    return p


def spread(estimator: Any, b: int, n: int) -> float:
    """The variance of a mean of b rows in units of that of one row."""
    return (n - b) / max(n - 1, 1) / b if estimator.sampling == "distinct" else 1.0 / b


def in_order(estimator: Estimator) -> bool:
    """Cyclic batches are not random: they have no expectation."""
    return getattr(estimator, "sampling", "iid") == "cyclic"


def with_batch(estimator: Any, b: int) -> Any:
    """The same estimator with batches of b distinct rows, or None if it has no such settings."""
    names = {s.name for s in fields(estimator)} if is_dataclass(estimator) else set()
    sizes: dict[str, Any] = {name: b for name in names & {"b", "b_small"} if getattr(estimator, name) is not None}
    sizes |= {"b": None} if len(sizes) == 2 else {}  # PAGE takes b' < b, or b = None for all rows.
    return replace(estimator, **sizes, sampling="distinct") if sizes and "sampling" in names else None
