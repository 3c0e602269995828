"""D. How runs end: the status is true of the x that comes with it."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import slow
from faults import WARM_UP, Fault, FaultyRows
from slow import Penalty
from small import EXP, METHODS, binary, matrix, signs, targets

import dcopt
from dcopt import BadSettings, Problem, Status, erm, iterate, solve
from dcopt.data.check import as_rows
from dcopt.draw import uniform_index
from dcopt.estimators import ESTIMATORS, PAGE, SVRG
from dcopt.measures import criticality, gap, lagged_gap
from dcopt.regularizers import L1, MCP, REGULARIZERS, ElasticNet, Exponential
from dcopt.runs.driver import Driver
from dcopt.runs.stop import Passes, Rule, Seconds, Steps, Tol
from dcopt.subproblems import Inner, choose, prox


@pytest.fixture(autouse=True)
def _every_result_is_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every result: a finite x, a sentence, a certificate that belongs to x."""

    def noted(*args: Any, **options: Any) -> dcopt.Result:
        result = dcopt.solve(*args, **options)
        assert np.isfinite(result.x).all()
        assert result.message and result.status.name in str(result)
        if result.status is Status.CONVERGED:
            assert result.certificate.tol is not None and result.certificate.value <= result.certificate.tol
        return result

    monkeypatch.setitem(globals(), "solve", noted)


class Clock:
    """A clock that moves when told to."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in ("driver", "run"):
        monkeypatch.setattr(f"dcopt.runs.{module}.clock", clock)
    return clock


# ---- D1: NaN from the data


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [0, 1, 37])
@pytest.mark.parametrize("name", ["exponential", "zero", "box"])
def test_d1_a_nan_in_step_k_ends_the_run_there(method: str, k: int, name: str) -> None:
    armed = False

    def arm(state: dcopt.State) -> None:
        nonlocal armed
        armed = state.t == k

    def when(call: Any) -> bool:  # step 0 follows the first look (two calls)
        nonlocal armed
        now, armed = armed, False
        return now or (k == 0 and call.number == WARM_UP + 2)

    P = binary(wrap=lambda rows: FaultyRows(rows, "nan", when), regularizer=name)
    result = solve(P, method, steps=60, seed=0, trace=None, callbacks=[arm])
    assert result.status is Status.DIVERGED
    assert result.steps == k and f"step {k + 1} " in result.message
    clean = [
        np.zeros(6),
        *(s.x for s, _ in zip(iterate(binary(regularizer=name), method, seed=0), range(k), strict=False)),
    ]
    np.testing.assert_array_equal(result.x, clean[k])


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("method", ["dca", "dca-page", "mm-saga"])
def test_d1_no_regularizer_swallows_it(name: str, method: str) -> None:
    P = binary(
        wrap=lambda rows: FaultyRows(rows, "nan", lambda call: call.number >= 20 and call.verb == "tdot"),
        regularizer=name,
    )
    result = solve(P, method, steps=60, seed=0, trace=None)
    assert result.status is Status.DIVERGED


@pytest.mark.parametrize(
    ("kind", "when"), [("refresh", lambda call: call.rows is None), ("correction", lambda call: call.verb == "pair")]
)
@pytest.mark.parametrize("estimator", [PAGE(p=0.2, b_small=4), SVRG(b_small=4, period=5)], ids=["page", "svrg"])
def test_d1_in_a_refresh_and_in_a_correction(kind: str, when: Any, estimator: Any) -> None:
    rows = FaultyRows(as_rows(matrix()), "nan", lambda call: call.number > 20 and when(call))
    result = solve(erm(rows, signs(matrix()), regularizer=EXP), estimator, steps=60, seed=0, trace=None)
    assert result.status is Status.DIVERGED and 0 < result.steps < 60
    assert rows.hits and (rows.hits[0].rows is None) == (kind == "refresh")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("measure", ["gap", "criticality"])
def test_d1_wherever_it_is_born(method: str, measure: str) -> None:
    """Every call in turn, steps, checks and traces alike."""
    watch = FaultyRows(as_rows(matrix(12, 3)))
    options = {"passes": 7, "tol": 1e-5, "measure": measure, "scale": 1.0, "seed": 0, "trace": 3.0}
    whole = solve(erm(watch, signs(matrix(12, 3)), regularizer=EXP), method, **options)
    assert whole.status in (Status.CONVERGED, Status.BUDGET)
    for k in range(WARM_UP, len(watch.log)):
        rows = FaultyRows(as_rows(matrix(12, 3)), "nan", k)
        result = solve(erm(rows, signs(matrix(12, 3)), regularizer=EXP), method, **options)
        assert len(rows.hits) == 1
        assert result.steps <= whole.steps
        if result.status is not Status.DIVERGED:  # born in the last step, in the memory for a next one
            np.testing.assert_array_equal(result.x, whole.x)
            again = iterate(binary(12, 3), method, seed=0, state=result.state)
            with np.errstate(invalid="ignore"):
                assert result.status is Status.BUDGET and not np.isfinite(next(again).x).all(), (k, rows.hits)


def test_d1_softmax_and_csr() -> None:
    rows = FaultyRows(as_rows(sp.csr_array(matrix(30, 4))), "nan", 15)
    P = erm(rows, np.arange(30) % 3, "softmax", Exponential(lam=0.01, alpha=5.0, groups="rows"))
    assert solve(P, "dca", steps=30, seed=0).status is Status.DIVERGED


@pytest.mark.parametrize("method", METHODS)
def test_d1_an_error_of_the_data_reaches_the_caller(method: str) -> None:
    handler = signal.getsignal(signal.SIGINT)
    P = binary(wrap=lambda rows: FaultyRows(rows, "raise", 30))
    with pytest.raises(Fault, match="call 30"):
        solve(P, method, steps=60, seed=0)
    assert signal.getsignal(signal.SIGINT) is handler


# ---- D2: budgets and tolerances


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("budget", "status"), [("passes", Status.BUDGET), ("steps", Status.BUDGET), ("seconds", Status.TIME)]
)
def test_d2_nothing_to_spend_is_x0(method: str, budget: str, status: Status) -> None:
    x0 = np.linspace(-1, 1, 6)
    result = solve(binary(), method, seed=0, x0=x0, **{budget: 0})
    assert result.status is status and result.steps == 0 and result.spent.gradients == 0
    np.testing.assert_array_equal(result.x, x0)
    assert result.certificate.value == pytest.approx(criticality(binary(), x0)) and len(result.trace) == 1


@pytest.mark.parametrize("method", METHODS)
def test_d2_tol_zero_is_never_met_but_by_zero(method: str) -> None:
    result = solve(binary(), method, tol=0, passes=3, seed=0)
    assert result.status is Status.BUDGET and result.certificate.value > 0
    assert solve(binary(regularizer=L1(1e3)), method, tol=0, seed=0).status is Status.CONVERGED  # x0 = 0 is exact


@pytest.mark.parametrize("bad", [-1, -1e-300, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("setting", "rule"), [("tol", Tol), ("seconds", Seconds), ("passes", Passes), ("loose_tol", None)]
)
def test_d2_nan_and_negatives_are_refused(setting: str, rule: Any, bad: float) -> None:
    with pytest.raises(BadSettings) as caught:
        solve(binary(), **{setting: bad})
    assert caught.value.setting == setting
    if rule is not None:
        with pytest.raises(BadSettings):
            rule(bad)


@pytest.mark.parametrize("passes", [0.5, 1, 3.7, 10])
@pytest.mark.parametrize("method", METHODS)
def test_d2_a_budget_is_kept_to_one_step(method: str, passes: float) -> None:
    P = binary(500)
    result = solve(P, method, passes=passes, seed=0)
    spent = [s.spent.gradients for s, _ in zip(iterate(P, method, seed=0), range(result.steps), strict=False)]
    assert passes * 500 <= result.spent.gradients <= passes * 500 + max(np.diff([0, *spent]), default=0)
    assert result.spent.paper <= result.spent.gradients
    assert solve(P, method, steps=7, seed=0).steps == 7


def test_d2_time_is_the_methods_own(clock: Clock) -> None:
    rows = FaultyRows(as_rows(matrix()), "sleep", seconds=1.0, sleep=clock.sleep)
    P = erm(rows, signs(matrix()), regularizer=EXP)
    result = solve(P, "dca", seconds=20.0, seed=0)
    assert result.status is Status.TIME and result.steps == 10  # two products a step; looking costs nothing
    assert result.seconds == 20.0 and result.trace["seconds"] == [2.0 * t for t in range(11)]


def test_d2_a_real_clock_ends_a_real_run() -> None:
    result = solve(binary(), "dca-page", seconds=0.2, seed=0)
    assert result.status is Status.TIME and result.seconds >= 0.2


@pytest.mark.parametrize("order", [1, -1])
def test_d2_rules_join(order: int) -> None:
    def joined(*rules: Rule) -> Rule:
        one, two = rules[::order]
        return one | two

    assert solve(binary(), stop=joined(Steps(3), Passes(100)), seed=0).steps == 3
    assert solve(binary(), "dca", stop=Steps(3) & Passes(9), seed=0).steps == 9
    both = solve(binary(), "dca", stop=joined(Tol(1e-3), Tol(1e-9)), passes=5000, seed=0)
    assert both.status is Status.CONVERGED and both.certificate.tol == 1e-3 and both.certificate.value > 1e-9
    met = solve(binary(), "dca", stop=Tol(1e-3) & Steps(40), passes=5000, seed=0)
    assert met.status is Status.CONVERGED and met.steps >= 40


def test_d2_the_looser_of_tol_and_stop_ends_the_run() -> None:
    result = solve(binary(), "dca", tol=1e-9, stop=Tol(1e-3), passes=5000, seed=0)
    assert result.status is Status.CONVERGED and 1e-9 < result.certificate.value <= 1e-3


@pytest.mark.parametrize("claim", [Status.CONVERGED, Status.ACCEPTABLE])
@pytest.mark.parametrize("options", [{}, {"tol": 1e-12}, {"tol": 1e-12, "loose_tol": 1e-11}])
def test_d2_a_rule_that_claims_success_is_not_believed(claim: Status, options: dict[str, float]) -> None:
    class Hopeful(Rule):
        def __call__(self, run: Any) -> Status | None:
            return claim if run.t >= 3 else None

    result = solve(binary(), "dca", stop=Hopeful(), seed=0, **options)
    assert not result.success and result.steps == 3


# ---- D3: the toy of scikit-learn#13021


@pytest.mark.parametrize("method", [*METHODS, *ESTIMATORS])
def test_d3_three_rows_two_hundred_seeds(method: str) -> None:
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-1.0, 0.0, 1.0])
    P = erm(X, y, "squared", ElasticNet(lam=0.15, mu=0.35))
    answer = (2 / 3 - 0.15) / (2 / 3 + 0.35)  # 0.50819…
    how = ESTIMATORS.get(method, method)
    seeds, converged = (200 if method in METHODS else 50), 0
    for seed in range(seeds):
        result = solve(P, how, tol=1e-6, measure="criticality", passes=60, seed=seed, trace=None)
        assert result.steps > 0
        if result.status is Status.CONVERGED:
            converged += 1
            assert abs(result.x[0] - answer) <= 1e-6 / (2 / 3 + 0.35) + 1e-12
        else:
            assert result.certificate.value > 1e-6
    assert converged >= 0.75 * seeds


# ---- D4: steps of length zero


def test_d4_a_step_of_zero_is_no_end() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    P = erm(X, [0, 1, 1, 0])
    seen = []
    result = solve(
        P,
        PAGE(p=1.0, b=1, b_small=1),
        steps=200,
        seed=0,
        tol=1e-12,
        callbacks=[lambda s: seen.append((s.x.copy(), s.prev.copy())) or None],
    )
    still = sum(np.array_equal(x, prev) for x, prev in seen)
    assert result.status is Status.BUDGET and result.steps == 200
    assert 100 < still < 200 and np.array_equal(*seen[0])


@pytest.mark.parametrize("method", METHODS)
def test_d4_symmetric_rows(method: str) -> None:
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]] * 5)  # the mean gradient at 0 is 0: a true critical point
    P = erm(X, [1, 1, 0, 0] * 5, "logistic")
    result = solve(P, method, tol=1e-9, passes=10, seed=0)
    assert result.status is Status.CONVERGED and result.steps == 0
    moved = solve(P, method, tol=1e-9, passes=500, seed=0, x0=np.array([0.5]))
    assert moved.status is not Status.CONVERGED or abs(moved.x[0]) < 1e-3


# ---- D5: the golden test, on small data

GRIDS: dict[str, tuple[Any, ...]] = {  # X, y, loss, regularizer, the same for the slow evaluation, weights
    "binary": (matrix(60, 5), signs(matrix(60, 5)), "squared-sigmoid", EXP, Penalty("exponential", 0.002, 5.0), None),
    "weighted": (
        matrix(60, 5), signs(matrix(60, 5)), "logistic", L1(0.02), Penalty("l1", 0.02, free=1),
        np.arange(60) % 4 + 0.5,
    ),
    "regression": (matrix(50, 4), targets(matrix(50, 4)), "squared", MCP(0.05, 3.0), Penalty("mcp", 0.05, 3.0), None),
    "classes": (
        matrix(60, 4), np.arange(60) % 3, "softmax", Exponential(lam=0.01, alpha=3.0, groups="rows"),
        Penalty("exponential", 0.01, 3.0, rows=True), None,
    ),
}  # fmt: skip
REACHED = {  # gap and criticality that every method reaches in 400 passes
    "binary": (4e-5, 6e-3), "weighted": (4e-5, 1e-2), "regression": (1e-8, 1e-4), "classes": (1e-7, 1e-3),
}  # fmt: skip


def _golden(name: str, form: Any) -> tuple[Problem, Any]:
    X, y, loss, r, penalty, weights = GRIDS[name]
    P = erm(form(X), y, loss, r, sample_weight=weights, intercept=penalty.free == 1)
    wide = np.hstack([X, np.ones((len(X), 1))]) if penalty.free else X
    return P, lambda x: slow.evaluate(wide, y, loss, penalty, x, weights)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("measure", ["gap", "criticality"])
@pytest.mark.parametrize("method", METHODS)
def test_d5_converged_means_converged(name: str, measure: str, method: str) -> None:
    P, evaluate = _golden(name, sp.csr_array if (name in ("binary", "classes")) == (measure == "gap") else np.asarray)
    tol = REACHED[name][measure != "gap"]
    ends = set()
    for passes, output in ((2, "last"), (30, "best"), (30, "last"), (400, "best")):
        result = solve(P, method, atol=tol, measure=measure, passes=passes, seed=1, output=output)
        truth = evaluate(result.x)
        assert result.certificate.value == pytest.approx(getattr(truth, measure), rel=1e-6, abs=1e-13)
        assert result.certificate.F == pytest.approx(truth.F, rel=1e-12)
        if result.status is Status.CONVERGED:
            assert getattr(truth, measure) <= tol * (1 + 1e-9)
        else:
            assert result.status is Status.BUDGET and getattr(truth, measure) > tol * (1 - 1e-9)
        ends.add(result.status)
    assert ends == {Status.BUDGET, Status.CONVERGED}  # two passes are not enough


@pytest.mark.parametrize("name", GRIDS)
def test_d5_measures_are_the_slow_ones_anywhere(name: str) -> None:
    P, evaluate = _golden(name, np.asarray)
    rng = np.random.default_rng(0)
    for k in range(20):
        x = rng.standard_normal(P.shape) * 10.0 ** -(k % 4) * (rng.random(P.shape) < 0.7)
        truth = evaluate(x)
        assert P.value(x) == pytest.approx(truth.F, rel=1e-12)
        assert gap(P, x) == pytest.approx(truth.gap, rel=1e-9, abs=1e-14)
        assert criticality(P, x) == pytest.approx(truth.criticality, rel=1e-9)


# ---- D6: the lagged gap


def test_d6_the_lagged_gap_ends_nothing() -> None:
    P = binary()
    x0 = np.full(6, 0.3)
    result = solve(P, "dca", atol=1e-6, measure="gap", passes=5000, seed=0, x0=x0)
    x1 = next(iterate(P, "dca", x0=x0)).x
    assert lagged_gap(P, x1, x0) <= 1e-15 and gap(P, x1) > 1e-6
    assert result.status is Status.CONVERGED and result.steps > 1 and gap(P, result.x) <= 1e-6
    for measure in ("lagged_gap", "lagged"):
        with pytest.raises(BadSettings):
            solve(P, tol=1e-6, measure=measure)


# ---- D8: the convex program


def _inexact(after: int, residual: float) -> Any:
    calls = 0

    def subsolver(G: Any, r: Any, y: Any, warm: Any, tol: float) -> Inner:
        nonlocal calls
        calls += 1
        exact = prox(G, r, y, warm, tol)
        return exact if calls <= after else Inner(exact.x + 1.0, residual, 1)

    return subsolver


@pytest.mark.parametrize("residual", [1e-3, 1e300, math.inf, math.nan])
@pytest.mark.parametrize("method", METHODS)
def test_d8_an_unsolved_program_ends_the_run(residual: float, method: str) -> None:
    result = solve(binary(), method, steps=60, tol=1e-12, seed=0, subsolver=_inexact(4, residual))
    assert result.status is Status.SUBPROBLEM and result.steps == 4
    assert f"{residual:.3g}" in result.message
    clean = [s.x for s, _ in zip(iterate(binary(), method, seed=0), range(4), strict=False)]
    np.testing.assert_array_equal(result.x, clean[-1])  # the last good point
    assert result.certificate.value == pytest.approx(criticality(binary(), result.x))


def test_d8_a_residual_below_the_tolerance_goes_on() -> None:
    P = binary()
    result = solve(
        P, "dca", steps=9, seed=0, subsolver=lambda *args, **how: prox(*args, **how)._replace(residual=P.inner_tol)
    )
    assert result.status is Status.BUDGET and choose(P.G, P.r) is prox


# ---- D9: which point is handed out


@pytest.mark.parametrize("method", METHODS)
def test_d9_the_uniform_output_is_what_was_announced(method: str) -> None:
    P = binary()
    for seed in range(5):
        result = solve(P, method, steps=30, seed=seed, output="uniform")
        index = uniform_index(seed, 30)
        states = [s.x for s, _ in zip(iterate(P, method, seed=seed), range(30), strict=False)]
        assert 1 <= index <= 30 and result.certificate.t == index and result.steps == 30
        np.testing.assert_array_equal(result.x, states[index - 1])
        assert result.certificate.value == pytest.approx(criticality(P, result.x), rel=1e-9)
        assert result.certificate.F == pytest.approx(P.value(result.x), rel=1e-12)


def test_d9_uniform_is_uniform() -> None:
    counts = np.bincount([uniform_index(seed, 10) for seed in range(5000)], minlength=11)[1:]
    assert np.sum((counts - 500) ** 2 / 500) < 9 + 6 * math.sqrt(18)


def test_d9_uniform_holds_one_candidate() -> None:
    alive: list[Any] = []
    import weakref

    solve(
        binary(),
        "dca",
        steps=50,
        seed=3,
        output="uniform",
        callbacks=[lambda s: alive.append(weakref.ref(s.x.base)) or None],
    )
    assert sum(ref() is not None for ref in alive) == 0


@pytest.mark.parametrize("method", METHODS)
def test_d9_the_best_is_the_best_of_the_trace(method: str) -> None:
    result = solve(binary(), method, passes=8, seed=0, output="best")
    assert result.certificate.F == min(result.trace["F"])
    assert binary().value(result.x) == pytest.approx(result.certificate.F, rel=1e-12)


def test_d9_uniform_with_tol_is_refused() -> None:
    with pytest.raises(BadSettings, match="uniform"):
        solve(binary(), tol=1e-3, output="uniform")


# ---- D12: observers


def test_d12_an_observer_that_raises() -> None:
    def bad(state: dcopt.State) -> None:
        if state.t == 5:
            raise KeyError("mine")

    result = solve(binary(), steps=60, seed=0, callbacks=[bad])
    assert result.status is Status.INTERRUPTED and isinstance(result.error, KeyError) and result.steps == 5
    assert "mine" in result.message


def test_d12_an_observer_that_has_seen_enough() -> None:
    result = solve(binary(), steps=60, seed=0, callbacks=[lambda state: state.t >= 5])
    assert result.status is Status.INTERRUPTED and result.steps == 5 and result.error is None


def test_d12_observers_are_not_on_the_clock(clock: Clock) -> None:
    result = solve(binary(), "dca", steps=5, seconds=1.0, seed=0, callbacks=[lambda s: clock.sleep(100.0)])
    assert result.status is Status.BUDGET and result.steps == 5 and result.seconds == 0.0


def _arrays(thing: Any) -> Iterator[np.ndarray]:
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, tuple):
        for part in thing:
            yield from _arrays(part)


@pytest.mark.parametrize("method", [*METHODS, *ESTIMATORS])
def test_d12_an_observer_cannot_write_into_the_state(method: str) -> None:
    how = ESTIMATORS.get(method, method)
    want = solve(binary(), how, steps=20, seed=0).x
    tried = 0

    def meddle(state: dcopt.State) -> None:
        nonlocal tried
        for array in _arrays(tuple(state)):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
            tried += 1
        with pytest.raises(AttributeError):
            state.t = 0  # type: ignore[misc]

    result = solve(binary(), how, steps=20, seed=0, callbacks=[meddle])
    assert result.status is Status.BUDGET and tried >= 60
    np.testing.assert_array_equal(result.x, want)


def test_d12_an_observer_that_writes_all_the_same_ends_the_run() -> None:
    def careless(state: dcopt.State) -> None:
        state.x[:] = 0.0

    result = solve(binary(), steps=20, seed=0, callbacks=[careless])
    assert result.status is Status.INTERRUPTED and isinstance(result.error, ValueError)


@pytest.mark.parametrize("method", METHODS)
def test_d12_tracing_and_watching_change_nothing(method: str) -> None:
    options = {"passes": 60, "tol": 1e-6, "measure": "criticality", "seed": 0}
    kinds = ((None, []), (0.5, []), (1.0, [lambda state: None]), (7.0, []))
    runs = [solve(binary(), method, trace=every, callbacks=watch, **options) for every, watch in kinds]
    assert len({(r.status, r.steps, r.spent, r.x.tobytes(), r.message) for r in runs}) == 1


def test_d12_slow_progress_is_not_called_stalled() -> None:
    """F falls at every check, the measure by less than 1 % a check: whoever traces must not see another end."""
    X = matrix(60, 5)
    scales = np.array([1.0, 1.0, 1.0, 0.02, 0.01])
    P = erm(X * scales, targets(X), "squared")
    for every in (None, 1.0):
        result = solve(P, "dca", tol=1e-12, measure="criticality", passes=2000, seed=0, trace=every)
        assert result.status is Status.BUDGET, result.message


# ---- D13: what checks cost


@pytest.mark.parametrize("method", METHODS)
def test_d13_checks_are_counted_apart_and_are_few(method: str) -> None:
    watch = FaultyRows(as_rows(matrix()))
    P = erm(watch, signs(matrix()), regularizer=EXP)
    result = solve(P, method, tol=1e-14, passes=100, seed=0, trace=None)
    assert result.status is Status.BUDGET
    assert 40 * 100 / 5 <= result.spent.checks <= 40 * (100 / 5 + 2)  # a fifth, the first and the last
    forward = [
        40 if c.rows is None else len(c.rows) * (2 if c.verb == "pair" else 1) for c in watch.log if c.verb != "tdot"
    ]
    assert sum(forward[2:]) <= result.spent.gradients + result.spent.checks + 40
    assert sum(forward[2:]) >= result.spent.gradients
    free = solve(P, method, passes=100, seed=0, trace=None)
    assert free.spent.gradients == result.spent.gradients and free.spent.checks <= 40
    np.testing.assert_array_equal(free.x, result.x)


# ---- Ctrl-C


@pytest.fixture
def default_sigint() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_sigint")
@pytest.mark.parametrize("method", METHODS)
def test_d10_ctrl_c_gives_a_result(method: str) -> None:
    def interrupt(state: dcopt.State) -> None:
        if state.t == 4:
            signal.raise_signal(signal.SIGINT)

    result = solve(binary(), method, steps=60, seed=0, callbacks=[interrupt])
    assert result.status is Status.INTERRUPTED and result.steps == 4 and result.message == "Ctrl-C"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    np.testing.assert_array_equal(
        result.x, [s.x for s, _ in zip(iterate(binary(), method, seed=0), range(4), strict=False)][-1]
    )


@pytest.mark.usefixtures("default_sigint")
def test_d10_a_second_ctrl_c_raises() -> None:
    def impatient(state: dcopt.State) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        solve(binary(), steps=60, seed=0, callbacks=[impatient])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_sigint")
def test_l8_a_run_inside_of_another_ends_with_it() -> None:
    """The first Ctrl-C had to wait for the end of the inner run."""
    ends: list[dcopt.Result] = []

    def inner(state: dcopt.State) -> None:
        press = lambda s: signal.raise_signal(signal.SIGINT) if s.t == 3 else None  # noqa: E731
        ends.append(solve(binary(), steps=60, seed=0, callbacks=[press]))

    outer = solve(binary(), steps=60, seed=0, callbacks=[inner])
    assert [ends[0].steps, outer.steps, len(ends)] == [3, 1, 1]
    assert ends[0].status is outer.status is Status.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("default_sigint")
def test_d10_a_handler_of_the_callers_own_stays() -> None:
    heard = []
    mine = lambda number, frame: heard.append(number)  # noqa: E731
    signal.signal(signal.SIGINT, mine)
    result = solve(binary(), steps=6, seed=0, callbacks=[lambda s: signal.raise_signal(signal.SIGINT)])
    assert result.status is Status.BUDGET and len(heard) == 6 and signal.getsignal(signal.SIGINT) is mine


@pytest.mark.usefixtures("default_sigint")
def test_d10_no_handler_outside_the_main_thread() -> None:
    seen: list[Any] = []
    worker = threading.Thread(
        target=lambda: solve(
            binary(), steps=2, seed=0, callbacks=[lambda s: seen.append(signal.getsignal(signal.SIGINT)) or None]
        )
    )
    worker.start()
    worker.join()
    assert seen == [signal.default_int_handler] * 2


CTRL_C = """
import signal, sys, time
import numpy as np, scipy.sparse as sp
signal.signal(signal.SIGINT, signal.default_int_handler)
import dcopt
X = sp.random_array((50000, 200), density=0.1, format="csr", rng=np.random.default_rng(0))
P = dcopt.erm(X, np.arange(50000) % 2, regularizer="zero")
told = []
def tell(state):
    if not told:
        told.append(1); print("running", flush=True)
result = dcopt.solve(P, "dca", seconds=120, seed=0, callbacks=[tell], tol=1e-30)
print(result.status.name, bool(np.isfinite(result.x).all()), result.certificate.value > 0, flush=True)
"""


def test_d10_a_real_ctrl_c_ends_the_run() -> None:
    where = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", CTRL_C], stdout=subprocess.PIPE, text=True, env=where) as process:
        assert process.stdout is not None and process.stdout.readline() == "running\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        said = process.stdout.readline()
        assert process.wait(timeout=60) == 0
    assert said.split() == ["INTERRUPTED", "True", "True"]


# ---- D10: every status, last in the file


def test_d10_statuses_have_a_sentence_and_say_what_comes_with_them() -> None:
    assert all(status.value for status in Status)
    assert {status for status in Status if status.success} == {Status.CONVERGED, Status.ACCEPTABLE}
    assert len({status.value for status in Status}) == len(Status)


def _ends() -> dict[Status, dict[str, Any]]:
    return {
        Status.CONVERGED: {"tol": 1e-3, "measure": "gap", "passes": 500},
        Status.ACCEPTABLE: {"tol": 1e-12, "loose_tol": 1.0, "passes": 3},
        Status.BUDGET: {"passes": 3},
        Status.TIME: {"seconds": 0.0},
        Status.STALLED: {
            "tol": 0.0,
            "passes": 10**5,
            "P": erm(np.sign(matrix(20, 3)).astype(np.float32), targets(matrix(20, 3)), "squared", L1(0.01)),
            "method": "dca",
        },
        Status.INTERRUPTED: {"steps": 9, "callbacks": [lambda state: True]},
        Status.SUBPROBLEM: {"steps": 9, "subsolver": _inexact(2, 1.0)},
        Status.DIVERGED: {"passes": 30, "P": binary(wrap=lambda rows: FaultyRows(rows, "nan", 9))},
    }


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.OUT_OF_DATA, Status.WAITING)])  # of streams
def test_d10_every_status_is_produced(status: Status) -> None:
    options = _ends()[status]
    P = options.pop("P", None) or binary()
    result = solve(P, options.pop("method", "dca-page"), seed=0, **options)
    assert result.status is status
    assert result.success == (status in (Status.CONVERGED, Status.ACCEPTABLE))
    assert result.certificate.nnz == np.count_nonzero(result.x)
    assert math.isfinite(result.certificate.F) or status is Status.DIVERGED


@pytest.mark.parametrize("size", [1e12, 1e14, 1e100, 1.3e154, 1e200])
@pytest.mark.parametrize("method", ["dca", "dca-page", "auto"])
def test_a_point_so_large_that_its_steps_round_away_is_not_critical(size, method):
    """κx + u is κx there, and x would be its own minimizer: the gap says what rounding may hide of it."""
    draw = np.random.default_rng(7)
    X = draw.normal(size=(60, 5))
    y = (X.sum(axis=1) + draw.normal(size=60) > 0).astype(int)
    P = dcopt.erm(X, y, "logistic", dcopt.regularizers.SCAD(0.1))
    x0 = np.full(5, size)
    assert dcopt.measures.criticality(P, x0) > 0.01
    result = dcopt.solve(P, method, x0=x0, tol=1e-6, passes=3)
    assert not result.status.success and result.certificate.value > 1e-4
    small = dcopt.solve(P, "auto", tol=1e-13, passes=100)
    assert small.status is Status.CONVERGED  # and nothing near 0 is lost by it


def test_a_look_at_the_start_is_counted_where_no_step_follows():
    """dca-local at a critical point: one look to find out, one for the certificate."""
    X = matrix(40, 3)
    P = erm(X, signs(X), "logistic", L1(10.0))
    for _ in range(2):  # whatever is remembered of another run
        result = solve(P, "dca-local", x0=np.zeros(3), tol=1e-6, measure="criticality")
        assert result.status is Status.CONVERGED and result.steps == 0
        assert result.spent.gradients == 40 and result.spent.checks == 40


@pytest.mark.parametrize("method", ["dca-local", "auto"])
def test_a_tolerance_that_was_met_holds_where_a_rule_asks_for_more(method):
    """Tol and 50 passes: nothing falls any more after twenty, and what is true of x is said."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(500, 8))
    P = erm(X, X[:, 0] + draw.normal(size=500) > 0, "logistic", dcopt.regularizers.SCAD(0.02))
    result = solve(P, method, stop=Tol(1e-3) & Passes(50), seed=0)
    assert result.status is Status.CONVERGED and result.certificate.tol == 1e-3 >= result.certificate.value
    without = solve(P, method, stop=Steps(400) & Passes(400), seed=0)
    assert without.status is not Status.CONVERGED and without.certificate.tol is None  # no tolerance, no claim


@pytest.mark.parametrize("output", ["last", "best"])
def test_the_certificate_does_not_rely_on_what_the_method_has_seen(monkeypatch: Any, output: Any) -> None:
    P, true = binary(regularizer=EXP), Driver.memory

    def false(run: Driver) -> Any:
        seen = true(run)
        return None if seen is None else seen._replace(f=seen.f - 1.0 / (1 + run.t), grad=0.9 * seen.grad)

    monkeypatch.setattr(Driver, "memory", false)
    result = dcopt.solve(P, "dca-local", steps=3, tol=1e-15, output=output, seed=0)
    assert result.certificate.F == pytest.approx(P.value(result.x), rel=1e-12)
