"""The steps that are tried, best first. To add one, write a function that yields candidates and call it here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..draw import Draw
from ..sums import FREE, Cost
from . import costs
from .models import DenseModel, Model, model
from .policy import Descent
from .program import Program

if TYPE_CHECKING:
    from .settings import Local


class Candidate(NamedTuple):
    """A step on the working set, how far F has to fall with it, and what it cost to find it."""

    step: NDArray[np.float64]
    fall: float
    cost: Cost = FREE

    @property
    def possible(self) -> bool:
        """Whether it promises a fall at all. Rounding may make Q indefinite, and then it promises none."""
        return bool(0.0 <= self.fall < np.inf and np.isfinite(self.step).all())


def candidates(program: Program, how: Local, draw: Draw) -> Iterator[Candidate]:
    """All candidates of a step, best first; none at a critical point, where nothing is searched."""
    from .escape import leaps

    here = program.here
    if here.distance == 0.0 and not program.searched:
        return
    Q, M = _models(program, how)
    if program.searched and how.escape is not None and isinstance(M, DenseModel):
        yield from leaps(program, M, how)
    if how.leaps_only:
        return
    if how.epochs is not None and isinstance(Q, DenseModel) and how.epochs.may_begin(here):
        yield from how.epochs.ends(program, Q, how, draw)
    yield from newton(program, Q, M, how.descent)
    yield from majorized(program, Q, how, draw)


def _models(program: Program, how: Local) -> tuple[Model, Model]:
    """Q = |∇²f| + μR and M = ∇²f + μR, or Q again where M is not positive definite or is not worth its price.

    Q is made with r's own r1, so that an entry to which this step gives no weight is not taken for one that r leaves
    alone. M costs another Gram matrix. It is not made for an r over rows, whose program is a tighter bound already
    (`radial_tangent`), nor on a sample, unless leaps are searched in it.
    """
    here = program.here
    C, columns = here.C, program.columns
    mu = how.ridge.of(here.relative_distance, C.exact)
    compiled = costs.compile_kernels(here.P.n or 0, C.d).yes
    Q = model(C, columns, program.r.own_r1, mu, how.ridge.share, compiled, dense=program.searched)
    worth_it = C.bends_down and not here.r1.rows and (here.sees_all or program.searched)
    shares = (1.0,) if program.searched else how.descent.shares  # Leaps in a model with a part of it end higher.
    M = Q.minus_negative(C, columns, shares) if worth_it else None
    return Q, Q if M is None else M


def newton(program: Program, Q: Model, M: Model, how: Descent) -> Iterator[Candidate]:
    """The step in M less the curvature of r2: the curvature of F on its smooth piece, where that is positive definite.

    There is none where that is Q itself, whose step comes next. The step is dropped if ⟨d, Md⟩ < ⟨d, μRd⟩: models by
    columns do not test whether M is positive definite. On a sample, where steps are rough, r2 is left linearised.
    """
    r2_bend = program.r.r2_bend(program.x) if program.here.sees_all else None
    less = None if r2_bend is None else M.minus_penalty_curvature(r2_bend, program.x, how.shares)
    metric = M if less is None else less
    if metric is Q:
        return
    step = metric.minimize(program.x, program.u, program.r1, program.tol) - program.x
    square = metric.quad(step)
    if Q.ridge_quad(step) <= square < np.inf:
        yield Candidate(step, 0.5 * how.sigma * square)


def majorized(program: Program, Q: Model, how: Local, draw: Draw) -> Iterator[Candidate]:
    """DCA's step in τQ, τ = 1, 3, 9, …: F falls as it must from the first τ on for which τQ majorizes f along it.

    Before them steps that cost nothing, where f is a quadratic that is known and the program of τ = 1 is not solved.
    """
    from .free_steps import free_steps

    x, u, r1, tol, sigma = program.x, program.u, program.r1, program.tol, how.descent.sigma
    first = Q.minimize(x, u, r1, tol) - x
    if isinstance(Q, DenseModel) and program.allows_free_steps and Q.residual(first, x, u, r1) > tol:
        yield from free_steps(program, how, draw.seed)
    yield Candidate(first, 0.5 * sigma * Q.quad(first))
    for k in count(1):
        tau = how.descent.grow**k
        step = Q.shorter(tau, first, x, u, r1, tol)
        yield Candidate(step, 0.5 * sigma * tau * Q.quad(step))
