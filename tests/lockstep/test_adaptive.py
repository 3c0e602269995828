"""kappa="adaptive": what a test of F promises, restored points, the numbers, refusals, problems without a G."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
from small import EXP, binary, matrix, signs, targets

import dcopt
from dcopt.adaptive import Adaptive, step
from dcopt.adaptive.memory import Adapted
from dcopt.convex import ScaledIdentity, UnknownScale
from dcopt.data.check import as_rows
from dcopt.draw import Draw
from dcopt.errors import BadSettings, CannotSolve
from dcopt.losses import LOSSES, Quartic
from dcopt.regularizers import L1
from dcopt.sums import LinearSum, WatchingSum

METHODS = ("dca", "dca-page", "dca-svrg", "mm-svrg", "mm-saga", "dca-saga", "sdca")


@cache
def logistic(n: int = 2000, d: int = 20) -> dcopt.Problem:
    """Columns of sizes 1 to 1/10, so that f has directions of very different curvature; nothing is told of f."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((n, d)) * np.logspace(0, -1, d)
    y = np.where(3.0 * X.sum(axis=1) + draw.logistic(size=n) > 0.0, 1.0, -1.0)
    f = dcopt.erm(X, y).f
    assert f is not None
    return dcopt.Problem(f=f, r=dcopt.regularizers.Exponential(lam=1 / n, alpha=5.0))


@cache
def general(form: str) -> dcopt.Problem:
    """Problem (M)"""
    draw = np.random.default_rng(1)
    if form == "robust":
        X = draw.normal(size=(900, 6))
        y = X @ draw.normal(size=6) + np.where(draw.random(900) < 0.3, 8.0, 0.1) * draw.normal(size=900)
        return dcopt.problems.robust_regression(X, y, "welsch", scale=1.0)
    A = draw.normal(size=(400, 5))
    return dcopt.problems.phase_retrieval(A, (A @ draw.normal(size=5)) ** 2, form=form)  # type: ignore[arg-type]


def start(P: dcopt.Problem) -> Any:
    return 0.2 * np.random.default_rng(2).standard_normal(P.shape)


def spoilt(state: dcopt.State, level: float) -> dcopt.State:
    """The same state with another κ for the steps to come: a State is all that a run knows."""
    return state._replace(memory=state.memory._replace(level=level)).thawed()


def windows(P: dcopt.Problem, method: Any, steps: int, how: Adaptive, first: float) -> Any:
    """Run with a first κ of `first` times the one that was found: (F, promise of the steps, F at the next good point)

    κ‖x_{t+1} − x_t‖² is added up here from the states alone, and F is evaluated here.
    """
    begin = next(dcopt.iterate(P, method, seed=0, kappa=how))
    before = spoilt(begin, begin.memory.level * first)
    told, restored = [], 0
    promised = begin.memory.level * float(np.sum((begin.x - begin.prev) ** 2))
    for state in islice(dcopt.iterate(P, method, seed=0, kappa=how, state=before), steps):
        memory, old = state.memory, before.memory
        if memory.good.t != old.good.t:
            told.append((P.value(old.good.x), promised, P.value(memory.good.x)))
            promised = 0.0
        elif memory.failures > old.failures:
            restored, promised = restored + 1, 0.0
            assert state.prev is not None and np.array_equal(state.prev, old.good.x)
            assert memory.level >= old.level  # It has risen already if batches showed the curvature.
        d = state.x - state.prev
        promised += memory.level * float(np.sum(d * d))
        assert memory.promised == pytest.approx(promised, rel=1e-9)
        before = state
    return told, restored


# ---- what an estimator is seen to do


def test_a_watched_sum_gives_the_same_numbers_and_tells_what_they_mean() -> None:
    f = logistic().f
    assert f is not None
    watch, draw = WatchingSum(f), Draw(3, 5)
    x, prev = np.linspace(0.1, 1.0, 20), np.linspace(0.3, -0.2, 20)
    assert np.array_equal(watch.sample(9, draw).diff(x, prev), f.sample(9, draw).diff(x, prev))
    y = f.sample(9, draw).grad(x) - f.sample(9, draw).grad(prev)
    assert watch.bend == pytest.approx(float(y @ (x - prev)) / float((x - prev) @ (x - prev)))
    assert watch.value_at(x) is None
    assert watch.all().grad(x) == pytest.approx(f.all().grad(x), rel=1e-12)
    assert watch.value_at(x) == f.look(x).f
    assert watch.value_at(x.copy()) is None, "only the point itself: a number of another point is never taken"


# ---- tests of F


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first", [1e-3, 1.0, 1e3])
def test_good_points_descend_by_a_share_of_what_the_steps_promised(method: str, first: float) -> None:
    how = Adaptive()
    told, _ = windows(logistic(), method, 250, how, first)
    assert len(told) >= 3
    for F, promised, there in told:
        assert there <= F - how.sigma * promised + 1e-12
    assert told[-1][2] < told[0][0]


@pytest.mark.parametrize("method", ["dca", "dca-page", "mm-saga"])
def test_a_kappa_that_is_too_small_is_found_out(method: str) -> None:
    """From the point of a thousandth of the κ that was found, F rises; the last good point is restored."""
    P = logistic()
    _, restored = windows(P, method, 60, Adaptive(), 1e-3)
    assert restored >= 1


def test_a_run_that_never_goes_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken version: every point is good."""

    def credulous(how: Adaptive, known: Adapted, here: Any, rounding: float) -> Adapted:
        return step.begin(known.inner, here, known.level, known.window, known.comes_free)

    monkeypatch.setattr(step, "_tested", credulous)
    with pytest.raises(AssertionError):
        test_good_points_descend_by_a_share_of_what_the_steps_promised("dca-page", 1e-3)


def test_a_step_out_of_the_numbers_is_made_again_with_a_larger_kappa() -> None:
    draw = np.random.default_rng(0)
    A = draw.normal(size=(50, 3))
    f = LinearSum(as_rows(A), Quartic(), np.zeros(50))
    P = dcopt.Problem(f=f, r="zero")
    assert P.G == UnknownScale()
    states = dcopt.iterate(P, "dca", seed=0, kappa="adaptive", x0=np.ones(3))
    state = next(states)
    far = next(dcopt.iterate(P, "dca", seed=0, kappa="adaptive", state=spoilt(state, 1e-320)))
    assert np.isfinite(far.x).all() and far.memory.level > 1e-320


def test_the_result_is_a_point_that_was_tested_if_the_last_one_is_higher() -> None:
    P, method = logistic(), "dca-page"
    begin = next(dcopt.iterate(P, method, seed=0, kappa="adaptive"))

    def spoil(P: dcopt.Problem, estimator: Any, solver: Any, how: Any, state: dcopt.State, seed: int) -> Iterator[Any]:
        return real(P, estimator, solver, how, spoilt(begin, 1e-3 * begin.memory.level), seed)

    real = step.adaptive_dca
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dcopt.method, "adaptive_dca", spoil)
        result = dcopt.solve(P, method, steps=4, seed=0, kappa="adaptive")
    assert P.value(result.state.x) > result.certificate.F == P.value(result.x)
    assert result.certificate.t == 0 and result.status is dcopt.Status.BUDGET


def test_the_notes_tell_the_last_kappa() -> None:
    result = dcopt.solve(logistic(), "dca-page", passes=5, seed=0, kappa="adaptive")
    assert f"kappa was adapted: {result.state.memory.level:.3g} at the end" in result.notes


# ---- problem (M)


@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-svrg", "dca-saga"])
@pytest.mark.parametrize("form", ["robust", "quartic", "bregman"])
def test_the_shift_of_a_general_G_is_adapted(form: str, method: str) -> None:
    P = general(form)
    states = list(islice(dcopt.iterate(P, method, seed=0, kappa="adaptive", x0=start(P)), 120))
    goods = {s.memory.good.t: s.memory.good for s in states}
    values = [P.value(good.x) for good in goods.values()]
    assert len(values) >= 3 and values == pytest.approx([good.F for good in goods.values()], rel=1e-9, abs=1e-12)
    rounding = 1e-12 * max(1.0, abs(values[0]))
    assert all(b <= a + rounding for a, b in zip(values, values[1:], strict=False)) and values[-1] < values[0]
    assert all(s.memory.level >= 0.0 for s in states)
    if method == "dca" and form != "bregman":
        assert {s.memory.level for s in states} == {0.0}, "an exact gradient of a convex H needs no shift"


def test_the_first_shift_is_what_the_estimator_needs() -> None:
    """s L_v along the first step: here all components are the same but for their weights, so that L_v is known."""
    draw = np.random.default_rng(0)
    w = draw.random(400) + 0.5
    w /= w.mean()
    f = LinearSum(as_rows(np.ones((400, 1))), LOSSES["squared"], np.zeros(400), w)
    P = dcopt.Problem(ScaledIdentity(3.0), H=f, r="zero")
    levels = [next(dcopt.iterate(P, "dca-page", seed=s, kappa="adaptive", x0=[1.0])).memory.level for s in range(200)]
    page = dcopt.METHODS["dca-page"].estimator(400)
    s_Lv = page.spread(400) * float(np.std(w))  # type: ignore[attr-defined]
    assert math.sqrt(np.mean(np.square(levels))) == pytest.approx(s_Lv, rel=0.15)


# ---- the numbers


def F_after(method: str, passes: float, how: Adaptive, seeds: int = 5) -> float:
    """The median F of the last good point"""
    P, ends = logistic(), []
    for seed in range(seeds if method != "dca" else 1):
        for state in dcopt.iterate(P, method, seed=seed, kappa=how):
            if state.spent.gradients / P.n > passes:  # type: ignore[operator]
                break
        ends.append(P.value(state.memory.good.x))
    return float(np.median(ends))


def plateau(how: Adaptive) -> float:
    """F after 30 steps, where the first step went to a plateau that is a little lower than x0."""

    def value(x: Any) -> float:
        u = x[0]
        return float(1.0 - np.exp(-0.5 * (u - 3.0) ** 2) - 0.02 * np.tanh(u / 20.0))

    def gradient(x: Any) -> Any:
        u = x[0]
        return np.array([(u - 3.0) * np.exp(-0.5 * (u - 3.0) ** 2) - 0.001 / np.cosh(u / 20.0) ** 2])

    P = dcopt.Problem(f=dcopt.Function(value, gradient, (1,)), r="zero")
    begin = next(dcopt.iterate(P, "dca", seed=0, kappa=how, x0=[0.0]))
    at_x0 = begin._replace(x=begin.memory.good.x, memory=begin.memory._replace(level=4e-4))
    known = at_x0.memory._replace(promised=0.0, moved=0.0, shifted=0.0, failures=0)
    *_, last = islice(dcopt.iterate(P, "dca", seed=0, kappa=how, state=at_x0._replace(memory=known)), 60)
    return min(P.value(last.x), last.memory.good.F)


def first_levels(how: Adaptive) -> list[float]:
    return [next(dcopt.iterate(logistic(), "dca-page", seed=s, kappa=how)).memory.level for s in range(6)]


OWN = Adaptive()
NUMBERS: dict[str, tuple[tuple[float, ...], Callable[[Adaptive], float]]] = {
    # A field, spoilt values, and what is larger with each of them
    "target": ((0.12, 0.99), lambda how: F_after("dca", 30.0, how)),
    "sigma": ((1e-9,), plateau),
    "factor": ((1.02,), lambda how: F_after("dca-page", 15.0, how)),
    "window": ((0.3, 30.0), lambda how: F_after("mm-saga", 15.0, how)),
    "margin": ((1000.0,), lambda how: F_after("dca-page", 15.0, how)),
}


@pytest.mark.parametrize(("name", "bad"), [(name, bad) for name, (values, _) in NUMBERS.items() for bad in values])
def test_a_spoilt_number_is_seen(name: str, bad: float) -> None:
    worse = NUMBERS[name][1]
    assert worse(replace(OWN, **{name: bad})) > worse(OWN) * 1.005


def test_every_number_is_in_the_table() -> None:
    assert {f.name for f in fields(Adaptive)} == {*NUMBERS, "first"}


@pytest.mark.parametrize("first", [1e-9, 1e-3, 1e3, 1e9])
def test_where_the_search_begins_matters_little(first: float) -> None:
    for one, own in zip(first_levels(Adaptive(first=first)), first_levels(OWN), strict=True):
        assert 0.5 < one / own < 2.0


@pytest.mark.parametrize(
    "bad", [{"target": 1.0}, {"target": 0.0}, {"sigma": 0.0}, {"sigma": 0.9}, {"factor": 1.0}, {"window": 0.0},
            {"margin": 0.5}, {"first": 0.0}, {"first": math.nan}],
)  # fmt: skip
def test_settings_outside_their_domain_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(BadSettings, match=next(iter(bad))):
        Adaptive(**bad)


def test_the_ratio_follows_the_share() -> None:
    how = Adaptive(target=0.5, factor=3.0)
    assert [how.ratio(q) for q in (0.5, 0.75, 0.25, -9.0, 1.0, 2.0)] == [1.0, 0.5, 1.5, 3.0, 1 / 3, 1 / 3]


# ---- refusals and settings


@pytest.mark.parametrize(
    ("method", "why"),
    [("dca-local", "curvature of f at x"), ("dca-nested", "curvature of f at x"), ("bdca", "not the convex program"),
     ("ssdc-spg", "not the convex program"), ("pdcae", "not the convex program")],
)  # fmt: skip
def test_methods_without_a_kappa_refuse_by_name(method: str, why: str) -> None:
    P = dcopt.erm(matrix(), signs(matrix()), "logistic", EXP)
    with pytest.raises(CannotSolve, match=f"{method} with kappa.*{why}"):
        dcopt.solve(P, method, kappa="adaptive", steps=1)


@pytest.mark.parametrize("decomposition", ["diagonal", "gram", "local"])
def test_metrics_that_are_made_of_the_data_refuse(decomposition: str) -> None:
    with pytest.raises(CannotSolve, match="majorize f|curvature of f at x"):
        dcopt.solve(binary(decomposition=decomposition), "dca-page", kappa="adaptive", steps=1)


def test_a_stream_and_a_plan_refuse() -> None:
    P = binary()
    with pytest.raises(BadSettings, match="kappa.*plan"):
        dcopt.solve(P, dcopt.plan(P, 0.1), kappa="adaptive")
    with pytest.raises(BadSettings, match="kappa.*plan"):
        dcopt.iterate(P, dcopt.plan(P, 0.1), kappa="adaptive")
    draw = np.random.default_rng(0)

    def source() -> Iterator[Any]:
        while True:
            X = draw.normal(size=(50, 3))
            yield X, np.where(X[:, 0] > 0, 1.0, -1.0)

    S = dcopt.stream(source(), classes=[-1.0, 1.0], holdout=60)
    with pytest.raises(CannotSolve, match="a stream has none"):
        dcopt.solve(S, "dca-page", kappa="adaptive", steps=1)


@pytest.mark.parametrize("kappa", [1.0, "adaptve", True, Adaptive])
def test_other_values_of_kappa_are_refused(kappa: Any) -> None:
    with pytest.raises(BadSettings, match="kappa"):
        dcopt.solve(binary(), kappa=kappa, steps=1)


def test_auto_takes_batches_where_there_are_many_components() -> None:
    few = dcopt.solve(binary(), kappa="adaptive", steps=1, seed=0)
    assert few.method == "dca" and few.notes[0].startswith("auto took dca: kappa is adapted")
    X = matrix(5000, 4)
    assert dcopt.solve(dcopt.erm(X, signs(X)), kappa="adaptive", steps=1, seed=0).method == "dca-page"


# ---- problems without a G


def test_a_left_out_G_takes_its_kappa_from_f() -> None:
    P, f = binary(), binary().f
    assert f is not None
    Q = dcopt.Problem(f=f, r=EXP)
    assert Q.G == P.G and Q.tunable
    same = dcopt.solve(P, "dca-saga", steps=9, seed=0), dcopt.solve(Q, "dca-saga", steps=9, seed=0)
    assert np.array_equal(same[0].x, same[1].x)
    square = dcopt.Function(lambda x: 2.0 * float(x @ x), lambda x: 4.0 * x, (2,), L=4.0)
    assert dcopt.Problem(f=square, r="zero").G == ScaledIdentity(4.0)


def test_where_f_knows_nothing_kappa_has_to_be_adapted() -> None:
    f = dcopt.Function(lambda x: 2.0 * float(x @ x), lambda x: 4.0 * x, (2,))
    P = dcopt.Problem(f=f, r=L1(lam=0.1))
    assert P.G == UnknownScale() and P.value(np.ones(2)) == pytest.approx(4.2)
    for method in ("dca", "dca-page", "mm-saga", "auto"):
        with pytest.raises(CannotSolve, match='smoothness of f is not known.*kappa="adaptive"'):
            dcopt.solve(P, method, x0=[1.0, 2.0])
    with pytest.raises(BadSettings, match="smoothness of f, which is not known"):
        dcopt.plan(P, 0.1)
    with pytest.raises(BadSettings, match="gap depends on κ"):
        dcopt.solve(P, "dca", kappa="adaptive", measure="gap")
    result = dcopt.solve(P, kappa="adaptive", x0=[1.0, 2.0], seed=0)
    assert result.status is dcopt.Status.CONVERGED and np.abs(result.x).max() < 1e-6


def test_G_and_f_may_not_both_be_missing() -> None:
    f = dcopt.Function(lambda x: float(x @ x), lambda x: 2.0 * x, (2,))
    with pytest.raises(BadSettings, match="G"):
        dcopt.Problem(H=f, r="zero")
    with pytest.raises(BadSettings, match="exactly one"):
        dcopt.Problem(r="zero")


def test_float32_and_targets_run_to_their_tolerance() -> None:
    X = matrix(400, 5).astype(np.float32)
    P = dcopt.erm(X, targets(X), "cauchy", L1(lam=0.01))
    result = dcopt.solve(P, "dca-page", kappa="adaptive", tol=1e-4, passes=400, seed=0)
    assert result.status is dcopt.Status.CONVERGED


def test_kappa_stays_a_number_where_no_test_ever_holds() -> None:
    """An estimator of −∇f: F rises with every step, and the run goes back again and again."""

    class Uphill:
        def check(self, n: Any) -> None: ...

        def start(self, f: Any, x: Any, draw: Any) -> Any:
            return dcopt.estimators.Estimate(-f.all().grad(x), None, dcopt.sums.Cost(f.n, f.n))

        def step(self, f: Any, x: Any, prev: Any, memory: Any, draw: Any) -> Any:
            return self.start(f, x, draw)

    states = list(islice(dcopt.iterate(logistic(), Uphill(), seed=0, kappa="adaptive"), 60))
    levels = [state.memory.level for state in states]
    assert states[-1].memory.good.F <= states[0].memory.good.F + 1e-12
    assert np.isfinite(levels).all() and max(state.memory.failures for state in states) >= 5
