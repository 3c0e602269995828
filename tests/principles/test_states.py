"""A State is all that is needed to continue: in another process, from a file, to the same bits and the same counts.

One process for each problem continues the states of all methods, so that the tests stay quick.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from principles import elsewhere
from principles.shared import CASES, KINDS, SEED, Seen, differences, facts, make, step_facts, to_a_tolerance

import dcopt

STEPS = 11
CUTS = (1, 2, 4, 6, 9)  # within a sample that grows, where one begins, and where all rows are seen
LIMITED: dict[str, Any] = {"steps": STEPS, "trace": 0.5}


def run_elsewhere(jobs: list[elsewhere.Job], folder: Path) -> list[Any]:
    """What another process makes of the jobs."""
    asked, answered = folder / "jobs", folder / "answers"
    asked.write_bytes(pickle.dumps(jobs))
    tests = str(Path(__file__).parents[1])
    paths = [tests, *(path for path in sys.path if path)]
    subprocess.run(
        [sys.executable, "-m", "principles.elsewhere", str(asked), str(answered)], check=True, timeout=120,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)}, cwd=folder,
    )  # fmt: skip
    answers: list[Any] = pickle.loads(answered.read_bytes())
    return answers


class Killed(BaseException):
    """The end of a process, after which nothing is written."""


class Late:
    """A callback that does its work at step `at`."""

    def __init__(self, at: int, work: Callable[[dcopt.State], Any]) -> None:
        self.at, self.work, self.called = at, work, False

    def __call__(self, state: dcopt.State) -> None:
        if state.t == self.at:
            self.called = True
            self.work(state)


class Continued:
    """All that another process continued of one problem, and what it should have come to."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.whole: dict[str, list[Any]] = {}
        self.results: dict[tuple[str, str], dict[str, Any]] = {}
        jobs: list[elsewhere.Job] = []
        keys: list[tuple[str, str, int]] = []
        for method in (method for method, of in CASES if of == kind):
            self.whole[method] = []
            for state in dcopt.iterate(make(kind), method, seed=SEED):
                self.whole[method].append(step_facts(state))
                if state.t in CUTS:
                    file = folder / f"{method}-{state.t}"
                    file.write_bytes(pickle.dumps(state))
                    jobs.append(elsewhere.Job("iterate", kind, method, SEED, str(file), STEPS - state.t))
                    keys.append((method, "iterate", state.t))
                if state.t == STEPS:
                    break
            for name, path, more in self._checkpoints(kind, method, folder):
                jobs.append(elsewhere.Job("resume", kind, method, SEED, str(path), more))
                keys.append((method, name, 0))
        self.answers = dict(zip(keys, run_elsewhere(jobs, folder), strict=True))

    def _checkpoints(self, kind: str, method: str, folder: Path) -> Iterator[tuple[str, Path, int | None]]:
        """Files of runs that were limited by steps, or killed: a kill leaves the file as it is at that moment."""
        self.results[method, "limited"] = facts(dcopt.solve(make(kind), method, seed=SEED, **LIMITED))
        path = folder / f"{method}-limited"
        dcopt.solve(make(kind), method, seed=SEED, checkpoint=path, every=1e9, **LIMITED | {"steps": 4})
        yield "limited", path, STEPS

        def idle(state: dcopt.State) -> None:
            """A callback in both runs: the test asks nothing of what callbacks may change."""

        def kill(state: dcopt.State) -> None:
            raise Killed

        told = to_a_tolerance(method, 1e-6) | {"seed": SEED}
        want = dcopt.solve(make(kind), method, callbacks=[idle], **told)
        self.results[method, "killed"] = facts(want)
        path, last = folder / f"{method}-killed", min(want.steps, 3)
        late = Late(last, kill)
        with suppress(Killed):
            dcopt.solve(make(kind), method, checkpoint=path, every=0.0, callbacks=[late], **told)
        assert late.called == (last > 0)
        yield "killed", path, None


_continued: dict[str, Continued] = {}


@pytest.fixture
def continued(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Continued:
    """Made once for each problem."""
    if kind not in _continued:
        _continued[kind] = Continued(kind, tmp_path_factory.mktemp(kind))
    return _continued[kind]


def answer(continued: Continued, *key: Any) -> Any:
    got = continued.answers[key]
    assert not isinstance(got, elsewhere.Failed), got
    return got


def test_every_problem_is_continued() -> None:
    assert {kind for _, kind in CASES} == set(KINDS)


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_state_continues_in_another_process(method: str, kind: str, continued: Continued) -> None:
    for cut in CUTS:
        for got, want in zip(answer(continued, method, "iterate", cut), continued.whole[method][cut:], strict=True):
            assert got[-1] == want[-1], f"spent at step {want[0]}, continued from step {cut}"
            assert got == want, f"x differs at step {want[0]}, continued from step {cut}"


@pytest.mark.parametrize("how", ["limited", "killed"])
@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_checkpoint_continues_in_another_process(method: str, kind: str, how: str, continued: Continued) -> None:
    """x, trace, counts, status, message and notes."""
    got, want = answer(continued, method, how, 0), continued.results[method, how]
    assert not (said := differences(got, want)), said


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_state_continues_on_the_problem_it_comes_from(method: str, kind: str) -> None:
    """The states of a run, each continued by two steps as soon as it is there: the run goes on as it would have."""
    P, whole = make(kind), []
    for state in dcopt.iterate(P, method, seed=SEED):
        kept = pickle.loads(pickle.dumps(state))
        for _, ahead in zip(range(2), dcopt.iterate(P, method, seed=SEED, state=kept), strict=False):
            whole.append(step_facts(ahead))
        whole.append(step_facts(state))
        if state.t == 8:
            break
    alone = {}
    for state in dcopt.iterate(make(kind), method, seed=SEED):
        alone[state.t] = step_facts(state)
        if state.t == 10:
            break
    for got in whole:
        assert got == alone[got[0]], f"step {got[0]}: spent {got[-1]}, alone {alone[got[0]][-1]}"


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_continued_state_counts_what_it_makes(method: str, kind: str) -> None:
    """Nothing is evaluated again that the State says was paid for."""
    for cut in CUTS:
        *_, state = islice(dcopt.iterate(make(kind), method, seed=SEED), cut)
        state, seen = pickle.loads(pickle.dumps(state)), Seen()
        *_, last = islice(dcopt.iterate(make(kind, seen.around), method, seed=SEED, state=state), 2)
        assert last.spent.gradients - state.spent.gradients == seen.count, f"two steps from step {cut}"
