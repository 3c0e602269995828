"""What a run's numbers say about it: pure functions of the ledger and of a point that was examined."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..status import Status
from .ledger import End, Examined, Ledger

CHECK_EVERY = 5.0  # passes between two checks of the measure: they cost at most a fifth of the method
_STALL_CHECKS = 10  # checks in a row without progress, after which a run has stalled
_PROGRESS = 0.99  # factor by which the measure falls where there is progress
_RISE = 0.1  # share of F(x0) by which F may exceed it before a stochastic run is called diverged
_NOISE = 10.0  # the same on a stream, whose floor of noise may lie above F(x0)
_FAST = 10.0  # factor by which a measure falls that is still falling from one step to the next
_FINE = 1e-4  # share of the tolerance beyond which nothing is gained


@dataclass(frozen=True)
class Promise:
    """What a method promises about F."""

    eps: float  # rounding of the type of x
    descends: bool = False  # Every step descends: F may not rise by more than rounding.
    certified: bool = True  # Programs are solved to a tolerance, and the sum is finite.
    sampled: int = 0  # steps that descend on a sample: F on all rows may rise meanwhile
    measure: str = "measure"
    blame: str = ""  # what may be wrong where F rises
    restores: bool = False  # The method tests F and goes back where it rose: nothing between two tests is a verdict.


def judge(ledger: Ledger, look: Examined, promise: Promise, lost: float) -> End | None:
    """DIVERGED where a number is not finite or F rose past its bound; `lost` is what rounding may take from F."""
    if promise.restores and ledger.first is not None:
        return None
    if not math.isfinite(look.F) or math.isnan(look.measure):
        said = f"F is {look.F}, the {promise.measure} {look.measure} at step {look.t}"
        return End(Status.DIVERGED, said + promise.blame)
    before = ledger.best if promise.descends else ledger.first
    if before is None or look.t < before.t:  # An older point, kept as the output, may well be higher.
        return None
    room = _RISE if promise.certified else _NOISE
    if promise.descends:
        room = max(1e-9, 32 * promise.eps)
    most = before.F + room * max(abs(before.F), 1e-3)
    if look.F > most and look.F > most + lost:
        rise = f"F rose from {before.F:.6g} to {look.F:.6g} at step {look.t}"
        return End(Status.DIVERGED, rise + promise.blame)
    return None


def examined(ledger: Ledger, look: Examined, promise: Promise, lost: float) -> Ledger:
    """With a point that was examined."""
    if ledger.first is None and look.t >= promise.sampled:
        ledger = replace(ledger, first=look)
    end = judge(ledger, look, promise, lost)
    best = look if ledger.best is None or look.F < ledger.best.F else ledger.best
    return replace(ledger, best=best, end=end or ledger.end)


def checked(ledger: Ledger, look: Examined, cost: int, next_check: float, eps: float) -> Ledger:
    """With a check of the measure at a point that was examined; STALLED after ten of them without progress."""
    F, measure = ledger.mark
    rounding = 4 * eps * abs(look.F)
    progress = look.F < F - rounding or look.measure < _PROGRESS * measure
    mark, idle = ((min(F, look.F), min(measure, look.measure)), 0) if progress else (ledger.mark, ledger.idle + 1)
    level, end = min(ledger.level, look.measure), ledger.end
    if idle >= _STALL_CHECKS and end is None:
        end = End(Status.STALLED, f"{_STALL_CHECKS} checks without progress; attained {level:.3g}")
    return replace(
        ledger, checks=ledger.checks + cost, next_check=next_check,
        checked=look.t, level=level, mark=mark, idle=idle, last_two=(ledger.last_two[1], look.measure), end=end,
    )  # fmt: skip


def still_falls(ledger: Ledger, tol: float) -> bool:
    """Whether one more step would lower the measure tenfold, above 1e-4 tol."""
    before, now = ledger.last_two
    return before > _FAST * now and now > _FINE * tol


def verdict(end: End, bound: float, tol: float | None, loose_tol: float | None, stream: bool) -> tuple[Status, str]:
    """The status that is true of the certified point, and its message."""
    status, message = end.status, end.message or end.status.value
    ended = status in (Status.BUDGET, Status.TIME, Status.STALLED, Status.OUT_OF_DATA) or status.success
    if not ended:
        return status, message
    if tol is not None and bound <= tol:
        status = Status.ACCEPTABLE if stream else Status.CONVERGED  # A sample is no full gradient.
        return status, status.value
    if loose_tol is not None and bound <= loose_tol:
        return Status.ACCEPTABLE, f"{message}; the measure is at most {loose_tol:.3g}"
    if status.success:  # a rule of the caller's own: only a certificate makes it true
        return Status.INTERRUPTED, f"a rule said {status.name}; no tolerance is met"
    return status, message
