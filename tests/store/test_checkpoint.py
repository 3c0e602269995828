"""What a run knows, there and back: every field."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from small import binary

import dcopt
from dcopt.measures import MEASURES
from dcopt.measures.confidence import Doubt
from dcopt.runs.driver import Run
from dcopt.runs.goal import Told
from dcopt.runs.ledger import End, Look, Saved
from dcopt.runs.prepared import Job
from dcopt.runs.trace import Record
from dcopt.solve import first_state
from dcopt.store import tensors
from dcopt.store.checkpoint import packed
from dcopt.store.restored import load

X = np.arange(1.0, 7.0)
LOOKS = (
    Look(0, X, 1 / 3, 0.1, 0.2, Doubt(0.1)), Look(4, -X, -math.inf, math.nan, 5e-324, Doubt(7.0, 8.0)), None,
)  # fmt: skip
SAVED = Saved(
    1.25, 2**70, 3.5, math.inf, LOOKS, (5, 2 * X), 0.875, (0.75, -0.0), 9, 11, End(dcopt.Status.STALLED, "a\nb ∞"),
    (Record(1, 0.1, 2**60, 3, 0.5, 1 / 7, math.inf, 6), Record(2, 0.2, 2**61, 4, 0.6, math.nan, 0.0, 0)),
)  # fmt: skip


def flat(value: Any) -> Any:
    """Comparable: arrays as bytes, NaN as text."""
    if isinstance(value, Saved):
        return {f.name: flat(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return tuple(map(flat, value))
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value)


def test_every_field_comes_back(tmp_path: Path) -> None:
    P = binary()
    job = Job(P, "dca-page", Told(steps=3), 2**64 - 1, None)
    origin = job.keeper(tmp_path / "run", 1.0, True).origin
    state = next(iter(dcopt.iterate(P, "dca-page", seed=0)))
    tensors.save(tmp_path / "run", "checkpoint", *packed(origin, state, SAVED), allow_nonfinite=True)
    found, notes = load(tmp_path / "run")
    assert found.origin == origin and not notes
    assert flat(found.saved(P.shape)) == flat(SAVED)
    assert flat(tuple(found.state(P.shape, state.memory))) == flat(tuple(state))


def test_a_run_takes_up_every_field() -> None:
    P = binary()
    state = first_state(P, None)
    run = Run(P, P, state, MEASURES["gap"], "gap", 1.0, "last", 0, False)
    run.restore(SAVED)
    assert flat(run.saved()) == flat(SAVED)


def test_arrays_that_occur_twice_are_stored_once(tmp_path: Path) -> None:
    dcopt.solve(binary(), "dca-svrg", steps=1, seed=0, checkpoint=tmp_path / "run")
    said = dcopt.peek(tmp_path / "run")
    assert said.header["run"]["kept"][1] == said.header["state"]["prev"]
    assert len([name for name in said.arrays if not name.startswith("trace.")]) <= 4
