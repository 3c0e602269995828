"""A checkpoint: the State, the Ledger, how the run was made, and a fingerprint of its problem."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadSettings
from ..runs.driver import Driver
from ..runs.ledger import Examined, Ledger
from ..runs.trace import Record
from ..state import State
from ..xp import Array
from . import tensors
from .atomic import CALLS, Calls
from .components import describe

FORMAT = 2  # The version of the header. dcopt 0.1 wrote files without it.
INTEGERS = ("t", "gradients", "paper", "nnz")  # The columns of a trace.


@dataclass(frozen=True)
class Origin:
    """The parts of a checkpoint that do not change during a run."""

    method: Any  # A registered Method, or a registered kind of estimator.
    decomposition: str  # The decomposition of the run: "own" or "gram".
    estimator: str  # The estimator that the method made for this problem, as text.
    subsolver: Any  # A registered sub-solver; None: the method's choice.
    seed: int
    told: dict[str, Any]  # The budgets, tolerances and output that the caller gave.
    own_rule: bool  # Whether the caller gave a stop rule, which no file can hold.
    fingerprint: dict[str, str]
    adaptive: dict[str, Any] | None = None  # The settings of an adaptive κ.


def save(path: str | os.PathLike[str], origin: Origin, run: Driver, calls: Calls = CALLS) -> None:
    """Write the run between two steps. The version before stays at `previous(path)`."""
    header, arrays = packed(origin, run.state, run.written(), run.trace.records)
    tensors.save(path, "checkpoint", header, arrays, allow_nonfinite=True, keep=True, calls=calls)


def packed(
    origin: Origin, state: State, ledger: Ledger, records: Sequence[Record]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays; an array that occurs twice is stored once."""
    arrays: dict[str, Array] = {}
    names: dict[int, str] = {}

    def put(name: str, a: Array | None) -> str | None:
        if a is None:
            return None
        if not isinstance(a, np.ndarray):
            raise BadSettings("checkpoint", type(a).__name__, "None: only NumPy arrays can be saved")
        arrays.setdefault(names.setdefault(id(a), name), a)
        return names[id(a)]

    def look(name: str, seen: Examined | None) -> dict[str, Any] | None:
        if seen is None:
            return None
        return {
            "t": seen.t, "x": put(name, seen.x), "F": seen.F, "measure": seen.measure, "seconds": seen.seconds,
            "bound": seen.bound.bound, "spread": seen.bound.spread,
        }  # fmt: skip

    kind = "method" if hasattr(origin.method, "prepare") else "estimator"
    header = {
        "format": FORMAT,
        "origin": {
            kind: describe(kind, origin.method, arrays),
            "decomposition": origin.decomposition,
            "made": origin.estimator,
            "subsolver": None if origin.subsolver is None else describe("subsolver", origin.subsolver, arrays),
            "seed": origin.seed,
            "told": origin.told,
            "own_rule": origin.own_rule,
            "fingerprint": origin.fingerprint,
            "adaptive": origin.adaptive,
        },
        "state": {
            "t": state.t,
            "x": put("x", state.x),
            "prev": put("prev", state.prev),
            "memory": _memory("memory", state.memory, put),
            "spent": [int(n) for n in state.spent],
            "residual": None if state.residual is None else float(state.residual),
            "asked": float(state.asked),
        },
        "ledger": {
            "seconds": ledger.seconds,
            "checks": ledger.checks,
            "next": [ledger.next_check, ledger.next_trace],
            "looks": [look(f"look.{k}", seen) for k, seen in enumerate((ledger.first, ledger.best, ledger.here))],
            "kept": [ledger.kept[0], put("kept", ledger.kept[1])],
            "level": ledger.level,
            "mark": list(ledger.mark),
            "idle": ledger.idle,
            "checked": ledger.checked,
            "last_two": list(ledger.last_two),
            "searches": list(ledger.searches),
            "certified": look("certified", ledger.certified),
            "leap": ledger.leap,
            "notes": list(ledger.notes),
            "end": None if ledger.end is None else [ledger.end.status.name, ledger.end.message],
        },
    }
    for name in Record._fields:
        column = [getattr(record, name) for record in records]
        arrays[f"trace.{name}"] = np.array(column, np.int64 if name in INTEGERS else np.float64)
    return header, arrays


def _memory(name: str, memory: Any, put: Any) -> Any:
    """The memory as nested lists in the order of its fields, with arrays by name. The estimator restores its tuples."""
    if isinstance(memory, tuple):
        labels = getattr(memory, "_fields", range(len(memory)))
        return [_memory(f"{name}.{label}", part, put) for label, part in zip(labels, memory, strict=True)]
    if memory is None or isinstance(memory, (bool, int, float)):
        return memory
    if isinstance(memory, np.generic):
        return memory.item()
    return {"array": put(name, memory)}
