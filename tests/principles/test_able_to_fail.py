"""The tests of principle can fail: methods that break a promise on purpose are found by the test of that promise."""

from __future__ import annotations

import pickle
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from principles import elsewhere, test_interleaved, test_observers, test_states, test_used_problem
from principles.shared import SEED, make, step_facts

import dcopt
from dcopt.draw import Draw
from dcopt.estimators.base import Estimate
from dcopt.sums import Cost

NAME, KIND = "breaks-a-promise", "binary"


class OnTheProblem:
    """The mean of two gradients, of which the last one is kept on the sum, and not in the State."""

    def check(self, n: Any) -> None: ...

    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        g = sum.all().grad(x)
        last = sum.__dict__.get("last", g)
        sum.__dict__["last"] = g
        return Estimate(0.5 * (g + last), None, Cost(sum.n, sum.n))

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return self.start(sum, x, draw)


class Uncounted:
    """The full gradient, which says that it costs nothing after the first one."""

    def check(self, n: Any) -> None: ...

    def start(self, sum: Any, x: Any, draw: Draw) -> Estimate:
        return Estimate(sum.all().grad(x), None, Cost(sum.n, sum.n))

    def step(self, sum: Any, x: Any, prev: Any, memory: Any, draw: Draw) -> Estimate:
        return self.start(sum, x, draw)._replace(cost=Cost(0, 0))


def register(estimator: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put an estimator among the methods, until the test is over."""
    monkeypatch.setitem(dcopt.METHODS, NAME, dcopt.Method(NAME, lambda n: estimator()))


def test_memory_on_the_problem_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    register(OnTheProblem, monkeypatch)
    with pytest.raises(AssertionError, match="x;"):
        observer = test_observers.solves_by_the_same_method
        test_observers.test_an_observer_leaves_the_run_as_it_is(NAME, KIND, "steps", observer)
    with pytest.raises(AssertionError, match="x differs"):
        test_interleaved.test_interleaved_runs_are_the_runs_alone(NAME, KIND)
    with pytest.raises(AssertionError, match="x;"):
        history = test_used_problem.one_cut_off
        test_used_problem.test_a_run_on_a_used_problem_is_the_run_on_a_fresh_one(NAME, KIND, "given-start", history)
    with pytest.raises(AssertionError, match="x;"):
        test_used_problem.test_a_run_from_the_end_of_another_is_the_run_from_that_point(NAME, KIND)
    with pytest.raises(AssertionError, match="step"):
        test_states.test_a_state_continues_on_the_problem_it_comes_from(NAME, KIND)
    states = list(islice(dcopt.iterate(make(KIND), NAME, seed=SEED), 4))
    file = tmp_path / "state"
    file.write_bytes(pickle.dumps(states[1]))
    continued = elsewhere.run(elsewhere.Job("iterate", KIND, NAME, SEED, str(file), 2))
    assert continued != [step_facts(state) for state in states[2:]]


def test_work_that_is_not_counted_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    register(Uncounted, monkeypatch)
    with pytest.raises(AssertionError, match="at step 2"):
        test_interleaved.test_a_run_alone_counts_what_it_makes(NAME, KIND)
    with pytest.raises(AssertionError):
        test_interleaved.test_interleaved_runs_count_what_they_make(NAME, KIND)
