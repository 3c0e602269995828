"""The whole truth about a run, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .status import Status
from .sums import Cost
from .watch import Trace
from .xp import Array


class State(NamedTuple):
    """x_t and all that the next step needs. A checkpoint is this and nothing else."""

    t: int  # steps done
    x: Array  # x_t
    prev: Array | None  # x_{t−1}
    memory: Any  # the estimator's, owned by the newest state
    spent: Cost  # component gradients so far
    residual: float = 0.0  # of the convex program that gave x

    def frozen(self) -> State:
        """The same state with read-only views of its points: what observers get."""
        return self._replace(x=_read_only(self.x), prev=_read_only(self.prev))


def _read_only(x: Array) -> Array:
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

    def __str__(self) -> str:
        against = "" if self.tol is None else f" {'<=' if self.value <= self.tol else '>'} tol {self.tol:.3g}"
        seen = "a full gradient" if self.at == "full" else f"a sample of {self.at}"
        end = f"F = {self.F:.6g}, {self.nnz} non-zeros"
        return f"{self.measure} {self.value:.3g}{against} at step {self.t} ({seen}); {end}"


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

    @property
    def success(self) -> bool:
        return self.status.success

    def __str__(self) -> str:
        return f"{self.status.name} ({self.message}): {self.certificate}; {self.method}, seed {self.seed}"
