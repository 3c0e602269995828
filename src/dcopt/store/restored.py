"""A checkpoint that was read: believed only where it fits the problem, the estimator and the types of a run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..errors import BadModel
from ..measures.confidence import Doubt
from ..run import End, Look, Saved
from ..state import State
from ..status import Status
from ..sums import Cost
from ..watch import Record
from ..xp import Array
from . import tensors
from .atomic import previous
from .checkpoint import INTEGERS, Origin
from .components import rebuild

T = TypeVar("T")


def _two(said: Any) -> tuple[float, float]:
    return float(said[0]), float(said[1])


def _sought(said: Any) -> tuple[float, float, int]:
    return float(said[0]), float(said[1]), int(said[2])


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read. Nothing in it has met a problem yet."""

    path: str
    origin: Origin
    header: dict[str, Any]
    arrays: dict[str, Array]

    @property
    def t(self) -> int:
        return int(self.header["state"]["t"])

    def x(self, shape: tuple[int, ...]) -> Array:
        """x_t, if it has the shape of the problem's x: compiled code will trust it."""
        return self._point(self.header["state"]["x"], shape)

    def state(self, shape: tuple[int, ...], fresh: Any) -> State:
        """The State, its memory laid out as the fresh one that the estimator has just made."""
        said = self.header["state"]
        t, residual, asked = int(said["t"]), float(said["residual"]), float(said["asked"])
        if t < 0:
            raise BadModel(self.path, f"its step is {t}")
        prev = None if t == 0 else self._point(said["prev"], shape)
        memory = None if t == 0 else self._fit(said["memory"], fresh)
        return State(t, self.x(shape), prev, memory, Cost(*map(int, said["spent"])), residual, asked)

    def saved(self, shape: tuple[int, ...]) -> Saved:
        """What the run knew beside its state."""
        said = self.header["run"]

        def look(seen: Any) -> Look | None:
            if seen is None:
                return None
            x, doubt = self._point(seen["x"], shape), Doubt(float(seen["bound"]), float(seen["spread"]))
            F, measure, seconds = (float(seen[key]) for key in ("F", "measure", "seconds"))
            return Look(int(seen["t"]), x, F, measure, seconds, doubt)

        first, best, last = map(look, said["looks"])
        end = said["end"]
        columns = [self._column(name) for name in Record._fields]
        return Saved(
            seconds=float(said["seconds"]),
            checks=int(said["checks"]),
            next_check=float(said["next"][0]),
            next_trace=float(said["next"][1]),
            looks=(first, best, last),
            kept=(int(said["kept"][0]), self._point(said["kept"][1], shape)),
            level=float(said["level"]),
            mark=_two(said["mark"]),
            idle=int(said["idle"]),
            checked=int(said["checked"]),
            last_two=_two(said.get("last_two", [math.inf, math.inf])),  # a file of an older version has none
            known=bool(said.get("known", False)),
            sought=_sought(said.get("sought", [math.inf, math.inf, 0])),
            certified=look(said.get("certified")),
            end=None if end is None else End(Status[end[0]], str(end[1])),
            records=tuple(Record(*line) for line in zip(*columns, strict=True)),
        )

    def _column(self, name: str) -> list[Any]:
        """A column of the trace: one number a line, of the type that is written again."""
        a = self.arrays[f"trace.{name}"]
        if a.ndim != 1 or a.dtype.kind != ("i" if name in INTEGERS else "f"):
            raise BadModel(self.path, f"trace.{name} has shape {a.shape} and type {a.dtype}: it is no column")
        return list(a.tolist())

    def _point(self, name: Any, shape: tuple[int, ...]) -> Array:
        a = self.arrays[name]
        if a.shape != tuple(shape) or a.dtype.kind != "f":
            raise BadModel(self.path, f"{name} has shape {a.shape} and type {a.dtype}: it is not an x of this problem")
        return a

    def _fit(self, said: Any, template: Any) -> Any:
        """What was stored, in the tuples and shapes of a fresh memory."""
        if isinstance(template, tuple):
            parts = [self._fit(*pair) for pair in zip(said, template, strict=True)]
            return type(template)(*parts) if hasattr(template, "_fields") else tuple(parts)
        if not isinstance(template, np.ndarray):
            if (said is None) != (template is None) or isinstance(said, (dict, list, str)):
                raise BadModel(self.path, "its memory is not that of the estimator")
            return None if template is None else type(template)(said)
        a = self.arrays[said["array"]]
        grows = len(template) == 1 and a.ndim == template.ndim  # the points that a table still refers to
        shape = a.shape[:1] + template.shape[1:] if grows else template.shape
        if a.dtype.kind != template.dtype.kind or a.shape != shape or not len(a):
            raise BadModel(self.path, f"{said['array']} is not a memory of the estimator")
        return a


def load(path: str | os.PathLike[str]) -> tuple[Checkpoint, tuple[str, ...]]:
    """The checkpoint, or the generation before it where the newest is damaged, with a note that says so."""
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
    return guarded(path, lambda: _unpacked(str(path), header, arrays))


def _unpacked(path: str, header: dict[str, Any], arrays: dict[str, Array]) -> Checkpoint:
    said: Mapping[str, Any] = header["origin"]
    kind = "method" if "method" in said else "estimator"
    sub = said["subsolver"]
    told, prints = dict(said["told"]), {str(k): str(v) for k, v in said["fingerprint"].items()}
    origin = Origin(
        rebuild(said[kind], kind, arrays), str(said["made"]),
        None if sub is None else rebuild(sub, "subsolver", arrays),
        int(said["seed"]), told, bool(said["own_rule"]), prints,
    )  # fmt: skip
    return Checkpoint(path, origin, header, arrays)


def guarded(path: str | os.PathLike[str], work: Callable[[], T]) -> T:
    """A file with the right digest may still say nonsense: BadModel, whatever it is."""
    try:
        return work()
    except BadModel:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as why:
        raise BadModel(path, f"is no checkpoint of this version ({type(why).__name__}: {str(why)[:80]})") from None
