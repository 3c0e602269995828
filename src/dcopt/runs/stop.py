"""When to stop: rules that compose with | and &, and say how the run ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..errors import require_count, require_number
from ..status import Status


class Progress(Protocol):
    """What a rule may look at."""

    @property
    def t(self) -> int: ...

    @property
    def passes(self) -> float:
        """Honest gradients / N; on a stream samples"""

    @property
    def samples(self) -> int:
        """Drawn so far: the paper's count"""

    @property
    def seconds(self) -> float: ...

    def meets(self, tol: float, settle: bool = False) -> bool:
        """Whether a check of the measure is due (it costs a full gradient) and finds it at most tol."""


class Rule(ABC):
    """None to go on, or the Status with which to end."""

    @abstractmethod
    def __call__(self, run: Progress) -> Status | None:
        """Asked before every step."""

    def uses(self, kind: type[Rule]) -> bool:
        """Whether a rule of this kind is (a part of) it."""
        return isinstance(self, kind)

    def __or__(self, other: Rule) -> Rule:
        return _Joined((self, other), any)

    def __and__(self, other: Rule) -> Rule:
        return _Joined((self, other), all)


@dataclass(frozen=True)
class Passes(Rule):
    """N · passes component gradients, honestly counted, are used up."""

    passes: float

    def __post_init__(self) -> None:
        require_number("passes", self.passes, 0.0)

    def __call__(self, run: Progress) -> Status | None:
        return Status.BUDGET if run.passes >= self.passes else None


@dataclass(frozen=True)
class Samples(Rule):
    """So many samples were drawn (each counted once, also where it is evaluated at two points)."""

    samples: float

    def __post_init__(self) -> None:
        require_number("samples", self.samples, 0.0)

    def __call__(self, run: Progress) -> Status | None:
        return Status.BUDGET if run.samples >= self.samples else None


@dataclass(frozen=True)
class Steps(Rule):
    """t reached `steps`."""

    steps: int

    def __post_init__(self) -> None:
        require_count("steps", self.steps, 0)

    def __call__(self, run: Progress) -> Status | None:
        return Status.BUDGET if run.t >= self.steps else None


@dataclass(frozen=True)
class Seconds(Rule):
    """The time of the run, without tracing, is used up (monotonic clock)."""

    seconds: float

    def __post_init__(self) -> None:
        require_number("seconds", self.seconds, 0.0)

    def __call__(self, run: Progress) -> Status | None:
        return Status.TIME if run.seconds >= self.seconds else None


@dataclass(frozen=True)
class Settle(Rule):
    """With tol: at tol go on as long as a step lowers the measure tenfold, down to 1e-4 tol, where that costs no check.

    It is for methods that know F and its gradient at their points ("dca-local", "dca-nested") on small data, N·d ≤ 2²²:
    near its end such a method squares what is left with every step. By itself it ends nothing.
    """

    def __call__(self, run: Progress) -> Status | None:
        return None


@dataclass(frozen=True)
class Tol(Rule):
    """The measure, when a check is due, is at most tol, an absolute number.

    settle: and on small data the last step did not lower it tenfold.
    """

    tol: float
    settle: bool = False

    def __post_init__(self) -> None:
        require_number("tol", self.tol, 0.0)

    def __call__(self, run: Progress) -> Status | None:
        return Status.CONVERGED if run.meets(self.tol, self.settle) else None


@dataclass(frozen=True)
class _Joined(Rule):
    rules: tuple[Rule, ...]
    enough: Callable[[list[bool]], bool]

    def uses(self, kind: type[Rule]) -> bool:
        return any(rule.uses(kind) for rule in self.rules)

    def __call__(self, run: Progress) -> Status | None:
        said = [rule(run) for rule in self.rules]
        if not self.enough([status is not None for status in said]):
            return None
        ends = [status for status in said if status is not None]
        return Status.CONVERGED if Status.CONVERGED in ends else ends[0]
