"""Runs that take turns on one problem: each has the bits and the counts that it has alone, and all work is counted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from principles.shared import CASES, Seen, make, point, refusal, step_facts

import dcopt

TURNS = "ABABAABBABABABBAAB"  # nine steps each: more than there are on samples that grow


def first(P: dcopt.Problem, method: str) -> Iterator[dcopt.State]:
    return dcopt.iterate(P, method, seed=1)


def second(P: dcopt.Problem, method: str) -> Iterator[dcopt.State]:
    """Another start and another seed."""
    return dcopt.iterate(P, method, seed=2, x0=point(P))


def take_turns(one: Iterator[dcopt.State], two: Iterator[dcopt.State]) -> tuple[list[Any], list[Any]]:
    states: dict[str, list[dcopt.State]] = {"A": [], "B": []}
    for turn in TURNS:
        states[turn].append(next(one if turn == "A" else two))
    return states["A"], states["B"]


def other_method(method: str, kind: str) -> str:
    """A method that looks at F and one that draws batches, of which one is not `method`."""
    local = refusal("dca-local", kind) is None and method != "dca-local"
    return "dca-local" if local else "dca-page"


def assert_same_steps(got: list[dcopt.State], want: list[dcopt.State]) -> None:
    for one, two in zip(got, want, strict=True):
        assert one.spent == two.spent, f"step {one.t} has spent {one.spent.gradients}, alone {two.spent.gradients}"
        assert step_facts(one) == step_facts(two), f"x differs at step {one.t}"


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_interleaved_runs_are_the_runs_alone(method: str, kind: str) -> None:
    P, steps = make(kind), len(TURNS) // 2
    one, two = take_turns(first(P, method), second(P, method))
    assert_same_steps(one, list(islice(first(make(kind), method), steps)))
    assert_same_steps(two, list(islice(second(make(kind), method), steps)))


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_run_interleaved_with_another_method_is_the_run_alone(method: str, kind: str) -> None:
    P, steps, other = make(kind), len(TURNS) // 2, other_method(method, kind)
    one, two = take_turns(first(P, method), second(P, other))
    assert_same_steps(one, list(islice(first(make(kind), method), steps)))
    assert_same_steps(two, list(islice(second(make(kind), other), steps)))


# ---- what is counted is what is made


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_run_alone_counts_what_it_makes(method: str, kind: str) -> None:
    """After every step, so that a count that is too high once and too low at another time is found."""
    for start in (first, second):
        seen = Seen()
        for state in islice(start(make(kind, seen.around), method), len(TURNS) // 2):
            assert state.spent.gradients == seen.count, f"at step {state.t}"


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_interleaved_runs_count_what_they_make(method: str, kind: str) -> None:
    seen = Seen()
    P = make(kind, seen.around)
    one, two = take_turns(first(P, method), second(P, method))
    assert one[-1].spent.gradients + two[-1].spent.gradients == seen.count


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_interleaved_with_another_method_a_run_makes_what_it_makes_alone(method: str, kind: str) -> None:
    """Compared with what is made alone, so that only one of both methods has to answer for what it counts."""
    seen, alone, steps, other = Seen(), Seen(), len(TURNS) // 2, other_method(method, kind)
    P = make(kind, seen.around)
    take_turns(first(P, method), second(P, other))
    for run in first(make(kind, alone.around), method), second(make(kind, alone.around), other):
        assert len(list(islice(run, steps))) == steps
    assert seen.count == alone.count
