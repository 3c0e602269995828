"""The whole truth about a run, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .regularizers.base import Stationarity
from .runs.trace import Trace
from .status import Status
from .sums import Cost
from .xp import Array


class State(NamedTuple):
    """x_t and all that the next step needs. A checkpoint is this, and what the run wrote down beside it."""

    t: int  # steps done
    x: Array  # x_t
    prev: Array | None  # x_{t−1}
    memory: Any  # the estimator's, owned by the newest state
    spent: Cost  # component gradients so far
    residual: float | None = 0.0  # of the convex program that gave x; None: a look at F tested the step instead
    asked: float = 0.0  # the residual that was asked for

    def frozen(self) -> State:
        """The same state with read-only views of its arrays: what observers get."""
        return self._replace(x=_read_only(self.x), prev=_read_only(self.prev), memory=_read_only(self.memory))

    def thawed(self) -> State:
        """The same state with a memory of its own, into which steps may write."""
        return self._replace(memory=owned(self.memory))


def owned(memory: Any) -> Any:
    """The memory with arrays of its own"""
    if isinstance(memory, tuple):
        return type(memory)(*map(owned, memory))
    return memory.copy() if hasattr(memory, "flags") else memory


def _read_only(x: Any) -> Any:
    if isinstance(x, tuple):  # an estimator's memory
        return type(x)(*map(_read_only, x))
    if not hasattr(x, "flags"):  # None, or an array of a library without the notion
        return x
    view = x.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class Certificate:
    """A measure recomputed from scratch in float64 at the returned x."""

    measure: str
    value: float
    tol: float | None
    at: str  # "full", or the size of the sample
    t: int
    F: float
    nnz: int
    bound: float | None = None  # on a sample: the true measure is at most this, with the stated confidence
    confidence: float | None = None
    spread: float | None = None  # and the deviation of one sample's gradient at x
    scale: float | None = None  # The size that tol is a share of; None: tol is absolute.
    kind: Stationarity = "critical"  # what x is where the measure is 0

    def __str__(self) -> str:
        value, seen, doubt = self.value, "a full gradient", ""
        if self.bound is not None and self.confidence is not None:
            value, seen = self.bound, f"a sample of {self.at}, spread {self.spread:.3g}"
            doubt = f", at most {self.bound:.3g} with {self.confidence:.0%} confidence"
        against = ""
        if self.tol is not None:
            share = "" if self.scale is None else f" ({self.tol / self.scale:.3g} relative)"
            tol = f"tol {self.tol:.3g}{share}"
            against = f" <= {tol}: {self.kind}" if value <= self.tol else f" > {tol}"
        end = f"F = {self.F:.6g}, {self.nnz} non-zeros"
        return f"{self.measure} {self.value:.3g}{doubt}{against} at step {self.t} ({seen}); {end}"


@dataclass(frozen=True)
class Spent:
    """Component gradients of the method, as the paper counts them, and those of certificate checks."""

    gradients: int
    paper: int
    checks: int


@dataclass(frozen=True)
class Result:
    """How a run ended. `x` is the caller's own copy."""

    x: Array = field(repr=False)
    status: Status
    certificate: Certificate
    trace: Trace = field(repr=False)
    spent: Spent
    seed: int
    method: str
    steps: int
    seconds: float
    message: str
    state: State = field(repr=False)
    error: BaseException | None = None
    notes: tuple[str, ...] = ()  # what else should be known: bad rows that were skipped, a kappa that was too small

    @property
    def success(self) -> bool:
        return self.status.success

    def __str__(self) -> str:
        said = f"{self.status.name} ({self.message}): {self.certificate}; {self.method}, seed {self.seed}"
        return "; ".join((said, *self.notes))
