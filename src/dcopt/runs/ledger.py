"""What a run has written down beside its State: with both, another process goes on as the run would have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..measures import SampleBound
from ..status import Status
from ..xp import Array


class End(NamedTuple):
    """Why a run ends."""

    status: Status
    message: str = ""
    error: BaseException | None = None


class Examined(NamedTuple):
    """A point examined with all components, in float64."""

    t: int
    x: Array
    F: float
    measure: float
    seconds: float
    bound: SampleBound  # how large the measure may be: itself, or more on a sample


class Searches(NamedTuple):
    """F where the first and the last search for a lower critical point began, and how many there were."""

    first: float = math.inf
    last: float = math.inf
    times: int = 0


@dataclass(frozen=True)
class Ledger:
    """All that decides how a run goes on, beside its State. Every event makes a new one."""

    kept: tuple[int, Any]  # t and x of the uniformly random output so far
    seconds: float = 0.0
    checks: int = 0  # component gradients of certificate checks
    next_check: float = 0.0  # passes from which a check is due
    next_trace: float = 0.0  # passes from which a line of the trace is due
    first: Examined | None = None  # the first point that was examined, after the steps on samples
    best: Examined | None = None  # the examined point with the least F
    here: Examined | None = None  # the point of the state, if it was examined
    level: float = math.inf  # the least measure that a check has seen
    mark: tuple[float, float] = (math.inf, math.inf)  # F and the measure at the last progress,
    idle: int = 0  # and the checks since
    checked: int = -1  # the step of the last check
    last_two: tuple[float, float] = (math.inf, math.inf)  # the measure at the last two checks
    searches: Searches = Searches()
    certified: Examined | None = None  # the critical point where the last search began
    leap: bool = False  # The next step leaves a critical point for a lower one; it is made without asking the rule.
    notes: tuple[str, ...] = ()  # what "auto" took, and where it started
    end: End | None = None  # What a look at a point has shown: DIVERGED or STALLED. No further step is made.
