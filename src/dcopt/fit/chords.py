"""Solutions along a path: Newton's method with a matrix that is kept, on the columns that the strong rule keeps.

For a convex loss of one number a row, a convex r over entries, and decreasing λ. From the solution of the λ before:

1. The model has the columns with |∇f(x)_j| ≥ (2λ − λ_before) c_j, the sequential strong rule, and those in use.
2. Q = C + μR on them, C the curvature of f at some point of the path. It is made again where columns come in, or where
   a step with an older Q has left too much of the distance from critical.
3. x⁺ = argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) + ⟨∇f(x), v⟩ on the columns, and a look at F there, over all columns.

That look shows what the strong rule has missed: such a column comes in. A λ is CONVERGED by its last look alone. Where
there is none, the methods that serve one λ go on from the last point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.engine import clock, notes
from ..measures import MEASURES, sample_bound
from ..problem import Problem
from ..regularizers import Regularizer
from ..runs.interrupts import Interrupts
from ..runs.trace import Record, Trace
from ..state import Certificate, Result, Spent, State
from ..status import Status
from ..subproblems.eliminated import Eliminated
from ..subproblems.parts import Parts, parts, separable
from ..subproblems.quadratic import descended, distances
from ..sums import Cost, Look, SumOverRows
from .penalties import with_lam
from .solver_choice import SEARCHES, Choice
from .task import Budget, Done, Noted, Progress, Task

_STEPS = 40  # Steps for one λ, after which the methods for one λ go on.
_SLOW = 0.1  # The share of the distance that a step with an older Q may leave before Q is made again.
_HALVES = 12  # Halvings of a step at which F has not fallen.
_WIDE = 2048  # Columns of a model at most: its matrix has 32 MB.
_AHEAD = 1.0  # Values of λ after this one for which the strong rule is asked when a model is made.
_RIDGE = 1e-9  # μ, as a share of Q's diagonal: of columns that are the same, any split is a minimum of the program.
_SHARE = 0.1  # A program is solved to this share of the distance, or of the tolerance.
_AIM = 0.9  # The share of the tolerance at which a λ ends: a certificate adds the rounding of the gradient.
_PASSES = 100  # Passes of descent before Newton's method takes part in a program.
WAY = Choice("path", "newton", "one model of f for all λ, on the columns that the strong rule keeps")


def strong(g: NDArray[np.float64], c: NDArray[np.float64], lam: float, before: float) -> NDArray[np.bool_]:
    """The columns that the sequential strong rule keeps: |∇f_j| ≥ (2λ − λ_before) c_j/λ, ∇f at the solution before."""
    return np.asarray(np.abs(g) >= max(2.0 - before / lam, 0.0) * c)


@dataclass(frozen=True, eq=False)
class _Model:
    """Q on some columns, and Q without those that r1 leaves alone, which follow from the others."""

    columns: NDArray[np.int64]
    inside: NDArray[np.bool_]
    Q: NDArray[np.float64]
    less: Eliminated | None

    @classmethod
    def of(cls, f: SumOverRows, look: Look, inside: NDArray[np.bool_], p: Parts) -> _Model | None:
        columns, C = np.flatnonzero(inside), f.curvature(look)
        if C is None or len(columns) > _WIDE:
            return None
        Q = C.gram(columns)
        h = np.array(np.diagonal(Q))
        if not np.isfinite(Q).all():
            return None
        Q[np.diag_indices(len(Q))] += _RIDGE * np.maximum(h, _RIDGE * max(float(h.max()), 1e-300))
        less = Eliminated.of(Q, p.at(columns))
        Q.flags.writeable = False  # The kernels are compiled for this type.
        return cls(columns, inside, Q, less)

    def minimize(self, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float) -> NDArray[np.float64]:
        """argmin_v ½ ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨u, v⟩ on the columns, r1 with the parts p of all columns"""
        less = self.less
        if less is None:
            return descended(self.Q, x, u, p.at(self.columns), tol, False, _PASSES)
        x1, u1 = less.program(x, u)
        own = p.at(self.columns[less.kept])
        return less.solved(x, u, descended(less.Q, x1, u1, own, tol, False, _PASSES))


class _Place(NamedTuple):
    """A point with one look at all columns, and how far each entry is from critical."""

    look: Look
    F: float
    u: NDArray[np.float64]  # −∇f(x), (d, 1)
    off: NDArray[np.float64]  # (d,)
    distance: float

    @classmethod
    def of(cls, P: Problem, p: Parts, look: Look) -> _Place:
        u = -look.grad[:, None]
        off = distances(u, look.x[:, None], p)
        return cls(look, look.f + P.r.value(look.x), u, off, math.sqrt(float(off @ off)))


class Chords:
    """One problem for the whole grid: what one λ has learnt is handed on to the next."""

    def __init__(self, task: Task, r: Regularizer, budget: Budget) -> None:
        rows = task.problem(r).sum.facts().rows
        assert rows is not None  # `Task` made it.
        self.task, self.r, self.budget, self.f = task, r, budget, rows
        self.size = task.scale(r, budget.measure)
        self.look: Look | None = None  # where the last λ ended
        self.lam, self.looks = 0.0, 0
        self.model: _Model | None = None
        self.callbacks = [Noted(callback) for callback in budget.callbacks]

    @classmethod
    def of(cls, task: Task, r: Regularizer, way: Choice, budget: Budget) -> Chords | None:
        """None where paths are solved λ by λ: other losses and penalties, measures and methods, and float32."""
        known = task.problem(r).sum
        serves = (
            way.method in SEARCHES
            and known.facts().rows is not None
            and known.facts().curvature is not None
            and task.loss.labels != "class"
            and task.loss.curvature[0] >= 0.0
            and task.rows.dtype == np.float64
            and r.L2 == 0.0
            and separable(r)
            and not parts(r, task.shape).rows
            and budget.measure == "criticality"
        )
        return cls(task, r, budget) if serves else None

    def run(self, lam: float, x: NDArray[Any]) -> Done | Progress:
        """The solution for λ from x, the solution for the λ before; or how far it has come."""
        began, self.looks = clock(), 0
        with np.errstate(all="ignore"), Interrupts(self.f) as interrupts:
            return self._run(lam, x, began, interrupts)

    def _run(self, lam: float, x: NDArray[Any], began: float, interrupts: Interrupts) -> Done | Progress:
        P, tol = self.task.problem(with_lam(self.r, lam)), self.budget.tol * self.size
        p, before, self.lam = parts(P.r, P.shape), self.lam or lam, lam
        look = self.look if self.look is not None and np.array_equal(self.look.x, x) else self._seen(x)
        here, steps, old = _Place.of(P, p, look), 0, False
        kept = strong(here.u[:, 0], p.c[:, 0], lam * min(lam / before, 1.0) ** _AHEAD, before)
        while not here.distance <= _AIM * tol:
            fresh = old or self.model is None or self._lacks(self.model, here)
            if fresh:
                self.model = _Model.of(self.f, here.look, moving(here) | kept, p)
            there = None if self.model is None else self._step(self.model, P, p, here, tol, _HALVES if fresh else 1)
            if there is None and fresh:
                break
            old = there is None or there.distance > _SLOW * here.distance
            if there is not None:
                steps, here, prev = steps + 1, there, here.look.x
                ended = self._asked(State(steps, here.look.x, prev, here.look, self._cost()))
                if ended or interrupts.asked:
                    done = self._done(P, here, steps, began, tol, Status.INTERRUPTED)
                    return done._replace(ctrl_c=not ended)
            late = self.budget.seconds is not None and clock() - began > self.budget.seconds
            if steps >= _STEPS or self.looks >= self.budget.passes or late:
                break
        self.look = here.look
        done = self._done(P, here, steps, began, tol, Status.CONVERGED)
        return done if done.result.certificate.value <= tol else done.seen._replace(way=0)

    def _lacks(self, model: _Model, here: _Place) -> bool:
        """Whether the model lacks a column that has to move: also one that the strong rule has missed."""
        return bool(np.any(moving(here) & ~model.inside))

    def _step(self, model: _Model, P: Problem, p: Parts, here: _Place, tol: float, tries: int) -> _Place | None:
        """The model's step, or the first of its halves at which F has not risen; None where there is none."""
        x, columns = here.look.x, model.columns
        own, aim = x[columns, None], _SHARE * max(here.distance, tol)
        step = np.zeros(len(x))
        step[columns] = (model.minimize(own, here.u[columns], p, aim) - own)[:, 0]
        rounding = 8.0 * float(np.finfo(np.float64).eps) * abs(here.F)
        for k in range(tries):
            there = _Place.of(P, p, self._seen(x + 0.5**k * step))
            if there.F <= here.F + rounding:
                return there
        return None

    def _seen(self, x: NDArray[Any]) -> Look:
        self.looks += 1
        look: Look = self.f.look(np.asarray(x, np.float64))
        return look

    def _cost(self) -> Cost:
        return Cost(self.looks * self.f.n, self.looks * self.f.n)

    def _asked(self, state: State) -> bool:
        """Whether a callback ends the run."""
        asked = [callback(state.frozen()) for callback in self.callbacks]
        return any(asked)

    def _done(self, P: Problem, here: _Place, steps: int, began: float, tol: float, status: Status) -> Done:
        """The result at a point, with the certificate that its last look gives."""
        look, measure = here.look, self.budget.measure
        point = P.examine(look.x, look)
        value = sample_bound(P, measure, point, MEASURES[measure](P, point)).bound
        nnz, seconds, cost = int(np.count_nonzero(look.x)), clock() - began, self._cost()
        certificate = Certificate(
            measure, value, tol, "full", steps, point.F, nnz, scale=self.size, kind=P.r.certifies
        )  # fmt: skip
        record = Record(steps, seconds, cost.gradients, cost.paper, float(self.looks), point.F, value, nnz)
        state = State(steps, look.x, None, look, cost)
        result = Result(
            look.x.copy(), status, certificate, Trace(measure, [record]), Spent(cost.gradients, cost.paper, 0),
            self.budget.seed, WAY.method, steps, seconds, status.value, state, None, (*self.f.notes(), *notes()),
        )  # fmt: skip
        return Done(result.x, result, WAY, Progress(look.x).after(result, self.f.n), loss=look.f)


def moving(here: _Place) -> NDArray[np.bool_]:
    """The entries that are not 0 or have to leave 0."""
    return np.asarray((here.look.x != 0.0) | (here.off > 0.0))
