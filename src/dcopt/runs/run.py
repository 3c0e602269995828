"""A run: its plan, where it starts, how it leaves critical points for lower ones, and its result.

A *search* begins at a critical point and looks for a lower one. A *leap* is a candidate of a step of the local method
that a search tries (`local/escape.py`). `Run.go` drives to a critical point, notes that a search begins, and drives
on, as long as the last search has lowered F and at most half of every budget is used.

    Goal.search         the caller wants searches; `Run.may_search`: the method and r allow them too
    Goal.leaps          steps on the way to the first critical point try leaps as well
    Ledger.leap         a search begins: the next step tries leaps only, and no stop rule is asked before it
    Ledger.searches     F where the first and the last search began, and the number of searches
    Ledger.certified    the point where the last search began: the result of a run that ends during this search
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..adaptive.levels import scales
from ..adaptive.memory import Adapted
from ..convex import equilibrated_diagonal
from ..data.engine import clock
from ..draw import Draw
from ..errors import BadInput, BadSettings, a_kind, require_number
from ..local import ALL, Escape, Local, Multistart, costs, local_dca
from ..method import Ready
from ..problem import Problem
from ..state import Result, State
from ..status import Status
from ..store.checkpoint import Origin
from ..store.fingerprint import fingerprint
from ..store.keeper import Keeper
from ..subproblems import Subsolver
from ..xp import Array
from .driver import Driver
from .goal import Goal
from .judge import Promise
from .ledger import End, Examined, Ledger, Searches
from .result import result
from .stop import Rule
from .trace import Record

Observer = Callable[[State], Any]
_ONE = Multistart((2.0,))


@dataclass(frozen=True)
class Run:
    """A problem, a method that is ready for it, and a goal: the plan of a run, which a `Driver` carries out."""

    P: Problem
    ready: Ready
    goal: Goal
    seed: int
    subsolver: Subsolver | None = None  # the caller's own

    @property
    def local(self) -> Local | None:
        """The settings of the local method, if it is one."""
        return self.ready.local

    # ---- the first state

    def begin(self, state: State, starts: Multistart | None = None) -> tuple[State, Ledger]:
        """The first state, from where `starts` begin if they are given, with what the first step asks of it."""
        began, notes, how = clock(), self.ready.notes, self.local
        with np.errstate(all="ignore"):
            if how is not None and starts is not None:
                state, note = starts.begin(self.P, self._with_leaps(how), state, self.seed)
                notes += (note,) if note else ()
            if how is not None:
                state = how.begin(self.P, state)
        return state, Ledger((0, state.x), clock() - began, notes=notes)

    def starts(self, room: bool, one: bool) -> Multistart | None:
        """Several starts of small data, where there is room for them; else one, if it is wanted."""
        small = costs.several_starts((self.P.n or math.inf) * math.prod(self.P.shape)).yes
        if room and small and self.local is not None and self.local.samples == ALL:
            return Multistart()
        return _ONE if one else None

    # ---- lower critical points
    #
    # A run *searches* lower critical points by *leaps*, which are candidates of a step. `Escape` holds their numbers.
    # `goal.leaps`: the ordinary steps try leaps too. `ledger.leap`: the next step leaves a critical point, and tries
    # leaps alone.

    @property
    def may_search(self) -> bool:
        """Whether the run may leave a critical point for a lower one: it is asked for, and the method can."""
        return self.goal.search and self.local is not None and self.local.can_search(self.P)

    def require_search(self) -> None:
        """Refuse where it cannot, and there may be something to find."""
        if self.P.r.L2 == 0.0 or self.may_search:
            return
        if self.local is not None:
            raise BadSettings("search", True, f"None: r = {type(self.P.r).__name__} is no sum over entries of x")
        methods = 'None, or method="auto", "dca-local" or "dca-nested" without a sub-solver of one\'s own'
        raise BadSettings("search", True, methods)

    @property
    def _escape(self) -> Escape:
        """How lower critical points are looked for: as the settings of the method say, if they do."""
        return (self.local.escape if self.local is not None else None) or Escape()

    def _with_leaps(self, how: Local) -> Local:
        """The settings of all steps but the first of a search: with leaps where `Goal.leaps` asks for them."""
        return replace(how, escape=self._escape) if self.may_search and self.goal.leaps else how

    def _states(self, state: State, leap: bool) -> Iterator[State]:
        """The states after this one; `leap`: it is critical, and the first step tries leaps only.

        These are `Ready.states`, and for the local method the same with what the goal says of leaps.
        """
        how = self.local
        if how is None:
            return self.ready.states(state, self.seed, self.subsolver)
        first = replace(how, escape=self._escape, leaps_only=True) if leap else None
        return local_dca(self.P, self._with_leaps(how), state, self.seed, first)

    # ---- the run

    def go(
        self, rule: Rule, callbacks: Sequence[Observer], state: State, ledger: Ledger, records: Sequence[Record] = (),
        keeper: Keeper | None = None, new: bool = True,
    ) -> Result:  # fmt: skip
        """Drive the method to its end; from critical points, where a search is asked for, to lower ones."""
        driver = Driver(self._measured(), self.goal, self._promise(), self.seed, state, ledger, records)
        with np.errstate(all="ignore"):  # what is not finite is found and said, not warned of
            _compile(self.P, state.x)
            if keeper is not None and new:
                keeper.begin(driver)
            while True:
                states = self._states(driver.state, driver.ledger.leap)
                end = driver.go(states, rule, callbacks, keeper)
                if not self._goes_on(driver, end):
                    break
                driver.ledger = _search_begun(driver.ledger, driver.examine())
            if keeper is not None:
                keeper.end(driver)
            seen, notes = driver.state.memory, ledger.notes
            adapted = seen if isinstance(seen, Adapted) else None
            # Steps between two tests of F may have led higher than the point of the last test.
            found = result(driver, end, self.ready.name, adapted and (adapted.good.t, adapted.good.x))
            if self.may_search:
                notes += (_searched(driver, self._escape.least),)
            if adapted is not None:
                what = "kappa" if scales(self.ready.P) else "the shift eta"
                notes += (f"{what} was adapted: {adapted.level:.3g} at the end",)
            notes += () if keeper is None else keeper.notes()
            return replace(found, notes=(*found.notes, *notes))

    def _goes_on(self, driver: Driver, end: End) -> bool:
        """Whether to leave this critical point: F is lower than where the last search began, and budgets allow it."""
        if end.status is not Status.CONVERGED or not self.may_search or driver.t < driver.promise.sampled:
            return False
        F = driver.examine().F
        return F < driver.ledger.searches.last - self._escape.least * abs(F) and self.goal.half(driver)

    def _promise(self) -> Promise:
        """What the method promises about F on this problem."""
        P, ready = self.P, self.ready
        sampled = 0 if self.local is None else self.local.samples.length(P.sum)
        restores = ready.adaptive is not None
        kappa = None if self.local is not None or restores else getattr(ready.P.G, "kappa", None)
        blame = "" if kappa is None else f": kappa = {kappa:.3g} may be below the curvature of f"
        certified = P.n is not None and ready.P.inner_tol < math.inf
        eps = float(np.finfo(P.dtype).eps)
        return Promise(eps, ready.descends, certified, sampled, self.goal.measure, blame, restores)

    def _measured(self) -> Problem:
        """The problem that the measure is taken of.

        The gap depends on G. Methods that take the curvature of f at x as their metric have no fixed G: their gap is
        that of a diagonal G above f, in which every feature has its own curvature.
        """
        if self.local is None or self.goal.measure != "gap" or self.P.f is None:
            return self.P
        rows = self.P.f.facts().rows
        if rows is None or rows.column_mean_squares is None:  # They take a pass over the entries.
            return self.P
        return replace(self.P, G=equilibrated_diagonal(rows), tunable=False)

    def keeper(self, path: str | os.PathLike[str], every: float, own_rule: bool) -> Keeper:
        """What writes the checkpoints of this run."""
        require_number("every", every, 0.0)
        ready = self.ready
        origin = Origin(
            ready.recipe, ready.decomposition, ready.text, self.subsolver, self.seed, self.goal.plain(), own_rule,
            fingerprint(self.P), None if ready.adaptive is None else asdict(ready.adaptive),
        )  # fmt: skip
        return Keeper(path, float(every), origin)


def _search_begun(ledger: Ledger, here: Examined) -> Ledger:
    """With a search that begins at this critical point"""
    before = ledger.searches
    first = here.F if before.times == 0 else before.first
    return replace(ledger, searches=Searches(first, here.F, before.times + 1), certified=here, leap=True)


def _searched(driver: Driver, least: float) -> str:
    """A note on the searches."""
    (first, last, times), F = driver.ledger.searches, driver.examine().F
    left = times - 1 + int(F < last - least * abs(F))
    if left < 1 or times == 0:
        return "it may leave critical points for lower ones (search=False does not)"
    those = "a critical point" if left == 1 else f"{left} critical points"
    return f"it left {those} for lower ones: F fell from {first:.6g} to {F:.6g} (search=False does not)"


def require_problem(P: Any) -> None:
    if not isinstance(P, Problem):
        raise BadInput("P", f"is {a_kind(P)}: build a problem with dcopt.erm(X, y, …) or dcopt.Problem(…)")


def require_observers(callbacks: Any) -> None:
    if not (isinstance(callbacks, Sequence) and all(map(callable, callbacks))):
        raise BadSettings("callbacks", callbacks, "a list of functions of a State")


def _compile(P: Problem, x: Array) -> None:
    """Let the kernels of a step be compiled or loaded before the clock starts."""
    rows = P.sum.evaluation.facts().rows
    if rows is None or not rows.compiled:
        return
    batch = rows.sample(1, Draw(0, 0)) if P.n is not None else rows.all()
    batch.grad(x)
    batch.diff(x, x)
