"""The numbers that decide what a step does. docs/policies.md says what was measured, and which test holds each."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import require_count, require_number

FLAT = 1e-3  # The share of the largest curvature below which f is flat at x, and that of a mean column which is thin.


@dataclass(frozen=True)
class Descent:
    """A candidate is taken where F falls by σ/2 ‖d‖² in its own metric; the metric grows until one is."""

    sigma: float = 0.1  # share of the fall that the model promises
    grow: float = 3.0  # factor from one τ to the next
    looks: int = 30  # looks at F in one step, at most
    partial: float = 0.5  # share of negative curvature that a model has, if Q is not positive definite with all of it

    def __post_init__(self) -> None:
        require_number("sigma", self.sigma, 0.0, 1.0, open_low=True)
        require_number("partial", self.partial, 0.0, 1.0)
        require_number("grow", self.grow, 1.0, open_low=True)
        require_count("looks", self.looks)

    @property
    def shares(self) -> tuple[float, ...]:
        """The shares of negative curvature that a model tries, in turn"""
        return 1.0, self.partial


@dataclass(frozen=True)
class Accuracy:
    """How well the convex program of a step is solved."""

    share: float = 0.05  # of the distance at x
    constant: float = 1e-3  # times as well, where the curvature of f is constant and a step may lead to the end

    def __post_init__(self) -> None:
        for name in ("share", "constant"):
            require_number(name, getattr(self, name), 0.0, 1.0, open_low=True)

    def of(self, relative_distance: float, constant: bool) -> float:
        """The share at a relative distance"""
        return min(self.share, relative_distance) * (self.constant if constant else 1.0)


@dataclass(frozen=True)
class Ridge:
    """μ, as a share of the diagonal of Q, times the relative distance: Newton's method near the end."""

    share: float = 1e-4
    exact: float = 1e-10  # μ itself, where Q is the curvature of f everywhere
    known: float = 1e-6  # the same for the first steps on a quadratic with a known Gram matrix, which cost no pass

    def __post_init__(self) -> None:
        for name in ("share", "exact", "known"):
            require_number(name, getattr(self, name), 0.0, 1.0, open_low=True)

    def of(self, relative_distance: float, exact: bool) -> float:
        """μ at a relative distance"""
        return self.exact if exact else self.share * relative_distance


@dataclass(frozen=True)
class WorkingSet:
    """How many rows of x may leave 0 in one step; those that are not 0 always take part."""

    most: int | None = None  # None: the numbers below
    sparse: int = 8192  # new columns of sparse data
    dense: float = 4.0  # √d new columns of dense data: their Gram matrix costs no more than 16 passes

    def __post_init__(self) -> None:
        require_count("sparse", self.sparse)
        require_number("dense", self.dense, 0.0, open_low=True)
        if self.most is not None:
            require_count("most", self.most)


@dataclass(frozen=True)
class Escape:
    """Where a step looks for a critical point of the model of F that is lower than the next one."""

    near: float = 0.01  # relative distance below which it does not look, because Newton's method is near its end
    far: float = 0.5  # relative distance above which it does not look, because all columns still move
    least: float = 1e-5  # of F, by which a point has to be lower
    width: int = 600  # entries of x that are searched at most
    rows: float = 0.4  # share of all rows that a sample must have: what a smaller one says of neighbours is chance
    steep: float = 0.05  # of the largest curvature, on average: below it f is flat at 0, and a leap would go far
    rung: int = 4  # factor by which a leap that failed is made shorter
    turns: int = 10  # linearisations of r2 on one model, at most
    close: float = 1e-3  # relative change of v at which r2 is not linearised again

    def __post_init__(self) -> None:
        for name in ("near", "far", "least", "rows", "steep", "close"):
            require_number(name, getattr(self, name), 0.0, 1.0)
        for name in ("width", "rung", "turns"):
            require_count(name, getattr(self, name))

    def looks_around(self, relative_distance: float, seen: int | None, n: int | None) -> bool:
        """Whether a step does at a relative distance, from a sample of so many of n rows"""
        return (seen or 0) >= self.rows * (n or 0) and self.near <= relative_distance <= self.far
