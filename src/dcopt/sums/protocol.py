"""What everything above the data asks: a sum of components, its batches, and what one look at a point tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..draw import Draw, Sampling
from ..xp import Array
from .curvature import Curvature

if TYPE_CHECKING:
    from ..losses import Loss
    from .constants import Smoothness


class Cost(NamedTuple):
    """Component gradients: honestly counted, and as the paper counts (a correction at two points once)."""

    gradients: int
    paper: int

    def plus(self, more: Cost) -> Cost:
        return Cost(self.gradients + more.gradients, self.paper + more.paper)


FREE = Cost(0, 0)


class Look(NamedTuple):
    """All that one pass over n components tells about x."""

    x: Array
    f: float
    grad: Array
    home: Any  # The predictions z = Ax, kept where the rows are; None for sums that keep nothing.
    n: int


class Batch(Protocol):
    """Some of the components f_i (or h_i). All results are means over the batch."""

    @property
    def size(self) -> int: ...

    @property
    def rows(self) -> Array | None:
        """None: all rows, or samples without identity (a stream)."""

    def grad(self, x: Array) -> Array:
        """∇f_B(x)"""

    def diff(self, x: Array, prev: Array) -> Array:
        """∇f_B(x) − ∇f_B(prev), both on the same components"""

    def value_grad(self, x: Array) -> tuple[float, Array]:
        """f_B(x) and ∇f_B(x) in one pass"""

    def slopes(self, x: Array) -> Array:
        """What a table must remember of each component at x: `pull` makes gradients of it"""

    def pull(self, c: Array) -> Array:
        """The linear map from remembered slopes to the mean gradient: grad(x) = pull(slopes(x))"""


@dataclass(frozen=True)
class Facts:
    """What is known of a sum beside its values, without a pass over its components. None: not known."""

    curvature: tuple[float, float] | None = None  # (inf φ'', sup φ'') of a loss φ of the predictions
    constant: bool = False  # The curvature of f is the same at every x.
    lower: float | None = None  # f ≥ lower everywhere
    rho: float = 0.0  # strong convexity
    L_H: float | None = None  # smoothness of the mean
    L: float | None = None  # mean-squared smoothness of the components
    L_v: float | None = None  # variance smoothness
    rows: SumOverRows | None = None  # The sum itself where it is a loss over rows of data.
    how: str = ""  # where the constants are from, if they were neither given nor proven
    known_convex: bool = False  # f was declared to be convex.
    modelled: bool = False  # `curvature` answers, though f is no loss of the predictions.
    tables: bool = True  # Batches have rows, and the slopes of components can be remembered (SAGA, SAG).

    @property
    def convex(self) -> bool:
        """Whether f is known to be convex."""
        return self.known_convex or (self.curvature is not None and self.curvature[0] >= 0.0)

    @property
    def has_model(self) -> bool:
        """Whether the local method can make its steps: the curvature of f at a point is known."""
        return self.modelled or self.curvature is not None


class Source(Protocol):
    """Where samples come from, as an interrupt needs to know it."""

    waiting: bool  # Whether the caller's code is at work.
    between: Callable[[], None]  # Called before a block is asked for; a run may end by raising here.


class Sum(Protocol):
    """The mean of n components, or of endlessly many (n is None)."""

    @property
    def n(self) -> int | None: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of x."""

    @property
    def dtype(self) -> Array: ...

    def all(self) -> Batch:
        """Every component once; a stream raises NeedsFiniteSum."""

    def sample(self, b: int, draw: Draw, sampling: Sampling = "iid") -> Batch:
        """b components, a function of `draw`."""

    def look(self, x: Array) -> Look:
        """f and ∇f at x in one pass over all components."""

    def facts(self) -> Facts:
        """What is known of the sum beside its values."""

    def curvature(self, here: Look) -> Curvature | None:
        """The curvature of f at a point that was looked at; None where it is not known."""

    def smoothness(self) -> Smoothness | None:
        """The constants of the theory, from passes over the components."""

    def best_constant(self) -> Array | None:
        """The constant prediction with the least f."""

    def rounding(self, x: Array) -> float | None:
        """What rounding may hide of ∇f(x), to first order."""

    @property
    def evaluation(self) -> Sum:
        """The sum on which F and the measures are evaluated: itself, or the held-out sample of a stream."""

    @property
    def source(self) -> Source | None:
        """Where the samples of a stream come from; None for a finite sum."""

    @property
    def broken(self) -> BaseException | None:
        """The last error that came from a source of samples."""

    def notes(self) -> tuple[str, ...]:
        """What a result should say about the data that went by since the last result."""

    def spread(self, x: Array) -> float:
        """Of a stream: σ̂(x), the deviation of the gradient of one sample, from the held-out samples."""


class SumOverRows(Sum, Protocol):
    """f(x) = (1/N) Σ w_i φ(⟨a_i, x⟩, label_i), wherever the rows are: in one place, or in parts.

    Whoever needs more of the rows than is here writes a *piece*, a function of the `LinearSum` of one part, at the top
    of a module. A piece of f in one place sees f itself.
    """

    @property
    def n(self) -> int: ...

    @property
    def loss(self) -> Loss: ...

    @property
    def classes(self) -> tuple[int, ...]:
        """(c,) for a loss of c numbers a row"""

    def each(self, piece: Callable[..., Any], *args: Any) -> list[Any]:
        """piece(part, *args) of every part that has rows, in their order"""

    def total(self, piece: Callable[..., Any], *args: Any) -> Any:
        """The sum of these, in an order that depends on the number of parts alone"""

    def slopes_at(self, here: Look) -> Array:
        """φ'(z_i) of all rows at a point that was looked at, without a pass"""

    def take(self, rows: Array) -> SumOverRows:
        """The mean over the given rows, as a sum of its own"""

    def part(self, seed: int, share: float) -> SumOverRows:
        """The mean over the rows i with u_i < share"""

    def smoothness(self) -> Smoothness: ...

    def best_constant(self) -> Array: ...

    @property
    def largest_row(self) -> float:
        """max w_i ‖a_i‖²"""

    @property
    def mean_row(self) -> float:
        """(1/N) Σ w_i ‖a_i‖²"""

    @property
    def mean_weight(self) -> float:
        """(1/N) Σ w_i: 1 but for rounding, and in samples"""

    @property
    def column_mean_squares(self) -> Array | None:
        """(1/N) Σ w_i a_ij² of every column j; None if the storage does not show its entries"""

    @property
    def column_means(self) -> Array:
        """(1/N) Σ w_i a_ij of every column j"""

    @property
    def mean_curvature_bound(self) -> float:
        """sup|φ''| (1/N) Σ w_i ‖a_i‖² / d"""

    @property
    def compiled(self) -> bool:
        """Whether the first use compiles or loads kernels"""
