"""The protocol of estimators: frozen settings, with a memory that is passed in and out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..draw import SAMPLINGS, Draw, Sampling
from ..errors import BadSettings, NeedsFiniteSum, pick, require_count
from ..sums import Batch, Cost, Sum
from ..xp import Array


class Estimate(NamedTuple):
    """g ≈ ∇f(x), the memory for the next step, and what it cost."""

    g: Array
    memory: Any  # A NamedTuple of arrays. The newest State owns it, and later steps may write into its tables.
    cost: Cost
    at: Array | None = None  # The point at which ∇G is taken, if not x: the stale mean of "quadratic inside".


class Estimator(Protocol):
    """A gradient estimator. `f` may be a finite sum or, where the estimator allows it, a stream."""

    def check(self, n: int | None) -> None:
        """Refuse settings that do not fit n components (None: a stream)."""

    def start(self, f: Sum, x: Array, draw: Draw) -> Estimate:
        """The estimate at the first point, or one that does not use the memory."""

    def step(self, f: Sum, x: Array, prev: Array, memory: Any, draw: Draw) -> Estimate:
        """The estimate at x, after one at prev."""


@runtime_checkable
class KnowsItsError(Protocol):
    """An estimator that bounds its error by the lengths of the steps, which metrics made of the data need."""

    def spread(self, n: int) -> float:
        """s with Σ E‖g_t − ∇f(x_t)‖² ≤ s²ℓ² Σ E‖x_{t+1} − x_t‖², for any steps (0: no error comes from them)

        where E‖∇f_i(x) − ∇f_i(y)‖² ≤ ℓ²‖x − y‖² over the rows. The sampling error of an
        estimator on a stream is not included, because shorter steps do not reduce it. Cyclic sampling is not covered.
        """


@runtime_checkable
class Checked(Protocol):
    """A memory whose arrays refer to one another, and which is checked when it is read from a file."""

    def check(self) -> None:
        """Raise BadInput where the arrays are inconsistent. A step does not check them again."""


class OnlyG(NamedTuple):
    """The memory of a recursive estimator."""

    g: Array


def cost_of(batch: Batch, points: int = 1) -> Cost:
    """A batch evaluated at one or two points; the paper counts it once."""
    return Cost(points * batch.size, batch.size)


def check_batch(setting: str, b: int, n: int | None) -> None:
    """A batch has between 1 and n components."""
    require_count(setting, b)
    if n is not None and b > n:
        raise BadSettings(setting, b, f"at most N = {n}; b=None takes all components")


def distinct(sampling: Sampling, b: int, n: int) -> float:
    """√((N−b)/(N−1)), the factor by which distinct rows reduce the deviation of a mean; 1 for other samplings"""
    return math.sqrt(max(n - b, 0) / (n - 1)) if sampling == "distinct" and n > 1 else 1.0


def check_sampling(sampling: Sampling, importance: bool = False) -> None:
    """`importance`: whether the estimator allows importance sampling, because it keeps no memory per row."""
    pick("sampling", sampling, (*SAMPLINGS, "importance") if importance else SAMPLINGS)


def needs_finite_sum(estimator: object, n: int | None) -> None:
    if n is None:
        raise NeedsFiniteSum(type(estimator).__name__)
