"""What a run is asked for: budgets, tolerances and output."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..convex import ScaledIdentity, UnknownScale
from ..errors import BadSettings, pick, require_number
from ..measures import MEASURES, scale
from ..problem import Problem
from ..xp import Array
from .stop import Passes, Progress, Rule, Samples, Seconds, Settle, Steps, Tol

_MOST = 10**7  # samples of a stream, where only tol is given
_PASSES, _GENERAL_PASSES = 1e3, 1e5  # where only tol is given; passes inside the programs of a general G count too
_FEW = 20.0  # passes, where nothing is given
_ROOMY = 100.0  # passes, of which some tens may be spent on finding a start
_FLOATS = ("passes", "samples", "seconds", "tol", "loose_tol", "trace", "scale")


class Tolerance(NamedTuple):
    """Tolerances as absolute numbers, and the size that the relative ones are shares of."""

    tol: float | None
    loose_tol: float | None
    scale: float | None

    @classmethod
    def of(
        cls,
        P: Problem,
        measure: str,
        x0: Array,
        tol: float | None,
        atol: float | None,
        loose_tol: float | None,
        size: float | None = None,
    ) -> Tolerance:
        """Of tol and atol the larger one holds. The scale, if it is not known, is computed where it is needed."""
        for name, value in (("tol", tol), ("atol", atol), ("loose_tol", loose_tol), ("scale", size)):
            if value is not None:
                require_number(name, value, 0.0)
        if size is None and not (tol is None and loose_tol is None):
            size = scale(P, measure, x0)
        shares = [None if share is None or size is None else float(share) * size for share in (tol, loose_tol)]
        if atol is None or (shares[0] is not None and shares[0] >= atol):
            return cls(shares[0], shares[1], size)
        return cls(float(atol), shares[1], None)


def default_tol(dtype: Any) -> float:
    """The relative tolerance of a run that is told nothing: float32 holds no points that are much nearer."""
    return 1e-6 if dtype == np.float64 else 1e-4


@dataclass(frozen=True)
class Goal:
    """Budgets, tolerances and output as the caller gave them: a checkpoint keeps them."""

    passes: float | None = None
    samples: float | None = None
    steps: int | None = None
    seconds: float | None = None
    tol: float | None = None  # Absolute, as all that is compared with a measure, once `absolute` was called.
    measure: str = "criticality"
    loose_tol: float | None = None
    output: str = "last"
    trace: float | str | None = "auto"
    settle: bool = False  # At tol the run goes on as long as steps pay.
    search: bool = False  # Critical points are left for lower ones,
    leaps: bool = False  # also on the way to the first of them.
    scale: float | None = None  # The size that tol is a share of; None: it was given absolute.

    def absolute(self, given: Tolerance) -> Goal:
        """With tolerances as numbers that a measure can be compared with."""
        return replace(self, tol=given.tol, loose_tol=given.loose_tol, scale=given.scale)

    def rule(self, P: Problem, stop: Rule | None) -> Rule:
        """The stop rule; refuses what does not fit together."""
        pick("measure", self.measure, MEASURES)
        pick("output", self.output, ("last", "best", "uniform", "uniform-before"))
        if stop is not None and not isinstance(stop, Rule):
            raise BadSettings("stop", stop, "a rule such as dcopt.stop.Passes(20) | dcopt.stop.Tol(1e-6)")
        if self.output.startswith("uniform") and self.tol is not None:
            expected = "'last' or 'best' with tol: a uniform index belongs to a fixed budget"
            raise BadSettings("output", self.output, expected)
        if self.loose_tol is not None:
            require_number("loose_tol", self.loose_tol, 0.0)
        if self.trace is not None and self.trace != "auto":
            require_number("trace", self.trace, 0.0, open_low=True)
        rules = self._budgets(P, None if isinstance(stop, Settle) else stop)
        if self.tol is not None:
            rules.insert(0, Tol(self.tol, self.settle))
        rule = rules[0]
        for other in rules[1:]:
            rule = rule | other
        return rule

    def _budgets(self, P: Problem, stop: Rule | None) -> list[Rule]:
        rules: list[Rule] = [] if stop is None else [stop]
        for given, kind in (
            (self.passes, Passes), (self.samples, Samples), (self.steps, Steps), (self.seconds, Seconds)
        ):  # fmt: skip
            if given is not None:
                rules.append(kind(given))  # type: ignore[arg-type]  # each with its own number
        stream = P.n is None
        if stream and any(rule.uses(Passes) for rule in rules):
            raise BadSettings("passes", self.passes, "samples=… instead: a stream has no N, and so no passes")
        if stream and not rules and self.tol is None:
            raise BadSettings("samples", None, "a budget for a stream: samples=, steps=, seconds= or tol=")
        if rules:
            return rules
        most = _PASSES if isinstance(P.G, ScaledIdentity | UnknownScale) else _GENERAL_PASSES
        return [Samples(_MOST) if stream else Passes(_FEW if self.tol is None else most)]

    @property
    def roomy(self) -> bool:
        """Whether some tens of passes may be spent on finding a start."""
        if self.steps is not None or self.seconds is not None or self.samples is not None:
            return False
        return self.tol is not None if self.passes is None else self.passes >= _ROOMY

    def half(self, run: Progress) -> bool:
        """Whether at most half of every budget is used."""
        spent = (self.passes, run.passes), (self.steps, run.t), (self.seconds, run.seconds)
        return all(budget is None or 2 * used <= budget for budget, used in spent)

    def every(self, P: Problem) -> Any:
        """Passes (samples, on a stream) between two lines of the trace."""
        if self.trace == "auto":
            return 1.0 if P.n is not None else "doubling"
        return self.trace

    def plain(self) -> dict[str, Any]:
        """As numbers that a file can hold."""
        given = asdict(self)
        floats = {key: float(given[key]) for key in _FLOATS if given[key] not in (None, "auto")}
        return given | floats | ({} if self.steps is None else {"steps": int(self.steps)})
