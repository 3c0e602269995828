"""The result of a run: the point it returns, certified afresh from all the data, and a status that is true of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data import engine
from ..measures import CONFIDENCE
from ..state import Certificate, Result, Spent
from ..status import Status
from ..xp import Array
from . import judge
from .driver import Driver
from .ledger import End, Examined


def result(run: Driver, end: End, method: str, tested: tuple[int, Array] | None = None) -> Result:
    """The result of a run that has come to this end.

    `tested`: t and x of the last point at which a method with an adaptive κ has tested F. It is returned instead of
    the last point if that is higher.
    """
    run.record()  # It examines the last point: with what the method's memory tells, where that tells all.
    goal, tol = run.goal, run.goal.tol
    # Then the last point is examined again, from the data alone: a certificate does not rely on the method.
    look = run.examined(run.t, run.state.x) if run.memory() is not None else run.examine()
    if end.status is not Status.CONVERGED:
        look = _returned(run, end, look, tol)
        if tested is not None and goal.output == "last" and not look.F <= run.P.value(tested[1]):  # NaN too
            look = run.examined(*tested)
    broken = run.ledger.end  # Points were examined since the run ended, and each may have shown that it diverged.
    if broken is not None and end.status not in (Status.CONVERGED, Status.DIVERGED) and end.error is None:
        end = broken
    if end.status is Status.CONVERGED or tol is None:
        tol = run.tol_met  # A rule of the caller's may have asked for more.
    known, stream = run.P.sum.evaluation.n or 0, run.P.n is None
    run.ledger = replace(run.ledger, checks=run.ledger.checks + known)
    status, message = judge.verdict(end, look.bound.bound, tol, goal.loose_tol, stream)
    certificate = Certificate(
        goal.measure, look.measure, tol, str(known) if stream else "full", look.t, look.F,
        int(np.count_nonzero(look.x)), scale=goal.scale, kind=run.P.r.certifies,
    )  # fmt: skip
    if stream:
        bound, spread = look.bound
        certificate = replace(certificate, bound=bound, confidence=CONFIDENCE, spread=spread)
    spent = Spent(run.state.spent.gradients, run.state.spent.paper, run.ledger.checks)
    return Result(
        np.array(look.x), status, certificate, run.trace, spent, run.seed, method, run.t, run.seconds,
        message, run.state, end.error, (*run.P.sum.notes(), *engine.notes()),
    )  # fmt: skip


def _returned(run: Driver, end: End, last: Examined, tol: float | None) -> Examined:
    """The point that is returned by a run that did not converge at its last one. The first that applies:

    1. a search was under way, and the last point does not meet tol: the critical point where this search began;
    2. the best point was asked for, or the run diverged: the examined point with the least F;
    3. a uniformly random point was asked for: the one that was kept;
    4. the last point.
    """
    ledger, broken = run.ledger, run.ledger.end
    diverged = Status.DIVERGED in (end.status, None if broken is None else broken.status)
    certified = ledger.certified
    if certified is not None and not (tol is not None and last.bound.bound <= tol):
        return run.examined(certified.t, certified.x)
    if (run.goal.output == "best" or diverged) and ledger.best is not None:
        # It is examined again: on the way it was seen with the method's own look, on which no certificate relies.
        return run.examined(ledger.best.t, ledger.best.x)
    return run.examined(*ledger.kept) if run.goal.output.startswith("uniform") else last
