"""Shared parts of problems: sums with known constants, and the zero sum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..data import check
from ..data.intercept import WithIntercept
from ..data.rows import RowMatrix
from ..draw import Draw, Sampling
from ..errors import require
from ..regularizers import Except, Regularizer, Zero
from ..regularizers import regularizer as as_regularizer
from ..sums import Facts, LinearSum, SumBase
from ..xp import Array


@dataclass(frozen=True, eq=False)
class ConvexSum(LinearSum):
    """H(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i) with the constants that a plan needs."""

    @cached_property
    def _facts(self) -> Facts:
        """Average smoothness is bounded by the same matrix as the variance: L_v stands for it."""
        s = self.smoothness()
        return Facts(self.loss.curvature, False, self.loss.lower, L_H=s.Lbar, L=s.L_v, L_v=s.L_v, rows=self)


@dataclass(frozen=True, eq=False)
class Nothing(SumBase):
    """H = 0 as a sum with one component, so that a pass is one convex program. It is its own only batch."""

    shape: tuple[int, ...]
    dtype: Any = np.float64
    n: int = 1
    size: int = 1
    rows: None = None

    def facts(self) -> Facts:
        return Facts(L_H=0.0, L=0.0, L_v=0.0, tables=False)

    def all(self) -> Nothing:
        return self

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Nothing:
        return self

    def grad(self, x: Array) -> Array:
        return np.zeros_like(x)

    def diff(self, x: Array, prev: Array) -> Array:
        return np.zeros_like(x)

    def value_grad(self, x: Array) -> tuple[float, Array]:
        return 0.0, np.zeros_like(x)

    def slopes(self, x: Array) -> Array:
        return np.zeros((1, *x.shape), x.dtype)

    def pull(self, c: Array) -> Array:
        return np.zeros(c.shape[1:], c.dtype)


def regression(
    X: Any, y: Any, spec: str | Regularizer, intercept: bool, name: str = "regularizer"
) -> tuple[RowMatrix, Array, Regularizer]:
    """Rows, real targets and the regularizer."""
    rows = check.as_rows(X)
    targets = check.labels(y, rows.shape[0], "real", rows.dtype)[0]
    rows, r = with_intercept(rows, spec, intercept, name)
    return rows, targets, r


def resolution(size: float) -> float:
    """1e-10 of the size of gradients: a residual above rounding, which still resolves small coefficients."""
    return 1e-10 * (size or 1.0)


def with_intercept(
    rows: RowMatrix, spec: str | Regularizer, intercept: bool, name: str = "regularizer"
) -> tuple[RowMatrix, Regularizer]:
    """A column of ones for the intercept, if there is one, and a regularizer that leaves its coefficient alone."""
    require(isinstance(spec, (str, Regularizer)), name, spec, "a registered name or a regularizer")
    r = as_regularizer(spec)
    if not intercept:
        return rows, r
    return WithIntercept(rows), r if isinstance(r, Zero) else Except(r)
