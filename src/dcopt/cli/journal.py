"""What a fit with a checkpoint keeps beside it, in `run.ckpt.fit`: what was asked for, λ, and where the run began.

The checkpoint holds the run at hand; with both, `dcopt resume` goes on as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadModel
from ..experiments.fit_report import Along
from ..learn.steps import Tuning
from ..learn.task import Progress
from ..store import load_model, save_model
from ..watch import Record
from .wanted import Columns, Fitted

_LINES = ("lams", "middle", "low", "high", "nnz")  # of an Along


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
    select: str = "cv"
    folds: int = 5
    lams: int = 30
    standardize: bool = False
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
        """How the data are read; `fitted`: those that came before them."""
        return Columns(
            self.target, tuple(self.drop), missing=self.missing, categorical=tuple(self.categorical),
            decimal=self.decimal, header=self.header, zero_based=self.zero_based, fitted=fitted,
        )  # fmt: skip


@dataclass
class Journal:
    """Written when λ is known for another fold, and before every run; read by `dcopt resume`."""

    asked: Asked
    tuning: Tuning | None = None
    along: Along | None = None
    lam: float | None = None
    at: Progress | None = None

    @property
    def path(self) -> Path:
        return beside(self.asked.checkpoint or "")

    def folds(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self.write()

    def turn(self, at: Progress) -> None:
        self.at = at
        self.write()

    def write(self) -> None:
        if self.asked.checkpoint is None:
            return
        arrays: dict[str, Any] = {}
        header: dict[str, Any] = {"fit": asdict(self.asked), "lam": self.lam}
        if self.tuning is not None:
            arrays["lams"], arrays["losses"] = self.tuning.lams, np.array(self.tuning.losses, np.float64)
        if self.along is not None:
            header["along"] = {"what": self.along.what, "names": list(self.along.names), "lam": self.along.lam}
            arrays |= {f"along.{name}": np.array(getattr(self.along, name)) for name in _LINES}
            arrays["along.effects"] = np.array(self.along.effects, np.float64)
        if self.at is not None:
            header["at"] = [self.at.way, self.at.passes, self.at.steps, self.at.seconds]
            arrays["x0"] = self.at.x0
            arrays["seen"] = np.array(self.at.records, np.float64).reshape(-1, len(Record._fields))
        save_model(self.path, header, arrays, allow_nonfinite=True)


def beside(checkpoint: str | Path) -> Path:
    """Where the journal of a checkpoint is."""
    path = Path(checkpoint)
    return path.with_name(path.name + ".fit")


def read_journal(checkpoint: str | Path) -> Journal:
    """The journal of a checkpoint."""
    path = beside(checkpoint)
    if not path.exists():
        raise BadModel(checkpoint, f"is no checkpoint of dcopt fit: {path.name} is not beside it")
    header, arrays = load_model(path, allow_nonfinite=True)
    try:
        known = {f.name for f in fields(Asked)}
        journal = Journal(Asked(**{k: v for k, v in header["fit"].items() if k in known}), lam=header["lam"])
        if "lams" in arrays:
            journal.tuning = Tuning(arrays["lams"], list(arrays["losses"].reshape(-1, len(arrays["lams"]))))
        if "along" in header:
            said, lines = header["along"], {name: tuple(arrays[f"along.{name}"].tolist()) for name in _LINES}
            lines["effects"] = tuple(map(tuple, arrays["along.effects"].tolist()))
            journal.along = Along(said["what"], names=tuple(said["names"]), lam=said["lam"], **lines)
        if "at" in header:
            way, passes, steps, seconds = header["at"]
            seen = tuple(Record(*line) for line in arrays["seen"].tolist())
            journal.at = Progress(arrays["x0"], int(way), passes, int(steps), seconds, seen)
    except (ValueError, TypeError, KeyError, AttributeError) as why:
        raise BadModel(path, f"is no journal of this version ({type(why).__name__}: {str(why)[:80]})") from None
    return journal
