"""How a run ended."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """How a run ended; the value is the sentence shown to the user. Every member carries a usable x."""

    CONVERGED = "the measure, recomputed with a full gradient at the returned x, is at most tol"
    ACCEPTABLE = "the measure is at most a looser tolerance, or at most tol on a sample of stated size"
    BUDGET = "the gradients or steps were used up"
    TIME = "the seconds were used up"
    STALLED = "no progress is measurable above rounding or noise"
    OUT_OF_DATA = "the stream ended"
    WAITING = "the stream may go on: the next samples are learned from as they come"
    INTERRUPTED = "stopped from outside: Ctrl-C, a signal or an observer"
    SUBPROBLEM = "the convex program was not solved to its tolerance; x is the last good point"
    DIVERGED = "a number was not finite or F rose past its bound; x is the last finite point"

    @property
    def success(self) -> bool:
        """Whether a tolerance was met."""
        return self in (Status.CONVERGED, Status.ACCEPTABLE)
