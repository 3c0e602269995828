"""Every estimator keeps every law, at several settings; broken ones do not, and a user's own is judged too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from dcopt.draw import Draw
from dcopt.errors import BadSettings, NeedsFiniteSum
from dcopt.estimators import ESTIMATORS, PAGE, SAG, SAGA, SARAH, SVRG, Estimate, Estimator, LooplessSVRG
from dcopt.estimators.base import OnlyG, cost_of
from dcopt.estimators.table import Table
from dcopt.laws.base import LawBroken, run
from dcopt.laws.estimators import LAWS
from dcopt.laws.four_rows import sums, variance_smoothness2
from dcopt.laws.walks import outcomes
from dcopt.sums import Cost
from dcopt.sums.constants import smoothness

OTHERS: dict[str, Estimator] = {
    "page-online": PAGE(p=0.3, b_small=1, b=3),
    "page-online-distinct": PAGE(p=0.5, b_small=2, b=3, sampling="distinct"),
    "page(p=1)": PAGE(p=1.0, b_small=1),
    "page-sequence": PAGE(p=(0.9, 0.0, 0.3), b_small=2),
    "page-online-sequence": PAGE(p=(1.0, 0.2), b_small=1, b=2, sampling="distinct"),
    "page(b'=3)": PAGE(p=0.125, b_small=3),
    "sarah-online": SARAH(b_small=1, b=2, period=2),
    "svrg(period=1)": SVRG(b_small=1),
    "loopless-svrg(q=1)": LooplessSVRG(b_small=1, q=1.0),
    "saga(b=1)": SAGA(b=1),
    "saga-inside(b=3)": SAGA(b=3, quadratic="inside"),
    "sag(b=1)": SAG(b=1),
}
SAMPLED = {
    f"{name}-{sampling}": replace(estimator, sampling=sampling)  # type: ignore[type-var]
    for name, estimator in ESTIMATORS.items()
    for sampling in ("distinct", "cyclic")
    if hasattr(estimator, "sampling")
}
ALL: dict[str, Any] = ESTIMATORS | OTHERS | SAMPLED


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ALL)
def test_law(name: str, law: str) -> None:
    LAWS[law](ALL[name])


# ---- the enumeration itself


def test_outcomes_are_all_and_their_chances_add_up() -> None:
    def act(draw: Draw) -> tuple[bool, tuple[int, ...]]:
        refresh = draw.coin() < 0.3
        return refresh, () if refresh else tuple(draw.rows(4, 2, "iid"))

    seen = list(outcomes(1, 0.3, act))
    assert sum(chance for chance, _ in seen) == pytest.approx(1.0, abs=1e-15)
    assert len(seen) == len({result for _, result in seen}) == 1 + 16
    assert sum(chance for chance, (refresh, _) in seen if refresh) == 0.3


def test_distinct_outcomes_are_the_subsets() -> None:
    seen = [tuple(rows) for _, rows in outcomes(0, None, lambda draw: draw.rows(4, 2, "distinct"))]
    assert seen == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_the_same_question_has_the_same_answer() -> None:
    for _, (one, two) in outcomes(0, None, lambda draw: (draw.rows(4, 2), draw.rows(4, 2))):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("case", [0, 1])
def test_variance_smoothness_is_the_constant_of_the_theory(case: int) -> None:
    f = sums()[case]
    assert variance_smoothness2(f) ** 0.5 == pytest.approx(smoothness(f).L_v, rel=1e-5)


# ---- broken estimators are refused


class ForgetsToCount(PAGE):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        estimate = super().step(sum, x, prev, memory, draw)
        return estimate._replace(cost=Cost(estimate.cost.paper, estimate.cost.paper))


class CountsTwice(SVRG):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        estimate = super().step(sum, x, prev, memory, draw)
        return estimate._replace(cost=Cost(estimate.cost.gradients, estimate.cost.gradients))


class Next(Draw):
    def rows(self, n: int, b: int, sampling: Any = "iid") -> Any:
        return (self.of.rows(n, b, sampling) + 1) % n

    def __init__(self, of: Draw) -> None:
        super().__init__(of.seed, of.t)
        self.of = of


class OtherRowsAtTheOtherPoint(PAGE):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        if self.refresh(draw):
            return self.start(sum, x, draw)
        here, there = (sum.sample(self.b_small, d, self.sampling) for d in (draw, Next(draw)))
        g = memory.g + here.grad(x) - there.grad(prev)
        return Estimate(g, OnlyG(g), Cost(2 * self.b_small, 2 * self.b_small))


class DoubleCounts(SAGA):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        batch = sum.sample(self.b, draw, self.sampling)
        rows, new = batch.rows, batch.slopes(x)
        correction = batch.pull(new - memory.slopes[rows])
        memory.slopes[rows] = new
        table = Table(memory.slopes, memory.mean + correction * (batch.size / sum.n), None)
        return Estimate(memory.mean + correction, table, cost_of(batch))


class RefreshesTooOften(PAGE):
    def refresh(self, draw: Draw) -> bool:
        return draw.coin() <= self.p  # once in 2⁵³ steps too often


class Damped(PAGE):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return super().step(sum, x, prev, OnlyG(0.9 * memory.g), draw)


class StartsWithASum(SVRG):
    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        estimate = super().start(sum, x, draw)
        return estimate._replace(g=estimate.g * sum.n)


class ForgetsTheSnapshot(SVRG):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return super().step(sum, x, prev, memory._replace(x=prev), draw)


class TakesTheMeanBefore(SAG):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return super().step(sum, x, prev, memory, draw)._replace(g=memory.mean)


class ExactQuadratic(SAGA):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return super().step(sum, x, prev, memory, draw)._replace(at=None)


class AvoidsTheFirstRow(PAGE):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        if self.refresh(draw) or 0 in sum.sample(self.b_small, draw, self.sampling).rows:
            return self.start(sum, x, draw)
        return super().step(sum, x, prev, memory, draw)


class RemembersItself(PAGE):
    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        estimate = super().start(sum, x, draw)
        object.__setattr__(self, "g", estimate.g)
        return estimate

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        estimate = super().step(sum, x, prev, OnlyG(self.g), draw)  # type: ignore[attr-defined]
        object.__setattr__(self, "g", estimate.g)
        return estimate


class DictMemory(PAGE):
    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        estimate = super().start(sum, x, draw)
        return estimate._replace(memory={"g": estimate.g})

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        estimate = super().step(sum, x, prev, OnlyG(memory["g"]), draw)
        return estimate._replace(memory={"g": estimate.g})


class AcceptsAnything(PAGE):
    def check(self, n: int | None) -> None:
        pass


class RefusesRudely(SVRG):
    def check(self, n: int | None) -> None:
        if n is None:
            raise BadSettings("n", None, "a number")
        super().check(n)


class WantsRowNumbers(PAGE):
    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        estimate = super().step(sum, x, prev, memory, draw)
        names = sum.sample(self.b_small, draw, self.sampling).rows
        return estimate if names is not None else estimate._replace(g=estimate.g + 1e-6)


class Widens(PAGE):
    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        estimate = super().start(sum, x, draw)
        return estimate._replace(memory=OnlyG(estimate.g.astype(np.float64)))


BROKEN: list[tuple[Estimator, str]] = [
    (ForgetsToCount(p=0.25, b_small=2), "cost-is-what-was-evaluated"),
    (CountsTwice(b_small=2, period=3), "cost-is-what-was-evaluated"),
    (OtherRowsAtTheOtherPoint(p=0.25, b_small=2), "variance-recursion"),
    (OtherRowsAtTheOtherPoint(p=0.25, b_small=2), "exact-at-rest"),
    (ForgetsTheSnapshot(b_small=1, period=9), "variance-recursion"),
    (DoubleCounts(b=2), "table-means-are-means"),
    (DoubleCounts(b=2), "table-is-the-textbooks"),
    (DoubleCounts(b=2), "bias-is-the-methods"),
    (ExactQuadratic(b=2, quadratic="inside"), "table-is-the-textbooks"),
    (TakesTheMeanBefore(b=2), "bias-is-the-methods"),
    (TakesTheMeanBefore(b=2), "exact-with-all-rows"),
    (RefreshesTooOften(p=0.25, b_small=2), "bias-is-the-methods"),
    (RefreshesTooOften(p=0.25, b_small=2), "variance-recursion"),
    (Damped(p=0.25, b_small=2), "bias-is-the-methods"),
    (Damped(p=0.25, b_small=2), "exact-with-all-rows"),
    (Damped(p=0.25, b_small=2), "exact-with-one-row"),
    (Damped(p=0.25, b_small=2), "exact-with-equal-rows"),
    (StartsWithASum(b_small=2, period=3), "starts-unbiased"),
    (AvoidsTheFirstRow(p=0.25, b_small=2), "names-of-rows-do-not-matter"),
    (RemembersItself(p=0.25, b_small=2), "memory-is-all"),
    (DictMemory(p=0.25, b_small=2), "memory-is-all"),
    (AcceptsAnything(p=0.25, b_small=2), "stream-is-refused-or-served"),
    (AcceptsAnything(p=0.25, b_small=2), "too-large-batches-are-refused"),
    (RefusesRudely(b_small=2), "stream-is-refused-or-served"),
    (WantsRowNumbers(p=0.25, b_small=1, b=2), "stream-is-refused-or-served"),
    (Widens(p=0.25, b_small=2), "precision-is-kept"),
]


@pytest.mark.parametrize(("broken", "law"), BROKEN, ids=lambda x: x if isinstance(x, str) else type(x).__name__)
def test_broken_estimator_is_refused(broken: Estimator, law: str) -> None:
    with pytest.raises(LawBroken):
        LAWS[law](broken)


def test_every_law_refuses_something() -> None:
    assert {law for _, law in BROKEN} == set(LAWS)


def test_all_broken_laws_are_named_at_once() -> None:
    with pytest.raises(LawBroken, match="ForgetsToCount breaks cost-is-what-was-evaluated: .* cost says"):
        run(LAWS, ForgetsToCount(p=0.25, b_small=2))


def test_batches_that_cannot_be_enumerated_are_refused_in_words() -> None:
    with pytest.raises(LawBroken, match="batches of at most 4"):
        LAWS["starts-unbiased"](PAGE(p=0.1, b_small=50))


# ---- a user's own


class Nothing(NamedTuple):
    """No memory."""


class SGD:
    """g_t = ∇f_I(x_t): no dataclass, no known kind, works on a stream."""

    def check(self, n: int | None) -> None:
        pass

    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        batch = sum.sample(1, draw)
        return Estimate(batch.grad(x), Nothing(), cost_of(batch))

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return self.start(sum, x, draw)


@dataclass(frozen=True)
class STORM:
    """g_t = ∇f_I(x_t) + (1 − a)(g_{t−1} − ∇f_I(x_{t−1}))"""

    a: float
    b_small: int
    sampling: Any = "iid"

    def check(self, n: int | None) -> None:
        if n is None:
            raise NeedsFiniteSum("STORM")
        if self.b_small > n:
            raise BadSettings("b_small", self.b_small, "at most N")

    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        batch = sum.all()
        return Estimate(batch.grad(x), OnlyG(batch.grad(x)), cost_of(batch, points=2))

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        batch = sum.sample(self.b_small, draw, self.sampling)
        g = batch.grad(x) + (1 - self.a) * (memory.g - batch.grad(prev))
        return Estimate(g, OnlyG(g), cost_of(batch, points=2))


@pytest.mark.parametrize("own", [SGD(), STORM(a=0.2, b_small=2), STORM(a=0.5, b_small=2, sampling="distinct")])
def test_a_users_own_estimator_is_judged_by_what_it_is(own: Estimator) -> None:
    assert run(LAWS, own) == list(LAWS)


def test_a_users_own_estimator_is_charged() -> None:
    class Cheap(SGD):
        def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
            return super().start(sum, x, draw)._replace(cost=Cost(0, 0))

    with pytest.raises(LawBroken, match="^Cheap breaks cost-is-what-was-evaluated: 1 gradients were"):
        run(LAWS, Cheap())
