"""A method: an estimator, κ in units of L_f and a sub-solver, and what it needs of a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

from .adaptive import Adaptive, adaptive_dca, not_adaptive
from .convex import LocalCurvature, Majorizer, ScaledIdentity, UnknownScale
from .errors import BadSettings, CannotSolve, NeedsFiniteSum
from .estimators import SAG, SAGA, Estimator, Extrapolated, Full
from .estimators.base import KnowsItsError
from .local import Local, local_dca
from .local.epochs import EpochRule, enough, wide
from .local.settings import NEEDS_ROWS
from .loop import dca
from .problem import Problem
from .shift import for_descent, own_kappa, own_smoothness
from .state import State
from .subproblems import Subsolver, choose
from .subproblems import subsolver as as_subsolver
from .subproblems.parts import separable
from .sums.constants import importance_kappa, no_bound

_NO_TABLES = "it remembers a gradient for every component, and this sum gives none (grad= of dcopt.components may)"


@runtime_checkable
class Planned(Protocol):
    """A plan: a problem with its κ, an estimator, the steps, and the output that a theorem speaks of."""

    @property
    def P(self) -> Problem: ...
    @property
    def estimator(self) -> Estimator: ...
    @property
    def T(self) -> int: ...
    @property
    def D0(self) -> float: ...
    @property
    def x0(self) -> Any: ...
    @property
    def measure(self) -> Literal["gap", "criticality"]: ...
    @property
    def output(self) -> Literal["uniform", "uniform-before"]: ...


@dataclass(frozen=True)
class Ready:
    """A method that was made for one problem: an iterator of states from any state. `auto.resolve` makes it."""

    name: str
    P: Problem  # with the κ, or the G, of the method
    estimator: Estimator
    solver: Subsolver | None = None
    local: Local | None = None  # The steps are those of the local method.
    adaptive: Adaptive | None = None  # κ follows what the run sees.
    choose: Callable[[Problem], Subsolver] | None = None  # the sub-solver for the problem with another κ
    descends: bool = False  # Every step descends.
    text: str = ""  # the estimator, sizes and all
    notes: tuple[str, ...] = ()
    recipe: Any = None  # what it was made from: a Method, or the estimator or settings that were given
    decomposition: str = "own"  # or "gram", in which "auto" solves the problem

    def states(self, state: State, seed: int, subsolver: Subsolver | None = None) -> Iterator[State]:
        """Those after this one"""
        if self.local is not None:
            return local_dca(self.P, self.local, state, seed)
        if self.adaptive is not None:
            choose = self.choose if subsolver is None else lambda P: subsolver
            assert choose is not None  # `_adapted` has set it.
            return adaptive_dca(self.P, self.estimator, choose, self.adaptive, state, seed)
        solver = subsolver or self.solver
        assert solver is not None  # every method has one or the other
        return dca(self.P, self.estimator, solver, state, seed)


@dataclass(frozen=True)
class Method:
    """A recipe. `estimator` makes the estimator for N components."""

    name: str
    estimator: Callable[[int], Estimator]
    kappa: float = 1.0  # κ / L_f, where the problem leaves κ to the method
    says: str = ""
    only_S: bool = False  # needs f: keeps ∇G(x) exact, so it must know F = f + r
    linear: bool = False  # needs f as a sum over rows of data
    smooth_r2: bool = False
    convex_f: bool = False
    stream: Estimator | None = None  # what it uses on a stream, which has no N
    transform: Callable[[Problem], Problem] | None = None  # another decomposition of the same F
    subsolver: Callable[[Problem], Subsolver] = lambda P: choose(P.G, P.r)
    local: Local | None = None  # The steps are those of the local method.
    sizes_are_given: bool = False  # The batch sizes were given and are kept; a named recipe may widen its own.

    def ready(self, P: Problem, adaptive: Adaptive | None = None) -> Ready:
        """The method for this problem, with a κ of its own or an adaptive one; refuses what it cannot solve."""
        if adaptive is not None:
            return _adapted(self, P, adaptive)
        if self.local is not None:
            return _local(self, P, self.local)
        if isinstance(P.G, LocalCurvature) and P.n is not None:
            return _epochs(self, P)
        tuned, estimator, notes = self._prepared(P)
        estimator.check(P.n)
        exact, solver = isinstance(estimator, Full) and self.transform is None, self.subsolver(tuned)
        return Ready(self.name, tuned, estimator, solver, descends=exact, text=repr(estimator), notes=notes)

    def prepare(self, P: Problem) -> tuple[Problem, Estimator]:
        """The problem with this method's κ or shift, and the estimator for its N; refuses what cannot be solved."""
        return self._prepared(P)[:2]

    def _prepared(self, P: Problem, adapts: bool = False) -> tuple[Problem, Estimator, tuple[str, ...]]:
        """The same, and what a run should say of the shift; `adapts`: κ, or the shift, is found in the run."""
        if P.n is None and self.stream is None:
            raise NeedsFiniteSum(self.name)
        if self.only_S and P.f is None:
            raise CannotSolve(self.name, "it needs form (S), F = f + r, and was given G − H", "dca-page")
        facts = P.sum.facts()
        if self.linear and facts.rows is None:
            raise CannotSolve(self.name, NEEDS_ROWS, "dca")
        if self.smooth_r2 and P.r.L2 is None:
            raise CannotSolve(self.name, "r2 is not smooth", "dca")
        if self.convex_f and not (P.f is not None and facts.convex):
            raise CannotSolve(self.name, "f is not known to be convex, and extrapolation needs that", "dca")
        if isinstance(P.G, UnknownScale) and not adapts:
            if facts.rows is not None:  # A loss without a bound of its curvature.
                instead = "dca-local" if separable(P.r) else _ADAPTIVE
                raise CannotSolve(self.name, no_bound(facts.rows.loss), instead)
            instead = "dca-local" if facts.modelled and separable(P.r) else _ADAPTIVE
            raise CannotSolve(self.name, "the smoothness of f is not known, and κ follows from it", instead)
        own = P.tunable and not adapts and own_smoothness(P) is not None
        if P.tunable and not adapts:
            P = P.with_kappa(self._kappa(P))
        if self.transform is not None:
            P = self.transform(P)
        estimator = self.stream if P.n is None else self.estimator(P.n)
        assert estimator is not None  # seen above
        if isinstance(estimator, SAGA | SAG) and P.n is not None and not facts.tables:
            raise CannotSolve(self.name, _NO_TABLES, "dca-page" if P.n > 1 else "dca")
        if getattr(estimator, "sampling", "") == "importance" and not _weighs(P):
            why = "rows are drawn by their length in form (S) with G = κ/2 ‖x‖² only"
            raise CannotSolve(self.name, why, 'sampling="iid"')
        notes: tuple[str, ...] = ()
        if not adapts:
            P, notes = for_descent(P, estimator, self.name)  # A general G need not leave it the descent of (S).
        if P.n is None:
            return P, estimator, notes
        if P.f is None or isinstance(P.G, Majorizer) or own:
            # The h_i are given, ∇G costs nothing beside them, or κ was made for the error of the f_i.
            estimator = outside(estimator)
        if isinstance(P.G, Majorizer) and P.f is not None and facts.rows is not None:
            P = replace(P, G=P.G.steady(facts.rows, self._noise(estimator, facts.rows.n)))
        return P, estimator, notes

    def _kappa(self, P: Problem) -> float:
        """κ, where it is the method's to choose."""
        kappa: float = self.kappa * P.G.L
        estimator: Any = None if P.n is None else self.estimator(P.n)
        if (s := own_smoothness(P)) is not None:
            return own_kappa(s, estimator, P.n or 1)
        weighs = P.n is not None and getattr(estimator, "sampling", "") == "importance"
        if weighs and isinstance(estimator, KnowsItsError):
            rows = P.sum.facts().rows
            assert rows is not None  # what is tunable has them
            own = importance_kappa(rows, estimator.spread(rows.n))
            return min(kappa, own or kappa)  # 0: all rows are empty
        return kappa

    def _noise(self, estimator: Any, n: int) -> float:
        """s of an estimator that says how much of the steps' lengths its error is."""
        if getattr(estimator, "sampling", "") == "cyclic":
            why = "rows that come in order are no random sample, and nothing is known of their error"
            raise CannotSolve(self.name, why, 'sampling="iid" or "distinct"')
        if isinstance(estimator, KnowsItsError):
            return estimator.spread(n)
        why = "it has no spread(n), which says how long steps may be in a metric that is made of the data"
        raise CannotSolve(self.name, why, 'dca, or with decomposition="scalar"')


def outside(estimator: Any) -> Any:
    """The same with ∇G(x) exact, where it would be estimated with the rest (SAGA, SAG)."""
    return replace(estimator, quadratic="outside") if getattr(estimator, "quadratic", "") == "inside" else estimator


def _weighs(P: Problem) -> bool:
    """Whether the length of a row says how much it may matter."""
    scalar = isinstance(P.G, ScaledIdentity | UnknownScale)
    return P.f is not None and P.f.facts().rows is not None and scalar


def _local(method: Method, P: Problem, how: Local) -> Ready:
    """The local method on this problem"""
    if P.n is None:
        raise NeedsFiniteSum(method.name)
    return Ready(method.name, how.check(P, method.name), Full(), local=how, text=repr(how))


_ADAPTIVE = 'kappa="adaptive"'


def _adapted(method: Method, P: Problem, how: Adaptive) -> Ready:
    """The method's estimator with a κ (in problem (M) a shift η) that follows what the run sees."""
    estimator = method.estimator(P.n or 1)
    other_step = method.transform is not None or method.subsolver is not Method.subsolver
    other_step = other_step or isinstance(estimator, Extrapolated)
    if why := not_adaptive(P, method.local is not None, other_step):
        raise CannotSolve(f"{method.name} with {_ADAPTIVE}", why, "kappa=None")
    P, estimator, _ = method._prepared(P, adapts=True)
    estimator.check(P.n)
    text = f"{estimator!r}, {how!r}"
    return Ready(method.name, P, estimator, adaptive=how, choose=method.subsolver, text=text)


def _epochs(method: Method, P: Problem) -> Ready:
    """The method's estimator in epochs in the metric of f's curvature; the full gradient is `dca-local`.

    Named recipes take batches of at least `enough` rows; where a few of these are all rows, the full gradient.
    "Quadratic inside" is outside: the quadratic is known exactly.
    """
    estimator: Any = outside(method.estimator(P.n or 1))
    Local().check(P, 'decomposition="local"', 'decomposition="scalar"')
    if P.sum.facts().rows is None:
        raise CannotSolve('decomposition="local"', NEEDS_ROWS, "dca-local")
    own_step = method.transform is not None or method.subsolver is not Method.subsolver
    if own_step or isinstance(estimator, Extrapolated):
        raise CannotSolve(method.name, 'its step is not one in a metric that changes (decomposition="local")', "dca")
    if getattr(estimator, "sampling", "") == "cyclic":
        raise CannotSolve(method.name, "every epoch would begin with the same rows", 'sampling="iid" or "distinct"')
    if not method.sizes_are_given:
        estimator = wide(estimator, enough(P), P.n or 1)
    estimator.check(P.n)
    full = isinstance(estimator, Full)
    how = "the full gradient" if full else f"epochs of {estimator!r}, with a look at F at the end of each"
    said = f"in the metric of f's curvature: {how}"
    local = Local(epochs=None if full else EpochRule(estimator))
    return Ready(method.name, P, estimator, local=local, text=said, notes=(said,))


def own_subsolver(given: str | Subsolver | None, ready: Ready) -> Subsolver | None:
    """The sub-solver that was asked for, if the method can do with it."""
    if given is not None and ready.local is not None:
        expected = f"None: {ready.name} makes its own metric, looks at F in it, and that pays for the gradients"
        raise BadSettings("subsolver", given, expected)
    return None if given is None else as_subsolver(given)
