"""A problem has no history: a run after other runs on the same object is the run on a fresh copy."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from principles.shared import CASES, SEED, differences, facts, make, point, refusal, to_a_tolerance

import dcopt

RUNS = ("own-start", "given-start")


def told(P: dcopt.Problem, method: str, run: str) -> dict[str, Any]:
    return to_a_tolerance(method) if run == "own-start" else {"steps": 6, "trace": 0.5, "x0": point(P)}


def other_methods(P: dcopt.Problem, method: str, kind: str, run: str) -> None:
    """Other methods, from other starts."""
    for seed, other in enumerate(("dca", "dca-page", "bdca", "dca-local")):
        if refusal(other, kind) is None:
            dcopt.solve(P, other, steps=3, seed=seed, x0=point(P, seed))


def one_cut_off(P: dcopt.Problem, method: str, kind: str, run: str) -> None:
    """The run itself, cut off after two steps, and an iteration that nobody finishes."""
    dcopt.solve(P, method, seed=SEED, **told(P, method, run) | {"steps": 2})
    assert len(list(islice(dcopt.iterate(P, method, seed=SEED + 1), 2))) == 2


def the_same_run(P: dcopt.Problem, method: str, kind: str, run: str) -> None:
    dcopt.solve(P, method, seed=SEED, **told(P, method, run))


def one_without_steps(P: dcopt.Problem, method: str, kind: str, run: str) -> None:
    """A run that looks at the start and goes no further."""
    x0 = told(P, method, run).get("x0", np.zeros(P.shape))
    for other in (method, "dca-local"):
        if refusal(other, kind) is None:
            dcopt.solve(P, other, seed=SEED, x0=x0, steps=0)


HISTORIES = (other_methods, one_cut_off, the_same_run, one_without_steps)
_fresh: dict[tuple[str, str, str], dict[str, Any]] = {}


def fresh(method: str, kind: str, run: str) -> dict[str, Any]:
    """The result on a problem that no run has seen; computed once."""
    key = method, kind, run
    if key not in _fresh:
        P = make(kind)
        _fresh[key] = facts(dcopt.solve(P, method, seed=SEED, **told(P, method, run)))
    return _fresh[key]


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_run_on_a_used_problem_is_the_run_on_a_fresh_one(method: str, kind: str, run: str, history: Any) -> None:
    P = make(kind)
    history(P, method, kind, run)
    after = facts(dcopt.solve(P, method, seed=SEED, **told(P, method, run)))
    assert not (said := differences(after, fresh(method, kind, run))), said


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_run_from_the_end_of_another_is_the_run_from_that_point(method: str, kind: str) -> None:
    """A warm start on the same object: the point alone is handed on."""
    P = make(kind)
    end = dcopt.solve(P, method, seed=SEED, steps=5).x
    rest: dict[str, Any] = {"seed": SEED + 1, "x0": end} | to_a_tolerance(method, 1e-7)
    warm, cold = (facts(dcopt.solve(Q, method, **rest)) for Q in (P, make(kind)))
    assert not (said := differences(warm, cold)), said
