"""A problem, a method that fits it and what was told: ready to run, from the start or from a checkpoint."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .convex import ScaledIdentity, equilibrated_diagonal
from .data.dense import DenseRows
from .data.engine import clock
from .data.intercept import WithIntercept
from .draw import Draw
from .epochs import locally
from .errors import BadInput, BadSettings, a_kind, pick, require_number
from .estimators import Full, Revisited
from .loop import dca
from .measures import MEASURES, scale
from .methods import AUTO, Method, own_subsolver, resolve
from .problem import Problem
from .run import Run, Saved, Search
from .state import Result, State
from .stop import Passes, Progress, Rule, Samples, Seconds, Steps, Tol
from .store.checkpoint import Origin
from .store.fingerprint import fingerprint
from .store.keeper import Keeper
from .subproblems import Subsolver
from .subproblems.local import Local
from .subproblems.parts import entries
from .subproblems.start import dense_start
from .sums import Cost, LinearSum
from .xp import Array

Observer = Callable[[State], Any]
_MOST = 10**7  # samples of a stream, where only tol is given
_ROOMY = 100.0  # passes
_SMALL = 2**18  # entries of A, times the classes: there auto tries
_RIDGES, _TRIED = (2.0, 5.0, 10.0), 6  # starts, and so many steps from each
_FLOATS = ("passes", "samples", "seconds", "tol", "loose_tol", "trace", "scale")


class Tolerance(NamedTuple):
    """Tolerances as absolute numbers, and the size that the relative ones are shares of."""

    tol: float | None
    loose_tol: float | None
    scale: float | None

    @classmethod
    def of(
        cls,
        P: Problem,
        measure: str,
        x0: Array,
        tol: float | None,
        atol: float | None,
        loose_tol: float | None,
        size: float | None = None,
    ) -> Tolerance:
        """Of tol and atol the larger one holds. The scale, if it is not known, is computed where it is needed."""
        for name, value in (("tol", tol), ("atol", atol), ("loose_tol", loose_tol), ("scale", size)):
            if value is not None:
                require_number(name, value, 0.0)
        if size is None and not (tol is None and loose_tol is None):
            size = scale(P, measure, x0)
        shares = [None if share is None or size is None else float(share) * size for share in (tol, loose_tol)]
        if atol is None or (shares[0] is not None and shares[0] >= atol):
            return cls(shares[0], shares[1], size)
        return cls(float(atol), shares[1], None)


def default_tol(dtype: Any) -> float:
    """The relative tolerance of a run that is told nothing: float32 holds no points that are much nearer."""
    return 1e-6 if dtype == np.float64 else 1e-4


@dataclass(frozen=True)
class Told:
    """Budgets, tolerances and output as the caller gave them: a checkpoint keeps them."""

    passes: float | None = None
    samples: float | None = None
    steps: int | None = None
    seconds: float | None = None
    tol: float | None = None  # absolute, as all that is compared with a measure
    measure: str = "criticality"
    loose_tol: float | None = None
    output: str = "last"
    trace: float | str | None = "auto"
    settle: bool = False
    search: bool = False  # for lower critical points,
    leaps: bool = False  # also on the way to the first of them
    scale: float | None = None  # The size that tol is a share of; None: it was given absolute.

    def absolute(self, given: Tolerance) -> Told:
        """With tolerances as numbers that a measure can be compared with."""
        return replace(self, tol=given.tol, loose_tol=given.loose_tol, scale=given.scale)

    def rule(self, P: Problem, stop: Rule | None) -> Rule:
        """The stop rule; refuses what does not fit together."""
        pick("measure", self.measure, MEASURES)
        pick("output", self.output, ("last", "best", "uniform", "uniform-before"))
        most = 1e3 if isinstance(P.G, ScaledIdentity) else 1e5  # passes inside the programs of a general G count too
        tol = None if self.tol is None else Tol(self.tol, self.settle)
        rule = _rule(self.passes, self.samples, self.steps, self.seconds, tol, stop, P.n is None, most)
        if self.output.startswith("uniform") and self.tol is not None:
            expected = "'last' or 'best' with tol: a uniform index belongs to a fixed budget"
            raise BadSettings("output", self.output, expected)
        if self.loose_tol is not None:
            require_number("loose_tol", self.loose_tol, 0.0)
        if self.trace is not None and self.trace != "auto":
            require_number("trace", self.trace, 0.0, open_low=True)
        return rule

    @property
    def roomy(self) -> bool:
        """Whether some tens of passes may be spent on finding a start."""
        if self.steps is not None or self.seconds is not None or self.samples is not None:
            return False
        return self.tol is not None if self.passes is None else self.passes >= _ROOMY

    def half(self, run: Progress) -> bool:
        """Whether at most half of every budget is used."""
        spent = (self.passes, run.passes), (self.steps, run.t), (self.seconds, run.seconds)
        return all(budget is None or 2 * used <= budget for budget, used in spent)

    def every(self, P: Problem) -> Any:
        """Passes (samples, on a stream) between two lines of the trace."""
        if self.trace == "auto":
            return 1.0 if P.n is not None else "doubling"
        return self.trace

    def plain(self) -> dict[str, Any]:
        """As numbers that a file can hold."""
        given = asdict(self)
        floats = {key: float(given[key]) for key in _FLOATS if given[key] not in (None, "auto")}
        return given | floats | ({} if self.steps is None else {"steps": int(self.steps)})


class Job:
    """A problem, a method that fits it, and what was told: ready to run, from the start or from a checkpoint."""

    def __init__(self, P: Problem, method: Any, told: Told, seed: int, subsolver: str | Subsolver | None) -> None:
        self.P, self.told, self.seed = P, told, seed
        self.given = method
        self.named, notes = resolve(method, P)
        self.recipe, more = locally(self.named, P)
        self.notes = notes + more
        self.tuned, self.estimator = self.recipe.prepare(P)
        self.estimator.check(P.n)
        self.subsolver = own_subsolver(subsolver, self.recipe, self.estimator)
        self.before = 0.0  # seconds spent on finding a start

    @property
    def made(self) -> str:
        """The estimator, sizes and all; of epochs the one inside, which a version of the library may size otherwise."""
        return repr(self.estimator) if self.recipe is self.named else self.recipe.says

    def dense(self, state: State, may_try: bool) -> State:
        """The first state of a method that may choose where to start: of small data it may try several starts.

        "dca-local" chooses nothing else: 0 is its start where the data is not small.
        """
        if not isinstance(self.estimator, Revisited):
            return state
        began = clock()
        small = may_try and self.told.roomy and (self.P.n or math.inf) * state.x.size <= _SMALL
        small = small and self.estimator.nested is None
        if not small and self.given != AUTO:
            return state
        starts: list[tuple[float, int, Array]] = []
        spent, draw, f = Cost(0, 0), Draw(self.seed, 0), self.P.f
        with np.errstate(all="ignore"):
            for ridge in _RIDGES if small else _RIDGES[:1]:
                x, cost = dense_start(self.tuned, draw, self.estimator.nested, ridge)
                F, spent = 0.0, spent.plus(cost)
                if x is not None and small and isinstance(f, LinearSum):
                    *_, last = islice(self._states(state._replace(x=x, spent=spent)), _TRIED)
                    new = 0 if f.recent.knows(last.x) else f.n  # mostly the last step has looked there
                    x, spent = last.x, last.spent.plus(Cost(new, new))
                    F = f.recent.at(x).value + self.P.r.value(x)
                if x is not None and math.isfinite(F):
                    starts.append((F, len(starts), x))
        self.before, state = clock() - began, state._replace(spent=spent)
        if not starts:
            return state
        several = f", the lowest of {len(starts)} after {_TRIED} steps each," if small else ""
        self.notes = (*self.notes, f"it starts with a step of f alone{several} from where the penalty lets go of more "
                      "than it would take up from 0 (x0 = zeros starts there)")  # fmt: skip
        return state._replace(x=min(starts)[2])

    @property
    def looks_around(self) -> bool:
        """Whether its steps can: they know F and the curvature of f."""
        return isinstance(self.estimator, Revisited) and self.subsolver is None

    @cached_property
    def searches(self) -> bool:
        """Whether it may leave a critical point for a lower one: r is a sum over entries, and r2 is not 0."""
        P = self.P
        may = self.told.search and self.looks_around and P.r.L2 != 0.0
        return may and entries(P.r, np.zeros(P.shape)) is not None

    def must_search(self) -> None:
        """Refuse where it cannot, and there may be something to find."""
        if self.P.r.L2 == 0.0 or self.searches:
            return
        if self.looks_around:
            raise BadSettings("search", True, f"None: r = {type(self.P.r).__name__} is no sum over entries of x")
        methods = 'None, or method="auto", "dca-local" or "dca-nested" without a sub-solver of one\'s own'
        raise BadSettings("search", True, methods)

    def _search(self, state: State) -> Iterator[State]:
        """The states after one that has converged: a step that looks for a lower critical point, and those after it."""
        state = next(self._states(state, far=0.0))
        yield state
        yield from self._states(state)

    def _states(self, state: State, **settings: Any) -> Iterator[State]:
        """Those after this one; the settings are those of a search, where there is one.

        "auto" looks around on its way too. Who asks for a search gets one at critical points only, the first of them
        the one that a run without it ends at: none ends higher.
        """
        solver = self.recipe.subsolver(self.tuned) if self.subsolver is None else self.subsolver
        if self.searches and isinstance(solver, Local) and (settings or self.told.leaps):
            solver = replace(solver, search=True, **settings)
        return dca(self.tuned, self.estimator, solver, state, self.seed)

    @property
    def measured(self) -> Problem:
        """The problem that the measure is taken of.

        The gap depends on G. Methods that take the curvature of f at x as their metric have no fixed G: their gap is
        that of a diagonal G above f, in which every feature has its own curvature.
        """
        f = self.P.f
        local = isinstance(self.estimator, Revisited) and self.told.measure == "gap"
        if local and isinstance(f, LinearSum) and f.widths is not None:
            return replace(self.P, G=equilibrated_diagonal(f), tunable=False)
        return self.P

    def keeper(self, path: str | os.PathLike[str], every: float, own_rule: bool) -> Keeper:
        """What writes the checkpoints of this job."""
        require_number("every", every, 0.0)
        by_name = isinstance(self.given, (str, Method))
        method = self.named if by_name else self.given
        origin = Origin(
            method, self.made, self.subsolver, self.seed, self.told.plain(), own_rule, fingerprint(self.P)
        )
        return Keeper(path, float(every), origin)

    def run(
        self, rule: Rule, callbacks: Sequence[Observer], state: State, saved: Saved | None, keeper: Keeper | None
    ) -> Result:
        P, told, measure = self.P, self.told, MEASURES[self.told.measure]
        states = self._states(state)
        exact = isinstance(self.estimator, Full) and self.recipe.transform is None  # then every step descends
        looks = isinstance(self.estimator, Revisited) and isinstance(P.f, LinearSum)
        run = Run(
            self.measured, self.tuned, state, measure, told.measure, told.every(P), told.output, self.seed, exact, looks
        )
        run.seconds = self.before
        if isinstance(self.estimator, Revisited) and self.estimator.nested is not None and isinstance(P.f, LinearSum):
            run.sampled = self.estimator.nested.length(P.f)
        if saved is not None:
            run.restore(saved)
        with np.errstate(all="ignore"):  # what is not finite is found and said, not warned of
            _compile(P, state.x)
            unseen = 0  # component gradients of a first look that no step pays for
            if looks and saved is None and self.estimator == Revisited():
                began, f = clock(), P.f
                assert isinstance(f, LinearSum)
                f.recent.at(state.x)  # the first look serves the first step too
                unseen = f.n
                run.seconds += clock() - began
            if keeper is not None and saved is None:
                keeper.begin(run)
            end = run.go(states, rule, callbacks, keeper, Search(self._search, told.half) if self.searches else None)
            run.checks += unseen if run.t == 0 else 0
            if keeper is not None:
                keeper.end(run)
            result = run.result(end, self.recipe.name, told.tol, told.loose_tol, told.scale)
            searched = (run.sought(),) if self.searches else ()
            more = (*self.notes, *searched, *(() if keeper is None else keeper.notes()))
            return replace(result, notes=(*result.notes, *more)) if more else result


def is_problem(P: Any) -> None:
    if not isinstance(P, Problem):
        raise BadInput("P", f"is {a_kind(P)}: build a problem with dcopt.erm(X, y, …) or dcopt.Problem(…)")


def are_observers(callbacks: Any) -> None:
    if not (isinstance(callbacks, Sequence) and all(map(callable, callbacks))):
        raise BadSettings("callbacks", callbacks, "a list of functions of a State")


def _rule(
    passes: float | None,
    samples: float | None,
    steps: int | None,
    seconds: float | None,
    tol: Tol | None,
    stop: Rule | None,
    stream: bool,
    most: float = 1e3,
) -> Rule:
    if stop is not None and not isinstance(stop, Rule):
        raise BadSettings("stop", stop, "a rule such as dcopt.stop.Passes(20) | dcopt.stop.Tol(1e-6)")
    rules: list[Rule] = [] if stop is None else [stop]
    if passes is not None:
        rules.append(Passes(passes))
    if samples is not None:
        rules.append(Samples(samples))
    if steps is not None:
        rules.append(Steps(steps))
    if seconds is not None:
        rules.append(Seconds(seconds))
    if stream and any(rule.uses(Passes) for rule in rules):
        raise BadSettings("passes", passes, "samples=… instead: a stream has no N, and so no passes")
    if stream and not rules and tol is None:
        raise BadSettings("samples", None, "a budget for a stream: samples=, steps=, seconds= or tol=")
    if not rules:
        rules.append(Samples(_MOST) if stream else Passes(20.0 if tol is None else most))
    if tol is not None:
        rules.insert(0, tol)
    rule = rules[0]
    for other in rules[1:]:
        rule = rule | other
    return rule


def _compile(P: Problem, x: Array) -> None:
    """Let the kernels of a step be compiled or loaded before the clock starts; a dense matrix has none."""
    a = getattr(P.sum, "a", None)
    if isinstance(a.a if isinstance(a, WithIntercept) else a, DenseRows):
        return
    batch = P.sum.sample(1, Draw(0, 0)) if P.n is not None else P.known.all()
    batch.grad(x)
    batch.diff(x, x)
