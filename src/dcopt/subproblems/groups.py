"""Block coordinate descent for a quadratic G and a sum over groups of features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..convex import Convex, Quadratic
from ..regularizers import ElasticNet, Except, Regularizer, WeightedL1
from ..regularizers.units import Lists
from ..xp import Array, finite
from .base import Best, Inner, Solver, nowhere, rounding
from .eliminated import unpenalised_rows
from .fista import fista
from .parts import Parts, kink_of
from .quadratic import minimize

_MOST = 2048  # The largest number of rows of Q, which has as many places for each group as the largest group.
_EMPTY = 1e-3  # The diagonal entry of an empty place, as a share of the mean of Q's diagonal.
_ROUNDS = 20


@dataclass(frozen=True)
class GroupDescent(Solver):
    """min ½⟨x, Qx⟩ − ⟨q + y, x⟩ + Σ_g c_g ‖x_g‖: each group in turn, then Newton's method for those off 0

    The groups are laid out as the rows of a matrix, as wide as the largest of them, and solved as r1 over rows is;
    empty places hold 0. Coordinates in no group (an intercept) are eliminated. FISTA replaces it for too many places.
    """

    name = "groups"

    def takes(self, G: Convex, r: Regularizer) -> bool:
        return isinstance(G, Quadratic) and _kink(r) is not None and not spread_out(r)

    def __call__(self, G: Convex, r: Regularizer, y: Array, warm: Array, tol: float) -> Inner:
        self.demand(G, r)
        assert isinstance(G, Quadratic)
        if spread_out(r, math.prod(warm.shape[1:])):
            return fista(G, r, y, warm, tol)
        if not finite(y, warm):
            return nowhere(warm)
        b, x = np.asarray(y, np.float64), np.array(warm, np.float64, order="C")
        grad = G.grad(x)
        best, aim, done = Best(x, r.distance(b - grad, x)), max(tol, rounding(b, grad)), 0
        if best.residual <= aim:
            return Inner(best.x.astype(warm.dtype), best.residual, 0)
        Q, at, p = _laid_out(G.Q, r, warm.shape)
        free = unpenalised_rows(p)
        while best.residual > aim and done < _ROUNDS:
            done += 1
            before, u = best.residual, np.append(b - grad, 0.0)
            v = minimize(Q, np.append(x, 0.0)[at], u[at], p, 0.5 * aim, free=free)
            x = np.zeros(x.size + 1)
            x[at] = v
            x = x[:-1].reshape(warm.shape)
            grad = G.grad(x)
            best.offer(x, r.distance(b - grad, x))
            if not best.residual < before:
                break
        out = best.x.astype(warm.dtype)
        x = out.astype(np.float64)
        return Inner(out, best.residual if out.dtype == best.x.dtype else r.distance(b - G.grad(x), x), done)


def _kink(r: Regularizer) -> WeightedL1 | None:
    """r1, if it is a weighted l1 over groups of features."""
    r = r.of if isinstance(r, Except) else r
    kink = None if isinstance(r, ElasticNet) else kink_of(r)
    return kink if kink is not None and isinstance(kink.units, Lists) else None


def spread_out(r: Regularizer, classes: int = 1) -> bool:
    """Whether r1 has groups with too many places, for this number of classes, to form their matrix"""
    kink = _kink(r)
    if kink is None:
        return False
    sizes = _sizes(kink)
    return len(sizes) * int(sizes.max()) * classes > _MOST


def _sizes(kink: WeightedL1) -> NDArray[np.int64]:
    assert isinstance(kink.units, Lists)
    return np.bincount(kink.units.label)


def _laid_out(Q: NDArray[Any], r: Regularizer, shape: tuple[int, ...]) -> tuple[NDArray[Any], NDArray[np.int64], Parts]:
    """Q of the (groups, width) places, the entry of x that each holds (past the last entry: none), and r1 there"""
    kink = _kink(r)
    assert kink is not None and isinstance(kink.units, Lists)
    d, k = shape[0], int(np.prod(shape[1:], dtype=np.int64))
    label = np.append(kink.units.label, np.arange(d)[len(kink.units.label) :])  # The intercept is a group of its own,
    members = [np.flatnonzero(label == g) for g in np.unique(label)]
    c = np.zeros(len(members))  # which r1 leaves alone
    c[: len(_sizes(kink))] = kink.c
    width = max(map(len, members)) * k
    at = np.full((len(members), width), d * k, np.int64)
    for g, features in enumerate(members):
        at[g, : len(features) * k] = (features[:, None] * k + np.arange(k)).ravel()
    feature, column = at.ravel() // k, at.ravel() % k
    none = feature == d
    feature = np.where(none, 0, feature)
    places = Q[np.ix_(feature, feature)] * (column[:, None] == column) * ~(none[:, None] | none)
    places[np.flatnonzero(none), np.flatnonzero(none)] = _EMPTY * float(np.mean(np.diagonal(Q)))
    low = np.full(at.shape, -np.inf)
    return places, at, Parts(np.repeat(c[:, None], width, axis=1), np.zeros(at.shape), low, -low, True)


groups = GroupDescent()
