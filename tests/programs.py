"""Random convex programs min G + r1 − ⟨y, ·⟩, one class of them per (kind of G, kind of r)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dcopt.convex import Convex, Diagonal, Mean, Quadratic, Radial, ScaledIdentity, Shifted, least_squares
from dcopt.data.dense import DenseRows
from dcopt.losses import Huber, Logistic, Loss, Quartic, Softmax, Squared
from dcopt.regularizers import (
    L1,
    L2,
    SCAD,
    Bounded,
    Box,
    ElasticNet,
    Except,
    Nonnegative,
    Regularizer,
    SparseGroup,
    Zero,
)
from dcopt.sums import LinearSum

N = 20


class Program(NamedTuple):
    G: Convex
    r: Regularizer
    y: Any
    warm: Any

    def value(self, x: Any) -> float:
        return self.G.value(x) + self.r.r1(x) - float(np.sum(self.y * x))

    def residual(self, x: Any) -> float:
        return self.r.distance(self.y - self.G.grad(x), x)


def mean(loss: Loss, draw: np.random.Generator, d: int, mu: float = 0.1) -> Mean:
    a = draw.normal(size=(N, d)) / np.sqrt(d)
    labels: Any = a @ draw.normal(size=d) + 0.3 * draw.normal(size=N)
    weights = None if draw.random() < 0.5 else draw.random(N) + 0.5
    weights = None if weights is None else weights / weights.mean()
    if loss.labels == "class":
        return Mean(LinearSum(DenseRows(a), loss, draw.integers(0, 3, N), weights, (3,)), mu)
    return Mean(LinearSum(DenseRows(a), loss, np.sign(labels) if loss.labels == "binary" else labels, weights), mu)


def _spread(draw: np.random.Generator, d: int) -> Any:
    """A matrix of condition about 1e3"""
    q = np.linalg.qr(draw.normal(size=(d, d)))[0]
    return q * np.logspace(0, -3, d) @ q.T


PARTS: dict[str, Any] = {
    "identity": lambda draw, d: ScaledIdentity(float(np.exp(draw.normal()))),
    "diagonal": lambda draw, d: Diagonal(np.exp(draw.normal(size=d))),
    "quadratic": lambda draw, d: Quadratic(_spread(draw, d), draw.normal(size=d)),
    "least-squares": lambda draw, d: least_squares(draw.normal(size=(N, d)), draw.normal(size=N)),
    "mean-squared": lambda draw, d: mean(Squared(), draw, d),
    "mean-logistic": lambda draw, d: mean(Logistic(), draw, d),
    "mean-softmax": lambda draw, d: mean(Softmax(), draw, d),
    "mean-huber": lambda draw, d: mean(Huber(), draw, d),
    "mean-quartic": lambda draw, d: mean(Quartic(), draw, d),
    "radial": lambda draw, d: Radial(float(np.exp(draw.normal())), float(np.exp(draw.normal()))),
    "shifted": lambda draw, d: Shifted(Radial(float(np.exp(draw.normal())), 0.0), 0.5),
}


def _lam(draw: np.random.Generator) -> float:
    return float(0.3 * np.exp(draw.normal()))


def _groups(d: int) -> list[list[int]]:
    return [[0, d - 1], list(range(1, d - 1))]


PENALTIES: dict[str, Any] = {
    "zero": lambda draw, d: Zero(),
    "l2": lambda draw, d: L2(_lam(draw)),
    "l1": lambda draw, d: L1(_lam(draw)),
    "l1-weights": lambda draw, d: L1(_lam(draw), weights=draw.random(d) * (draw.random(d) < 0.7)),
    "l1-rows": lambda draw, d: L1(_lam(draw), groups="rows"),
    "l1-lists": lambda draw, d: L1(_lam(draw), groups=_groups(d)),
    "scad": lambda draw, d: SCAD(_lam(draw)),
    "elastic-net": lambda draw, d: ElasticNet(_lam(draw), _lam(draw), weights=0.5 + draw.random(d)),
    "elastic-net-rows": lambda draw, d: ElasticNet(_lam(draw), _lam(draw), groups="rows"),
    "box": lambda draw, d: Box(-draw.random(d), draw.random(d)),
    "nonnegative": lambda draw, d: Nonnegative(),
    "sparse-group": lambda draw, d: SparseGroup(_lam(draw), 0.4, groups=_groups(d), weights=[1.0, 0.5]),
    "bounded-l1": lambda draw, d: Bounded(L1(_lam(draw), weights=draw.random(d)), -draw.random(d), 0.2),
    "bounded-elastic-net": lambda draw, d: Bounded(ElasticNet(_lam(draw), _lam(draw)), 0.0, draw.random(d)),
    "positive-lists": lambda draw, d: Bounded(L1(_lam(draw), groups=_groups(d))),
    "except-l1": lambda draw, d: Except(L1(_lam(draw))),
}


def program(part: str, penalty: str, seed: int) -> Program:
    """The seed's instance of a class; matrices wherever rows of x matter."""
    draw = np.random.default_rng([seed, list(PARTS).index(part), list(PENALTIES).index(penalty)])
    d = int(draw.integers(4, 9))
    G, r = PARTS[part](draw, d), PENALTIES[penalty](draw, d)
    columns = penalty.endswith("rows") and getattr(G, "columns", False)
    shape = (*(G.shape or (d,)), 2) if columns else G.shape or (d,)
    return Program(G, r, draw.normal(size=shape), r.prox(draw.normal(size=shape), 1.0))
