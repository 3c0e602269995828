"""A decomposition made anew at every point: the curvature of f there, on the coordinates that matter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex
from ..draw import Draw
from ..losses import Softmax
from ..nested import Nested
from ..problem import Problem
from ..regularizers import Regularizer
from ..remembered import NARROW, Seen
from ..sums import Cost, LinearSum
from ..xp import Array
from .base import FREE, Inner, nowhere
from .cd import alone
from .curvature import by_columns, cheap, fallen, matrix
from .held import TAUS, Held, Walks
from .metrics import TINY, Matrix, Metric, distances
from .model import Model
from .moving import Moving
from .newton import SMALL
from .parts import Parts, lengths, parts, radial

_EXACT = 1e-6  # of the ridge: what is left of it where Q is the curvature of f everywhere,
_ROUGH = 1e-2  # and, at least, where Q is known to 1e-7 of its largest entry
_ENTRIES = 2**26  # of A, whose columns take 800 MB: a program of more of them begins with some
_ALMOST = 0.9  # of all columns have to leave 0
_FAR = 0.5  # from critical: there all moves, and a search would have to begin anew
_SEARCHED = 600  # entries: all of x where it has no more of them
LEAST = 1e-5  # of F, by which a neighbour has to be lower
_LARGE = 2.5  # times a sample is all rows, at least: what a smaller one says of neighbours is chance
_SHARP = 0.01  # of a step's accuracy: what is said of neighbours holds at critical points of the model
_SAME = 1e-3  # of a step's accuracy, where the curvature is the same everywhere
_LONG = 10.0  # times as long a point is too far where f is flat, and a model of it says nothing
_RUNG = 4  # a leap that failed is tried with so many times fewer moves
STEEP = 0.05  # of the largest curvature, on average: below it f is flat at 0, and a step or a leap would go far


class Trial(NamedTuple):
    """A step, how far F has to fall with it (infinity: it is none), and what it cost to find it."""

    step: NDArray[Any]
    fall: float
    cost: Cost = FREE


@dataclass(frozen=True, eq=False)
class Local:
    """x⁺ = argmin_v τ/2 ⟨v − x, Q (v − x)⟩ + r1(v) − ⟨w − ∇f(x), v⟩,   Q = (1/N) Σ w_i |φ''(⟨a_i, x⟩)| a_i a_iᵀ + μR

    It is the DCA step of F = G_x − H_x + r1 − r2 with G_x = τ/2 ⟨·, Q ·⟩, where τ = 1, 3, 9, … is the first with

        F(x⁺) ≤ F(x) − σ/2 τ ⟨x⁺ − x, Q (x⁺ − x)⟩,

    which holds for every τ that makes G_x majorize f along the step, so that the search ends; R = I but for an
    intercept (`Reduced.centred`). Before τ = 1 it tries the curvature of F itself in the place of Q, as far as that is
    positive definite: near the end Newton's step. Only the
    coordinates move that are not 0 or have to leave 0 (at most `most` new ones): the others stay where the program
    on all coordinates might move them later, and the certificate, which knows all of them, says when that is over.
    Where the curvature of f is the same everywhere and known (least squares) F is its own model, and a step is all that
    follow it too (`Model.end`). With `search` it first tries to leap to other critical points of F's model
    (`Model.lower`), and does where F is lower there by 1e-5 of itself; with `epoch`, to go where the small steps of an
    estimator in Q lead. Every look at F is a pass, and gives the next gradient too (`Revisited`). The residual is said
    to be 0: the program is solved as well as the step needs, and what was promised of the step, descent, was tested at
    the point.
    """

    P: Problem
    nested: Nested | None = None
    f: LinearSum | None = None  # what this step sees, if not all of P.f
    sigma: float = 0.1
    grow: float = 3.0
    ridge: float = 1e-4  # μ, as a share of the diagonal, times the relative distance: Newton's at the end
    share: float = 0.05  # the program is solved to this share of the distance at x
    trials: int = 30
    most: int | None = None  # new columns at once; by default 500 or an eighth of all, of a dense A 128, 4√d or half
    most_full: int = 2048
    search: bool = False  # for lower critical points of F's model
    far: float = 0.01  # from critical, relative: nearer, no search and no epoch; 0: it only searches, wherever it is
    epoch: Walks | None = None  # of an estimator that is tried first

    def at(self, draw: Draw) -> Local:
        """The solver of step t, which sees what the estimator sees."""
        if self.epoch is not None:
            return replace(self, epoch=self.epoch.at(draw))
        if self.nested is None:
            return self
        assert isinstance(self.P.f, LinearSum)
        return replace(self, nested=None, f=self.nested.sum(self.P.f, draw))

    @cached_property
    def _parts(self) -> Parts:
        """Those of r1, the same for every step."""
        return parts(self.P.r, self.P.shape)

    @cached_property
    def _tiny(self) -> bool:
        """Whether compiling would take longer than all the rest: of all rows, for a sample of more it does not"""
        return math.prod(self.P.f.a.shape) <= TINY  # type: ignore[union-attr]  # a LinearSum

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        f = self.P.f if self.f is None else self.f
        assert isinstance(f, LinearSum)
        p, shape = self._parts if r is self.P.r else parts(r, warm.shape), warm.shape
        x = np.array(warm, np.float64).reshape(p.c.shape)
        here, one = f.recent.at(warm), Cost(f.n, f.n)
        w = self.P.r.linearize(warm, lambda: -here.grad)[0]
        u = np.asarray(w - here.grad, np.float64).reshape(x.shape)  # y − ∇G(x), of which κx would leave rounding
        off = distances(u, x, p)
        start = math.sqrt(float(off @ off))
        F = here.value + self.P.r.value(warm)
        if not (np.isfinite(start) and np.isfinite(F)):
            return nowhere(warm, one)
        size, sees_all = max(start, float(np.linalg.norm(u)), 1e-300), self.f in (None, self.P.f)
        near = max(start / size, 1e-4)  # how far from critical, without a unit
        search = self.search and _LARGE * f.n >= (self.P.n or 0) and self.far <= near <= _FAR
        columns = self._columns(f, x, off)
        if search:
            wide = np.arange(len(x)) if x.size <= _SEARCHED and cheap(f) else self._more(columns, u)
            search = 0 < len(wide) * p.c.shape[1] <= _SEARCHED
            columns = wide if search else columns
        if start == 0.0 and not search:  # critical: it stays, and the look that found it is paid
            return Inner(warm, 0.0, 0, one)
        few, own = p.at(columns), Moving(self.P.r, x, columns, self._parts.at(columns), shape)  # r may majorize P.r
        rough, quadratic = hasattr(f.a, "rough_gram"), f.grams is not None and self.P.r.L2 == 0.0
        # Q is the curvature of f everywhere, to more than float32 can tell
        exact = f.grams is not None and (f.grams.exact or not rough) and warm.dtype == np.float64
        ridge = self.ridge * (_EXACT if exact else max(near, _ROUGH) if rough else near)
        sparse = None if search else by_columns(f, here.z, columns, own.p, self.ridge, self.most_full)
        before = None if exact or f.grams is None or not f.grams.learns else f.recent.way_to(warm)
        Q = sparse or matrix(f, here, columns, own.p, ridge, before, self.most_full, self._tiny)
        B = fallen(Q, f, here.z, columns) if (sees_all or search) and not p.rows else Q
        share = min(self.share, near)
        # the program is the problem itself, or DCA's step, which may decide where a run ends, as the rows see it
        sharp = share * start * (_SAME if quadratic or (rough and f.grams is not None) else 1.0)
        slack = 8 * np.finfo(warm.dtype).eps * abs(F)
        bends = own if sees_all else None
        if p.rows and radial(self.P.r):  # r2 by its tangent in |v_j|: nearer to it than w's, which holds rows back
            few = few._replace(c=np.maximum(few.c - lengths(own.mine(w))[:, None], 0.0))
            u = u - np.reshape(w, u.shape)
        trials = self._trials(Q, B, bends, x[columns], u[columns], few, sharp)
        grad = own.mine(here.grad)
        followed = quadratic or not self.search  # a search looks around at every step
        if exact and followed and isinstance(Q, Matrix) and not p.rows:
            trials = chain(self._end(Model(Q, grad, own), self.share * _EXACT * start), trials)
        if self.epoch is not None and isinstance(Q, Matrix) and near >= self.far > 0.0 and not quadratic:
            held = Held(Q, columns, (self.P.r, self._parts), self.share)
            step = Q.program(x[columns], u[columns], few, sharp) - x[columns]
            trials = chain(self._epochs(held, here, x, Q.square(step) / TAUS[-1], slack), trials)
        if search and isinstance(B, Matrix):
            model = Model(B, grad, own)
            flat = not x.any() and np.trace(B.Q) <= STEEP * f.bound * len(B.Q)
            tight = share * near * size * (_SHARP if sees_all else 1.0)
            leaps = iter(()) if flat else self._leaps(model, tight, LEAST * abs(F))
            trials = leaps if self.far == 0.0 else chain(leaps, trials)
        level = columns[self._level(f, own.p)]
        looks, cost = 0, FREE
        for step, fall, found in islice(trials, self.trials):
            cost = cost.plus(found)
            if not (0.0 <= fall < np.inf and np.isfinite(step).all()):  # Rounding may make Q indefinite: no step of it.
                continue
            looks, cost = looks + 1, cost.plus(Cost(f.n, f.n))
            v = x.copy()
            v[columns] = np.clip(x[columns] + step, few.low, few.high)  # rounding must not cross a bound
            if level.size:
                v[level] -= v[level].mean(axis=1, keepdims=True)
            trial = v.reshape(shape).astype(warm.dtype, copy=False)
            there = f.recent.at(trial)
            value = there.value + self.P.r.value(trial)
            if np.isnan(value):
                return nowhere(warm, cost)
            if value <= F - fall + slack:
                return Inner(trial, 0.0, looks, cost)
        f.recent.put(here)  # x is where the next step begins
        return Inner(warm, 0.0, looks, cost if looks else cost.plus(one))

    def _level(self, f: LinearSum, p: Parts) -> NDArray[np.bool_]:
        """The rows whose mean over the classes may be 0: f does not see it, and r is not less with it"""
        if not isinstance(f.loss, Softmax):
            return np.zeros(len(p.c), np.bool_)
        rows = p.rows and (radial(self.P.r) or self.P.r.L2 == 0.0)
        return np.ones(len(p.c), np.bool_) if rows else alone(p)

    def _end(self, model: Model, tol: float) -> Iterator[Trial]:
        """The step and all that follow, where the model is F: none of them raises it."""
        v, fall = model.end(tol)
        if fall > 0.0:
            yield Trial(v - model.x, self.sigma * fall)

    def _trials(
        self, Q: Metric, B: Metric, r: Moving | None, x: NDArray[Any], u: NDArray[Any], p: Parts, tol: float
    ) -> Iterator[Trial]:
        """Steps, and how far F has to fall: in M = B − θ diag r2''(x), then in Q with τ = 1, 3, 9, …

        M is left out where it is seen to be below μR along its step, which Q nowhere is.
        """
        bend = None if r is None else r.bend(x)
        M = B if bend is None else B.bent(bend, x)
        if M is not Q:
            step = M.program(x, u, p, tol) - x
            square = M.square(step)
            if Q.least(step) <= square < np.inf:
                yield Trial(step, 0.5 * self.sigma * square)
        tau, step = 1.0, Q.program(x, u, p, tol) - x
        while True:
            yield Trial(step, 0.5 * self.sigma * tau * Q.square(step))
            tau *= self.grow
            step = Q.program(x, u, p, tol, tau) - x if isinstance(Q, Matrix) else step / self.grow

    def _epochs(self, held: Held, here: Seen, x: NDArray[Any], own: float, slack: float) -> Iterator[Trial]:
        """To the ends of epochs: m steps that fell by σ/2 τ‖·‖²_Q each fell by σ/2 τ/m ‖x_m − x‖²_Q at least.

        And by a share of what the step of Q itself has to (`own`), or small ones might be all that is ever made; and by
        more than rounding: noise must not wander where F cannot tell.
        """
        assert self.epoch is not None
        for end in self.epoch(held.scaled, here):
            step = (np.asarray(end.x, np.float64).reshape(x.shape) - x)[held.columns]
            moved = bool(np.all(np.isfinite(step)))
            fall = max(end.tau / end.steps * held.Q.square(step), own) if moved else np.inf
            yield Trial(step, 0.5 * self.sigma * fall + 2.0 * slack, end.cost)

    def _leaps(self, model: Model, tol: float, least: float) -> Iterator[Trial]:
        """Steps to low points of the model, ever nearer ones, and to the critical point that its own DCA comes to."""
        v = model.critical(model.x, tol)
        way = model.lower(v, tol, least)
        k = len(way)
        long = _LONG * max(np.linalg.norm(model.x), np.linalg.norm(v)) or np.inf
        while k:
            if np.linalg.norm(way[k - 1]) <= long:
                yield Trial(way[k - 1] - model.x, least)
            k //= _RUNG
        if self.far > 0.0:
            yield Trial(v - model.x, 0.5 * self.sigma * model.B.square(v - model.x))

    def _more(self, columns: NDArray[np.int64], u: NDArray[Any]) -> NDArray[np.int64]:
        """With those that the slope of f draws most."""
        size = np.linalg.norm(u, axis=1)
        size[columns] = 0.0
        return np.union1d(columns, np.argsort(-size, kind="stable")[:SMALL])

    def _columns(self, f: LinearSum, x: NDArray[Any], off: NDArray[Any]) -> NDArray[np.int64]:
        """The coordinates (rows) that are not 0, and those that leave 0: the worst ones first.

        Where there are many, their Gram matrix must not cost much more than the look at all of them: k² ≈ 16 d where
        every entry is stored. All columns, whatever `most` is, where the curvature is the same everywhere, and their
        Gram matrix is cheap or, for r2 = 0, will be needed.
        """
        d, a = len(x), f.a
        entries = getattr(a, "entries", f.n * d)
        full = 2 * entries > f.n * d
        there = x[:, 0] != 0.0 if x.shape[1] == 1 else np.any(x != 0.0, axis=1)
        new = np.flatnonzero((off > 0.0) & ~there)
        exact = f.grams is not None and f.grams.exact
        if exact and (d <= NARROW or len(new) + there.sum() > _ALMOST * d):
            return np.arange(d)
        if f.grams is not None and self.P.r.L2 == 0.0:  # the program on all columns is the problem
            many = 2 * len(new) > d and not full and 2 * entries <= d * d and entries <= _ENTRIES
            if many or (f.grams.whole and full and len(new) > _ALMOST * d):
                return np.arange(d)
        most = self.most
        if most is None:
            most = max(SMALL, 4 * math.isqrt(d), d // 2 if exact else 0) if full else max(500, d // 8)
        room = max(most, int(there.sum()))
        if len(new) > room:
            size = off[new]
            least = np.partition(size, -room)[-room]  # ties go to the first ones, not to a machine's own choice
            worse = size > least
            new = np.concatenate((new[worse], new[size == least][: room - int(worse.sum())]))
        there[new] = True
        return np.flatnonzero(there)
