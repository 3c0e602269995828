"""What the experiments on complexity run: populations, their sizes, levels of ε and methods."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import BadSettings, pick, require, require_count, require_number
from . import general, source
from .contestants import KNOWN

_FINEST = 50.0  # 2^−50 is about the rounding of one number in float64: no distance is known to a smaller share


@dataclass(frozen=True)
class Family:
    """One population: the sizes of its prefixes, and the size at which ε varies further."""

    data: str  # A LIBSVM name, "synthetic", or a problem of `general`.
    sizes: tuple[int, ...]
    at: int  # This N is also run with `fine`.
    levels: tuple[float, ...]  # ε / d(0) at every N; the last one is the ε of the fit against N
    fine: tuple[float, ...]  # The exponents k of ε = 2^−k d(0) at N = `at`, for the fit against ε.
    methods: tuple[str, ...] = ()  # In place of those of the recipe.

    def __post_init__(self) -> None:
        pick("data", self.data, (*source.NAMES, *general.PROBLEMS))
        for name in self.methods:
            pick("methods", name, KNOWN)
        for n in (*self.sizes, self.at):
            require_count("sizes", n, 2)
        for level in self.levels:
            require_number("levels", level, 0.0, 1.0, open_low=True)
        for k in self.fine:
            require_number("fine", k, 0.0, _FINEST)
        if not self.sizes or self.at not in self.sizes or not self.levels:
            raise BadSettings("at", self.at, "one of the sizes, with at least one level")

    def wanted(self, n: int) -> tuple[float, ...]:
        """The levels of a run with n components, from loose to tight."""
        return tuple(sorted({*self.levels, *(2.0**-k for k in self.fine if n == self.at)}, reverse=True))


@dataclass(frozen=True)
class Recipe:
    """The whole experiment."""

    title: str
    families: tuple[Family, ...]
    methods: tuple[str, ...]
    runs: int = 10
    once: tuple[str, ...] = ("dca",)  # Methods that make one run: DCA is deterministic, others take long.
    lam: float = 1e-4
    alpha: float = 5.0
    dim: int = 20  # The dimension of the synthetic population.
    ratio: float = 1.04  # The ratio of gradients beyond the first N between two records.
    cap: float = 2000.0  # The passes after which a run is censored.

    def __post_init__(self) -> None:
        require(bool(self.families), "families", self.families, "at least one family")
        for name in (*self.methods, *self.once):
            pick("methods", name, KNOWN)
        require_count("runs", self.runs)
        require_count("dim", self.dim)
        require_number("ratio", self.ratio, 1.0, open_low=True)
        require_number("cap", self.cap, 1.0)
        if len({f.data in general.PROBLEMS for f in self.families}) > 1:
            raise BadSettings("families", [f.data for f in self.families], "form (S) or problem (M), not both")

    def methods_on(self, family: Family) -> tuple[str, ...]:
        return family.methods or self.methods

    @property
    def is_general(self) -> bool:
        """Whether the problems are of the form (M)."""
        return self.families[0].data in general.PROBLEMS
