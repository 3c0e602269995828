"""A checkpoint that was read. Its parts are used only if they fit the problem, the estimator and the types of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..errors import BadModel
from ..measures import SampleBound
from ..runs.ledger import End, Examined, Ledger, Searches
from ..runs.trace import Record
from ..state import State
from ..status import Status
from ..sums import Cost
from ..xp import Array
from . import tensors
from .atomic import previous
from .checkpoint import FORMAT, INTEGERS, Origin
from .components import rebuild

T = TypeVar("T")


def _two(said: Any) -> tuple[float, float]:
    return float(said[0]), float(said[1])


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and has not been compared with a problem yet."""

    path: str
    origin: Origin
    header: dict[str, Any]
    arrays: dict[str, Array]

    @property
    def t(self) -> int:
        return int(self.header["state"]["t"])

    @property
    def has_memory(self) -> bool:
        """Whether the method has a memory."""
        return self.header["state"]["memory"] is not None

    def x(self, shape: tuple[int, ...]) -> Array:
        """x_t, if it has the shape of the problem's x. Compiled code relies on the shape."""
        return self._point(self.header["state"]["x"], shape)

    def state(self, shape: tuple[int, ...], fresh: Any) -> State:
        """The State, with its memory in the tuples of a new memory that the estimator has made."""
        said = self.header["state"]
        t, asked = int(said["t"]), float(said["asked"])
        residual = None if said["residual"] is None else float(said["residual"])
        if t < 0:
            raise BadModel(self.path, f"its step is {t}")
        prev = None if t == 0 else self._point(said["prev"], shape)
        memory = None if said["memory"] is None else self._fit(said["memory"], fresh)
        return State(t, self.x(shape), prev, memory, Cost(*map(int, said["spent"])), residual, asked)

    def ledger(self, shape: tuple[int, ...]) -> Ledger:
        """The ledger of the run."""
        said = self.header["ledger"]

        def look(seen: Any) -> Examined | None:
            if seen is None:
                return None
            x, bound = self._point(seen["x"], shape), SampleBound(float(seen["bound"]), float(seen["spread"]))
            F, measure, seconds = (float(seen[key]) for key in ("F", "measure", "seconds"))
            return Examined(int(seen["t"]), x, F, measure, seconds, bound)

        first, best, here = map(look, said["looks"])
        end, searches = said["end"], said["searches"]
        return Ledger(
            kept=(int(said["kept"][0]), self._point(said["kept"][1], shape)),
            seconds=float(said["seconds"]),
            checks=int(said["checks"]),
            next_check=float(said["next"][0]),
            next_trace=float(said["next"][1]),
            first=first,
            best=best,
            here=here,
            level=float(said["level"]),
            mark=_two(said["mark"]),
            idle=int(said["idle"]),
            checked=int(said["checked"]),
            last_two=_two(said["last_two"]),
            searches=Searches(float(searches[0]), float(searches[1]), int(searches[2])),
            certified=look(said["certified"]),
            leap=bool(said["leap"]),
            notes=tuple(map(str, said["notes"])),
            end=None if end is None else End(Status[end[0]], str(end[1])),
        )

    def records(self) -> tuple[Record, ...]:
        """The lines of the trace"""
        columns = [self._column(name) for name in Record._fields]
        return tuple(Record(*line) for line in zip(*columns, strict=True))

    def _column(self, name: str) -> list[Any]:
        """A column of the trace: one number for each line, in the type in which it is written."""
        a = self.arrays[f"trace.{name}"]
        if a.ndim != 1 or a.dtype.kind != ("i" if name in INTEGERS else "f"):
            raise BadModel(self.path, f"trace.{name} has shape {a.shape} and type {a.dtype}: expected a column")
        return list(a.tolist())

    def _point(self, name: Any, shape: tuple[int, ...]) -> Array:
        a = self.arrays[name]
        if a.shape != tuple(shape) or a.dtype.kind != "f":
            raise BadModel(self.path, f"{name} has shape {a.shape} and type {a.dtype}: the x of P differs")
        return a

    def _fit(self, said: Any, template: Any) -> Any:
        """The stored memory, in the tuples and shapes of a new one."""
        if isinstance(template, tuple):
            parts = [self._fit(*pair) for pair in zip(said, template, strict=True)]
            return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)
        if not isinstance(template, np.ndarray):
            if (said is None) != (template is None) or isinstance(said, (dict, list, str)):
                raise BadModel(self.path, "its memory is not that of the estimator")
            return None if template is None else type(template)(said)
        a = self.arrays[said["array"]]
        grows = len(template) == 1 and a.ndim == template.ndim  # These are the points that a table still refers to.
        shape = a.shape[:1] + template.shape[1:] if grows else template.shape
        if a.dtype.kind != template.dtype.kind or a.shape != shape or not len(a):
            raise BadModel(self.path, f"{said['array']} is not a memory of the estimator")
        return a


def load(path: str | os.PathLike[str]) -> tuple[Checkpoint, tuple[str, ...]]:
    """The checkpoint, or the version before it where the newest is damaged, with a note about that."""
    try:
        return _read(path), ()
    except BadModel as why:
        try:
            older = _read(previous(path))
        except BadModel:
            raise why from None
        note = f"the newest checkpoint could not be used ({why.reason}): continued from the one before, step {older.t}"
        return older, (note,)


def _read(path: str | os.PathLike[str]) -> Checkpoint:
    header, arrays = tensors.read(path, "checkpoint", allow_nonfinite=True)
    if header.get("format") != FORMAT:
        said = header.get("format", 1)
        with_what = "that version (pip install 'dcopt<0.2')" if said == 1 else "a newer version"
        why = f"is a checkpoint of another version of dcopt (format {said}, not {FORMAT}): continue it with {with_what}"
        raise BadModel(path, why)
    return guarded(path, lambda: _unpacked(str(path), header, arrays))


def _unpacked(path: str, header: dict[str, Any], arrays: dict[str, Array]) -> Checkpoint:
    said: Mapping[str, Any] = header["origin"]
    kind = "method" if "method" in said else "estimator"
    sub = said["subsolver"]
    told, prints = dict(said["told"]), {str(k): str(v) for k, v in said["fingerprint"].items()}
    origin = Origin(
        rebuild(said[kind], kind, arrays), str(said["decomposition"]), str(said["made"]),
        None if sub is None else rebuild(sub, "subsolver", arrays),
        int(said["seed"]), told, bool(said["own_rule"]), prints, said.get("adaptive"),
    )  # fmt: skip
    return Checkpoint(path, origin, header, arrays)


def guarded(path: str | os.PathLike[str], work: Callable[[], T]) -> T:
    """Raise BadModel for any error, because a file with a valid digest may still hold invalid values."""
    try:
        return work()
    except BadModel:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as why:
        raise BadModel(path, f"is not a checkpoint of this version ({type(why).__name__}: {str(why)[:80]})") from None
