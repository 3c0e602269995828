"""Cox's partial likelihood of survival times: a sum over the events, each of which sees all rows at risk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..data.rows import RowMatrix
from ..draw import Draw, Sampling
from ..errors import CannotSolve
from ..xp import Array
from .base import SumBase
from .cox_curvature import CoxCurvature
from .protocol import Facts, Look
from .risk_sets import RiskSets

NOTE = "Cox's partial likelihood is no mean over rows: every gradient is a full one"


class _AllRows(NamedTuple):
    """The only batch"""

    of: CoxSum
    rows: None = None

    @property
    def size(self) -> int:
        return self.of.n

    def look(self, x: Array) -> tuple[Array, float, Array]:
        f = self.of
        z = f.a.dot(x)
        seen = f.risk_sets.at(z)
        return z, seen.value / f.total, f.a.tdot(seen.slope.astype(f.dtype)) / f.total

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return self.look(x)[1:]

    def grad(self, x: Array) -> Array:
        return self.look(x)[2]

    def diff(self, x: Array, prev: Array) -> Array:
        return self.grad(x) - self.grad(prev)

    def slopes(self, x: Array) -> NoReturn:
        _refuse()

    def pull(self, c: Array) -> NoReturn:
        _refuse()


def _refuse() -> NoReturn:
    raise CannotSolve("a method that remembers rows", "Cox's partial likelihood is no mean over rows", "dca-local")


@dataclass(frozen=True, eq=False)
class CoxSum(SumBase):
    """f(x) = (1/Σw) Σ_events w_i (log Σ_{j at risk at t_i} w_j e^{⟨a_j, x⟩} − ⟨a_i, x⟩), ties by Efron or Breslow

    Rows are compared within a stratum only. f is convex; its Hessian is known, so that `dca-local` makes Newton steps.
    """

    a: RowMatrix
    time: Array
    event: Array
    stratum: Array
    weights: Array | None = None
    ties: Literal["efron", "breslow"] = "efron"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.a.shape[1],)

    @property
    def dtype(self) -> Any:
        return self.a.dtype

    @property
    def n(self) -> int:
        return self.a.shape[0]

    @cached_property
    def total(self) -> float:
        """Σ w"""
        return float(self.n if self.weights is None else np.sum(self.weights))

    @cached_property
    def risk_sets(self) -> RiskSets:
        return RiskSets(self.time, self.event, self.stratum, self.weights, self.ties)

    def all(self) -> _AllRows:
        return _AllRows(self)

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> _AllRows:
        """All rows: no part of them tells of the others."""
        return _AllRows(self)

    def look(self, x: Array) -> Look:
        z, f, grad = self.all().look(x)
        return Look(x.copy(), f, grad, z, self.n)

    def facts(self) -> Facts:
        lower = 0.0 if self.weights is None else None
        return Facts(lower=lower, known_convex=True, tables=False, modelled=True)

    def curvature(self, here: Look) -> CoxCurvature:
        return CoxCurvature(self, here.home)

    def rounding(self, x: Array) -> float:
        """A score ⟨a_i, x⟩ loses about ε |a_i| |x|, and a slope p_i twice that share of itself, p_i ≤ Σ_events w."""
        norms = np.sqrt(np.asarray(self.a.norms2(), np.float64))
        p = self.risk_sets.at(self.a.dot(x.astype(self.dtype))).weight
        eps = float(np.finfo(np.float64).eps)
        lost = 2.0 * float(p @ (norms * norms)) * float(np.linalg.norm(x)) + float(p @ norms)
        return eps * lost / self.total

    def notes(self) -> tuple[str, ...]:
        return (NOTE,)

    def take(self, rows: NDArray[np.int64]) -> CoxSum:
        """The partial likelihood of some of the rows"""
        weights = None if self.weights is None else self.weights[rows]
        return CoxSum(self.a.take(rows), self.time[rows], self.event[rows], self.stratum[rows], weights, self.ties)
