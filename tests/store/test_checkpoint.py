"""A checkpoint holds a State and a Ledger: every field comes back."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from small import binary

import dcopt
from dcopt.auto import resolve
from dcopt.measures import SampleBound
from dcopt.runs.goal import Goal
from dcopt.runs.ledger import End, Examined, Ledger, Searches
from dcopt.runs.run import Run
from dcopt.runs.trace import Record
from dcopt.store import tensors
from dcopt.store.checkpoint import packed
from dcopt.store.restored import load

X = np.arange(1.0, 7.0)
FIRST = Examined(0, X, 1 / 3, 0.1, 0.2, SampleBound(0.1))
LEDGER = Ledger(
    kept=(5, 2 * X), seconds=1.25, checks=2**70, next_check=3.5, next_trace=math.inf, first=FIRST,
    best=Examined(4, -X, -math.inf, math.nan, 5e-324, SampleBound(7.0, 8.0)), here=FIRST._replace(t=11), level=0.875,
    mark=(0.75, -0.0), idle=9, checked=11, last_two=(0.5, 0.25), searches=Searches(2.0, 1.5, 3),
    certified=FIRST._replace(t=10), leap=True, notes=("auto took dca",), end=End(dcopt.Status.STALLED, "a\nb ∞"),
)  # fmt: skip
RECORDS = (Record(1, 0.1, 2**60, 3, 0.5, 1 / 7, math.inf, 6), Record(2, 0.2, 2**61, 4, 0.6, math.nan, 0.0, 0))


def flat(value: Any) -> Any:
    """Comparable: arrays as bytes, NaN as text."""
    if is_dataclass(value):
        return {f.name: flat(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return tuple(map(flat, value))
    return value.tobytes() if isinstance(value, np.ndarray) else repr(value)


def test_every_field_comes_back(tmp_path: Path) -> None:
    P = binary()
    run = Run(P, resolve("dca-page", P, decomposition="gram"), Goal(steps=3), 2**64 - 1)
    origin = run.keeper(tmp_path / "run", 1.0, True).origin
    state = next(iter(dcopt.iterate(P, "dca-page", seed=0)))
    tensors.save(tmp_path / "run", "checkpoint", *packed(origin, state, LEDGER, RECORDS), allow_nonfinite=True)
    found, notes = load(tmp_path / "run")
    assert found.origin == origin and not notes
    assert flat(found.ledger(P.shape)) == flat(LEDGER) and flat(found.records()) == flat(RECORDS)
    assert flat(tuple(found.state(P.shape, state.memory))) == flat(tuple(state))


def test_every_field_is_another_than_that_of_a_new_ledger() -> None:
    """Otherwise the test above could not see that one is left out."""
    new = Ledger((0, X))
    assert [f.name for f in fields(Ledger) if flat(getattr(LEDGER, f.name)) == flat(getattr(new, f.name))] == []


def test_arrays_that_occur_twice_are_stored_once(tmp_path: Path) -> None:
    dcopt.solve(binary(), "dca-svrg", steps=1, seed=0, checkpoint=tmp_path / "run")
    said = dcopt.peek(tmp_path / "run")
    assert said.header["ledger"]["kept"][1] == said.header["state"]["prev"]
    assert len([name for name in said.arrays if not name.startswith("trace.")]) <= 4
