"""The journal of a fit, kept beside its checkpoint in `run.ckpt.fit`: the options, λ, and the start of the run.

The checkpoint holds the present run. With both, `dcopt resume` gives the result of an uninterrupted fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets.request import Columns, Fitted
from ..errors import BadModel
from ..fit.criteria import CRITERIA
from ..fit.task import Progress
from ..fit.tuning import FOLD_RULES, Tuning
from ..report.fit_report import Along
from ..runs.trace import Record
from ..store import load_model, save_model
from ..store.restored import guarded
from .outputs import beside

_SAID = (("what", "str"), ("rule", "str"), ("lam", "float"))  # Fields of an Along.
_LINES = ("lams", "middle", "low", "high", "nnz")  # Fields of an Along.


@dataclass(frozen=True)
class Asked:
    """The options of `dcopt fit`."""

    data: str
    target: str | None = None
    drop: Sequence[str] = ()
    missing: str = "refuse"
    categorical: Sequence[str] = ()
    decimal: str | None = None
    header: bool | None = None
    zero_based: bool = False
    loss: str | None = None
    penalty: str = "scad"
    settings: Sequence[str] = ()
    lam: str = "auto"
    rule: str = "best"
    folds: int = 5
    lams: int = 30
    standardize: bool = True
    intercept: bool = True
    solver: str = "auto"
    tol: float = 1e-4
    max_passes: float = 1000.0
    max_seconds: float | None = None
    seed: int = 0
    test: str | None = None
    checkpoint: str | None = None
    out: str | None = None
    report: str | None = None

    def columns(self, fitted: Fitted | None = None) -> Columns:
        """The options for reading the data; `fitted` are the data of the fit."""
        return Columns(
            self.target, tuple(self.drop), missing=self.missing, categorical=tuple(self.categorical),
            decimal=self.decimal, header=self.header, zero_based=self.zero_based, fitted=fitted,
        )  # fmt: skip


@dataclass
class Journal:
    """Written when λ is known for another fold, and before every run; read by `dcopt resume`.

    `note` reports a save that fails. The fit goes on, and can be resumed from the last good save.
    """

    asked: Asked
    tuning: Tuning | None = None
    along: Along | None = None
    lam: float | None = None
    at: Progress | None = None
    ended: str | None = None  # The status after the end of the fit.
    note: Callable[[str], Any] = field(default=lambda text: None, compare=False)

    @property
    def path(self) -> Path:
        return beside(self.asked.checkpoint or "")

    def folds(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self._save()

    def turn(self, at: Progress) -> None:
        self.at = at
        self._save()

    def end(self, status: str | None) -> None:
        """The fit is over; None: it goes on."""
        if self.ended != status:
            self.ended = status
            self._save()

    def _save(self) -> None:
        try:
            self.write()
        except OSError as why:
            self.note(f"{self.path} could not be saved, the fit goes on: {why.strerror or why}")

    def write(self) -> None:
        """Save, or raise OSError."""
        if self.asked.checkpoint is None:
            return
        arrays: dict[str, Any] = {}
        header: dict[str, Any] = {"fit": asdict(self.asked), "lam": self.lam, "ended": self.ended}
        if self.tuning is not None:
            arrays["lams"], arrays["losses"] = self.tuning.lams, np.array(self.tuning.losses, np.float64)
            arrays["hits"] = np.array(self.tuning.hits, np.float64)
            arrays["nulls"] = np.array(self.tuning.nulls, np.float64)
        if self.along is not None:
            header["along"] = {"what": self.along.what, "names": list(self.along.names), "lam": self.along.lam}
            header["along"]["rule"] = self.along.rule
            arrays |= {f"along.{name}": np.array(getattr(self.along, name)) for name in _LINES}
            arrays["along.effects"] = np.array(self.along.effects, np.float64)
        if self.at is not None:
            header["at"] = [self.at.way, self.at.passes, self.at.steps, self.at.seconds]
            arrays["x0"] = self.at.x0
            arrays["seen"] = np.array(self.at.records, np.float64).reshape(-1, len(Record._fields))
        save_model(self.path, header, arrays, allow_nonfinite=True)


def read_journal(checkpoint: str | Path) -> Journal:
    """The journal of a checkpoint; BadModel if the file is not a valid journal."""
    path = beside(checkpoint)
    if not path.exists():
        raise BadModel(checkpoint, f"is not a checkpoint of dcopt fit: {path.name} is missing")
    header, arrays = load_model(path, allow_nonfinite=True)
    return guarded(path, lambda: _journal(header, arrays))


def _journal(header: dict[str, Any], arrays: dict[str, Any]) -> Journal:
    journal = Journal(_asked(header["fit"]), lam=_typed("lam", header["lam"], "float | None"))
    journal.ended = _typed("ended", header["ended"], "str | None")
    if "lams" in arrays:
        lams = arrays["lams"]
        losses, hits = (list(arrays[name].reshape(-1, len(lams))) for name in ("losses", "hits"))
        nulls = [(float(loss), float(share)) for loss, share in arrays["nulls"].reshape(-1, 2)]
        if not len(losses) == len(hits) == len(nulls):
            raise ValueError("a fold has no score")
        here = np.flatnonzero(lams == journal.lam)
        journal.tuning = Tuning(lams, losses, hits, nulls, index=int(here[0]) if here.size else -1)
    if "along" in header:
        journal.along = _along(header["along"], arrays)
    if "at" in header:
        way, passes, steps, seconds = header["at"]
        seen = tuple(Record(*line) for line in arrays["seen"].tolist())
        journal.at = Progress(arrays["x0"], int(way), float(passes), int(steps), float(seconds), seen)
    return journal


def _along(said: dict[str, Any], arrays: dict[str, Any]) -> Along:
    lines = {name: tuple(arrays[f"along.{name}"].tolist()) for name in _LINES}
    effects = tuple(map(tuple, arrays["along.effects"].tolist()))
    what, rule, lam = (_typed(name, said[name], kind) for name, kind in _SAID)
    names = tuple(_typed("names", said["names"], "Sequence[str]"))
    if rule not in (*FOLD_RULES, *CRITERIA):
        raise ValueError(f"rule: {rule!r:.40} is none")
    if len({len(line) for line in (*lines.values(), *effects)}) != 1 or len(effects) != len(names):
        raise ValueError("the lines of the path have different lengths")
    return Along(what, **lines, names=names, effects=effects, lam=lam, rule=rule)


def _asked(said: dict[str, Any]) -> Asked:
    return Asked(**{f.name: _typed(f.name, said[f.name], str(f.type)) for f in fields(Asked) if f.name in said})


_TYPES: dict[str, Callable[[Any], bool]] = {
    "str": lambda v: isinstance(v, str),
    "bool": lambda v: isinstance(v, bool),
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "float": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "Sequence[str]": lambda v: isinstance(v, list) and all(isinstance(one, str) for one in v),
}


def _typed(name: str, value: Any, kind: str) -> Any:
    """The value, if it has the type of the annotation."""
    if value is None and kind.endswith(" | None"):
        return None
    if not _TYPES[kind.removesuffix(" | None")](value):
        raise TypeError(f"{name}: {value!r:.40} is not a {kind}")
    return value
