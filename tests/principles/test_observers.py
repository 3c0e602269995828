"""Observers cannot change a run: whatever a callback does, the result is that of the run without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from principles.shared import CASES, SEED, differences, facts, make, point, refusal, to_a_tolerance

import dcopt

BUDGETS = ("steps", "tolerance")


def told(method: str, budget: str) -> dict[str, Any]:
    return {"steps": 9, "trace": 0.5} if budget == "steps" else to_a_tolerance(method)


def now_and_then(work: Callable[[dcopt.State], Any]) -> Callable[[dcopt.State], None]:
    """A callback that works after the first four steps and after steps 8, 16, 32, …"""

    def observer(state: dcopt.State) -> None:
        if state.t <= 4 or state.t & (state.t - 1) == 0:
            work(state)

    return observer


def idle(P: dcopt.Problem, method: str, kind: str) -> Any:
    return lambda state: None


def measures(P: dcopt.Problem, method: str, kind: str) -> Any:
    """It measures another point, then the point of the state."""
    other = point(P)

    def work(state: dcopt.State) -> None:
        for x in (other, state.x):
            dcopt.measures.criticality(P, x)
            P.value(x)

    return now_and_then(work)


def solves_by_the_same_method(P: dcopt.Problem, method: str, kind: str) -> Any:
    return now_and_then(lambda state: dcopt.solve(P, method, steps=2, seed=5))


def solves_by_a_local_method(P: dcopt.Problem, method: str, kind: str) -> Any:
    other = "dca-local" if refusal("dca-local", kind) is None else "bdca"
    return now_and_then(lambda state: dcopt.solve(P, other, steps=2, seed=5))


OBSERVERS = (idle, measures, solves_by_the_same_method, solves_by_a_local_method)
_unobserved: dict[tuple[str, str, str], dict[str, Any]] = {}


def unobserved(method: str, kind: str, budget: str) -> dict[str, Any]:
    """The result without callbacks, on a problem of its own; computed once."""
    key = method, kind, budget
    if key not in _unobserved:
        _unobserved[key] = facts(dcopt.solve(make(kind), method, seed=SEED, **told(method, budget)))
    return _unobserved[key]


@pytest.mark.parametrize("observer", OBSERVERS, ids=lambda observer: observer.__name__)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(("method", "kind"), CASES)
def test_an_observer_leaves_the_run_as_it_is(method: str, kind: str, budget: str, observer: Any) -> None:
    P = make(kind)
    called = []
    callbacks = [observer(P, method, kind), lambda state: called.append(state.t)]
    watched = dcopt.solve(P, method, seed=SEED, callbacks=callbacks, **told(method, budget))
    assert called == list(range(1, watched.steps + 1))
    assert not (said := differences(facts(watched), unobserved(method, kind, budget))), said
