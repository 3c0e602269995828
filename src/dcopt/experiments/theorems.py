"""The four theorems as bounds: the measure at x̂, the output that they speak of, in many runs of their settings.

1  finite sum, critical distance      2  online, critical distance      3  finite sum, gap      4  online, gap

mode "certified": the theorem as mended here. "paper": as printed, with the printed batches and T. Online means batches
of b < N samples of a population of N, which the measure is taken on.

The printed condition b' ≥ 4(1−p)L²/(pρ²) with p b' ≈ 1 asks for ρ ≥ 2L. As ρ_H ≤ L_H ≤ L, that is ρ_φ ≥ L_H: up to a
term that falls with p, and for r2 = 0, it holds only where G + r1 − H is convex. The printed theorems run on such an F.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from ..errors import pick, require_count, require_number
from ..measures import criticality, gap, lagged_gap
from ..problems.erm import erm
from ..regularizers import Exponential
from ..report.panels import Claim, Table, weakest
from ..solve import iterate
from ..theory.plan import Plan, plan
from . import general, source
from .intervals import Mean, mean
from .ledger import Line
from .typed import build

_KINDS: dict[int, tuple[str, Literal["criticality", "gap"], Literal["finite-sum", "online"]]] = {
    1: ("Theorem, finite sum, distance", "criticality", "finite-sum"),
    2: ("Theorem, online, distance", "criticality", "online"),
    3: ("Theorem, finite sum, gap", "gap", "finite-sum"),
    4: ("Theorem, online, gap", "gap", "online"),
}
_SLOPE = 8.0 / 27.0  # sup|φ'| of the squared sigmoid: σ for rows of length 1
_SIGNS = {"criticality": "d(x̂)", "gap": "gap(x̂)"}


class Case(NamedTuple):
    """One theorem on one problem."""

    theorem: int
    problem: str
    n: int
    eps: float
    mode: str = "certified"


@dataclass(frozen=True)
class Recipe:
    """The whole experiment."""

    title: str
    cases: tuple[Case, ...]
    runs: int = 20
    dim: int = 8
    lam: float = 1e-4  # Of the penalty in form (S).
    alpha: float = 5.0

    def __post_init__(self) -> None:
        for case in self.cases:
            pick("theorem", str(case.theorem), [str(k) for k in _KINDS])
            pick("problem", case.problem, (*source.NAMES, *general.PROBLEMS, *general.CONVEX))
            pick("mode", case.mode, ("certified", "paper"))
            require_count("n", case.n, 2)
            require_number("eps", case.eps, 0.0, open_low=True)
        require_count("runs", self.runs)


class Trial(NamedTuple):
    """One run."""

    recipe: Recipe
    case: Case
    seed: int

    @property
    def key(self) -> str:
        return "/".join(map(str, (*self.case, self.seed)))

    def run(self) -> Line:
        done = along(planned(self.recipe, self.case), self.seed)
        says = f"{done['value'] / self.case.eps:.3g} of ε"
        return {"key": self.key, "says": says, "case": self.case._asdict()} | done


@dataclass(frozen=True)
class Bound:
    """A line of the ledger."""

    key: str
    says: str
    case: Case
    T: int
    drawn: float  # The measure at x̂.
    value: float  # Its mean over all points from which x̂ is drawn.
    lagged: float | None  # The same for the printed gap.
    gradients: float  # Those that the theorem predicts for all T steps.
    violated: tuple[str, ...]  # The conditions of the theorem that do not hold.


def check_line(line: Line, where: str) -> Bound:
    """BadSettings for a line that no run of the experiment has written."""
    return build(Bound, line, where)


@lru_cache(maxsize=1)
def planned(recipe: Recipe, case: Case) -> Plan:
    """The theorem's settings for this problem."""
    _, measure, setting = _KINDS[case.theorem]
    about: dict[str, Any] = {"eps": case.eps, "measure": measure, "setting": setting, "mode": case.mode}
    known = general.PROBLEMS | general.CONVEX
    if case.problem in known:
        P, x0, lower, sigma = known[case.problem](case.n, recipe.dim)
        return plan(P, D0=P.value(x0) - lower, sigma=sigma if setting == "online" else None, x0=x0, **about)
    X, y = source.rows(case.problem)
    X, y = X[: case.n], y[: case.n]
    P = erm(X, y, "squared-sigmoid", Exponential(lam=recipe.lam, alpha=recipe.alpha))
    return plan(P, sigma=_SLOPE if setting == "online" else None, **about)


def along(chosen: Plan, seed: int) -> dict[str, Any]:
    """All T steps: the measure at x̂, and its mean over the x_t from which x̂ is drawn, the expectation over x̂.

    Distance: x_1 … x_T. Gap: x_0 … x_{T−1}, but x_1 … x_T for the printed gap, which takes ∇H at the point before.
    """
    of_gap, P = chosen.measure == "gap", chosen.P
    values, lagged = [], []
    for state in islice(iterate(P, chosen, seed=seed, x0=chosen.x0), chosen.T):
        values.append(gap(P, state.prev) if of_gap else criticality(P, state.x))
        lagged += [lagged_gap(P, state.x, state.prev)] if of_gap else []
    k = int(np.random.default_rng([seed, 92]).integers(chosen.T))
    return {"T": chosen.T, "drawn": values[k], "value": float(np.mean(values)),
            "lagged": float(np.mean(lagged)) if of_gap else None, "gradients": float(chosen.gradients),
            "violated": list(chosen.violated)}  # fmt: skip


def jobs(recipe: Recipe, sets: Sequence[str]) -> Iterator[Trial]:
    """Every run, those of a case together."""
    for case in recipe.cases:
        if case.problem not in source.NAMES or case.problem in sets:
            yield from (Trial(recipe, case, seed) for seed in range(recipe.runs))


# ------------------------------------------------------------------------------------------------- claims


class Outcome(NamedTuple):
    """All runs of a case: the mean measure as a share of ε."""

    case: Case
    T: int
    share: Mean  # The mean over all points of a run.
    drawn: Mean  # At x̂ alone.
    lagged: Mean | None  # The same with the printed gap.
    gradients: float
    violated: tuple[str, ...]
    runs: int


def outcomes(lines: Sequence[Line]) -> list[Outcome]:
    """One for each case, in the order of the lines."""
    found: dict[Case, list[Line]] = {}
    for line in lines:
        found.setdefault(Case(**line["case"]), []).append(line)
    out = []
    for case, mine in found.items():
        lagged = None if mine[0]["lagged"] is None else mean([line["lagged"] / case.eps for line in mine])
        share, drawn = (mean([line[name] / case.eps for line in mine]) for name in ("value", "drawn"))
        out.append(Outcome(case, mine[0]["T"], share, drawn, lagged, mine[0]["gradients"],
                           tuple(mine[0]["violated"]), len(mine)))  # fmt: skip
    return out


def bound_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """Every theorem, as mended and as printed."""
    found = outcomes(lines)
    for theorem, mode in dict.fromkeys((o.case.theorem, o.case.mode) for o in found):
        mine = [o for o in found if (o.case.theorem, o.case.mode) == (theorem, mode)]
        yield _bound(theorem, mode, mine, {o: o.share for o in mine}, "")
        if mode == "paper" and mine[0].lagged is not None:
            yield _bound(theorem, mode, mine, {o: o.lagged for o in mine if o.lagged is not None}, "-lagged")


def _bound(theorem: int, mode: str, mine: Sequence[Outcome], shares: dict[Outcome, Mean], kind: str) -> Claim:
    where, measure, _ = _KINDS[theorem]
    as_what = "as mended" if mode == "certified" else "as printed"
    what = _SIGNS[measure] + (" with ∇H at the previous point" if kind else "")
    verdicts = {o: shares[o].within() for o in mine}
    texts = []
    for o in mine:
        own = "" if len(set(verdicts.values())) == 1 else f": {verdicts[o]}"
        broken = f"; violated: {', '.join(o.violated)}" if o.violated else ""
        texts.append(f"{_short(shares[o])} of ε = {o.case.eps:g}, T = {o.T}{broken} ({o.case.problem}{own})")
    lead = shares[mine[0]]
    return Claim(
        f"theorem-{theorem}-{mode}{kind}", where, f"E {what} ≤ ε after T steps, the theorem {as_what}",
        ", ".join(o.case.problem for o in mine), "mean " + "; ".join(texts), weakest(verdicts.values()),
        lead.value, (lead.low, lead.high),
        f"means over {mine[0].runs} runs; of each run the mean over all points from which the theorem draws x̂",
    )  # fmt: skip


def _short(m: Mean) -> str:
    return f"{m.value:.2g} [{m.low:.2g}, {m.high:.2g}]"


def bound_table(lines: Sequence[Line]) -> Table:
    """Every case with its numbers."""
    head = ("theorem", "mode", "problem", "N", "ε", "T", "gradients", "mean / ε", "at x̂ / ε", "printed gap / ε",
            "conditions")  # fmt: skip
    rows = []
    for o in outcomes(lines):
        shares = ("–" if m is None else _short(m) for m in (o.share, o.drawn, o.lagged))
        held = "violated: " + ", ".join(o.violated) if o.violated else "hold"
        rows.append((str(o.case.theorem), o.case.mode, o.case.problem, str(o.case.n), f"{o.case.eps:g}", str(o.T),
                     f"{o.gradients:.3g}", *shares, held))  # fmt: skip
    caption = (
        "Means over the runs as a share of ε, with 95 % intervals: of the measure over all points from which x̂ is "
        "drawn, and of the measure at one x̂ a run. 1 or less: the bound holds."
    )
    return Table("The theorems as bounds", head, tuple(rows), caption)


