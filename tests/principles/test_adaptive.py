"""kappa="adaptive" keeps the principles of every method: its State is all it needs, and all its work is counted."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from principles.shared import SEED, Seen, differences, facts, make, point, refusal, step_facts

import dcopt
from dcopt.adaptive import Adaptive, step
from dcopt.errors import BadModel
from dcopt.estimators import PAGE
from dcopt.store import tensors
from dcopt.sums import FREE

METHODS: tuple[Any, ...] = (
    "dca", "cccp", "dca-page", "dca-svrg", "dca-saga", "sdca", "mm-saga", "mm-svrg", "mm-sarah", "online-dca",
    PAGE(p=0.2, b_small=4, b=30), PAGE(p=0.1, b_small=5, sampling="importance"),
)  # fmt: skip
KINDS = ("binary", "softmax", "least-squares", "wide", "pairs")
CASES = [
    pytest.param(method, kind, id=f"{method}-{kind}")
    for kind in KINDS for method in METHODS
    if not (isinstance(method, str) and refusal(method, kind))
]  # fmt: skip
OFF = Adaptive(sigma=0.7, margin=1.0, window=1.0)  # so many tests, and such strict ones, that runs go back
STEPS = 24


def run(P: dcopt.Problem, method: Any, seed: int = SEED, **told: Any) -> Iterator[dcopt.State]:
    return dcopt.iterate(P, method, seed=seed, kappa=OFF, **told)


def bits(value: Any) -> Any:
    """Comparable, memory and all."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_state_continues_to_the_same_bits(method: Any, kind: str) -> None:
    """From a pickled state, on a problem that is built anew; every state of the run once, two steps ahead."""
    whole = [pickle.dumps(state) for state in islice(run(make(kind), method), STEPS)]
    want = [bits(pickle.loads(state)) for state in whole]
    for t in range(0, STEPS - 2, 3):
        ahead = islice(run(make(kind), method, state=pickle.loads(whole[t])), 2)
        assert [bits(state) for state in ahead] == want[t + 1 : t + 3], f"continued from step {t + 1}"


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_run_counts_what_it_makes(method: Any, kind: str) -> None:
    """The first κ, tests and restored points included: after every step, from two starts."""
    for start in (None, point(make(kind))):
        seen = Seen()
        for state in islice(run(make(kind, seen.around), method, x0=start), STEPS):
            assert state.spent.gradients == seen.count, f"at step {state.t}"


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_a_continued_state_counts_what_it_makes(method: Any, kind: str) -> None:
    for cut in (1, 7, 16):
        *_, state = islice(run(make(kind), method), cut)
        state, seen = pickle.loads(pickle.dumps(state)), Seen()
        *_, last = islice(run(make(kind, seen.around), method, state=state), 3)
        assert last.spent.gradients - state.spent.gradients == seen.count


@pytest.mark.parametrize(("method", "kind"), CASES)
def test_interleaved_runs_are_the_runs_alone(method: Any, kind: str) -> None:
    P = make(kind)
    one, two = run(P, method), run(P, method, seed=SEED + 1, x0=point(P))
    mixed = [(step_facts(next(one)), step_facts(next(two))) for _ in range(STEPS)]
    alone = (run(make(kind), method), run(make(kind), method, seed=SEED + 1, x0=point(P)))
    assert mixed == [(step_facts(a), step_facts(b)) for a, b in islice(zip(*alone, strict=False), STEPS)]


@pytest.mark.parametrize(("method", "kind"), [("dca-page", "binary"), ("mm-saga", "softmax"), ("dca", "pairs")])
def test_observers_and_checkpoints_leave_the_run_as_it_is(method: str, kind: str, tmp_path: Path) -> None:
    told: dict[str, Any] = {"seed": SEED, "kappa": OFF, "trace": 0.5}
    want = facts(dcopt.solve(make(kind), method, steps=STEPS, **told))
    P = make(kind)

    def looks(state: dcopt.State) -> None:
        P.value(state.x)
        if state.t % 7 == 0:
            dcopt.solve(P, method, steps=2, seed=5, kappa="adaptive")

    watched = dcopt.solve(P, method, steps=STEPS, callbacks=[looks], **told)
    assert not (said := differences(facts(watched), want)), said
    for cut in (1, 5, 13):
        file = tmp_path / f"{cut}"
        dcopt.solve(make(kind), method, steps=cut, checkpoint=file, every=1e9, **told)
        resumed = dcopt.resume(file, make(kind), steps=STEPS)
        assert not (said := differences(facts(resumed), want)), f"resumed at {cut}: {said}"


def test_a_checkpoint_whose_level_no_run_has_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run"
    dcopt.solve(make("binary"), "dca-page", steps=5, seed=0, kappa="adaptive", checkpoint=file, every=1e9)
    header, arrays = tensors.read(file, "checkpoint", allow_nonfinite=True)
    level = 2  # inner, good, level
    assert header["state"]["memory"][level] > 0.0
    header["state"]["memory"][level] = -1.0
    tensors.save(tmp_path / "bad", "checkpoint", header, dict(arrays), allow_nonfinite=True)
    with pytest.raises(BadModel, match="level"):
        dcopt.resume(tmp_path / "bad", make("binary"), steps=9)


class OnTheProblem:
    """An estimator that keeps a gradient on the sum, and not in its memory."""

    def check(self, n: Any) -> None: ...

    def start(self, f: Any, x: Any, draw: Any) -> Any:
        g = f.all().grad(x)
        last = f.of.__dict__.get("last", g)
        f.of.__dict__["last"] = g
        return dcopt.estimators.Estimate(0.5 * (g + last), None, dcopt.sums.Cost(f.n, f.n))

    def step(self, f: Any, x: Any, prev: Any, memory: Any, draw: Any) -> Any:
        return self.start(f, x, draw)


def test_memory_on_the_problem_is_found() -> None:
    with pytest.raises(AssertionError):
        test_interleaved_runs_are_the_runs_alone(OnTheProblem(), "binary")


@pytest.mark.parametrize("method", ["dca", "dca-page", "dca-saga", "mm-svrg"])
def test_these_runs_do_go_back(method: str) -> None:
    """Otherwise the tests above would say nothing of restored points."""
    assert any(state.memory.failures for kind in KINDS for state in islice(run(make(kind), method), STEPS))


def test_looks_that_are_not_counted_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "Cost", lambda *counts: FREE)
    with pytest.raises(AssertionError, match="at step"):
        test_a_run_counts_what_it_makes("mm-saga", "binary")
