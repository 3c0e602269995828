"""Each claim of the paper beside what was measured in runs, with a verdict from the interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

import numpy as np

from ..datasets.named import BUNDLED
from ..report.panels import Claim, Verdict, weakest
from ..theory.plan import plan
from . import contestants
from .curves import Job, SplitProblem
from .intervals import Mean, mean
from .slopes import SLACK, fit_slope
from .views import Runs, passes

_FIGURES = {"binary": "Figure 1", "multiclass": "Figure 2", "multiclass-kappa": "Figure 2, κ from (c − 1)/c"}
_PAGE, _RIVALS = "dca-page", ("dca-svrg", "dca-saga", "sdca")


def of(kind: str, all_runs: Sequence[Runs]) -> Iterator[Claim]:
    """The claims that an experiment can test."""
    if kind == "gap":
        yield from gap_claims(all_runs)
    for here in all_runs if kind != "gap" else ():
        if kind == "online":
            yield from online_claims(here)
            continue
        yield from training_loss(kind, here)
        if kind == "binary":
            yield from gap_square(kind, here)


def training_loss(kind: str, here: Runs) -> Iterator[Claim]:
    """F of DCA-PAGE minus F of a rival, pair by pair, when the budget is spent."""
    where = _FIGURES[kind]
    budget = here.recipe.passes
    stand_in = here.data in BUNDLED
    for rival in _RIVALS if _PAGE in here.methods else ():
        if rival not in here.methods:
            continue
        paper, honest = (
            mean(np.subtract(here.at_end(_PAGE, "F", x), here.at_end(rival, "F", x)).tolist())
            for x in ("paper", "passes")
        )
        F = [fmean(here.at_end(m, "F")) for m in (_PAGE, rival)]
        yield Claim(
            id=f"{kind}-{here.data}-{rival}",
            where=where,
            says=f"DCA-PAGE has a better training loss than {contestants.label(rival)}",
            data=here.data,
            measured=f"F {F[0]:.5f} against {F[1]:.5f}; difference {paper} after {passes(budget)} as the paper "
            f"counts, {honest} honestly counted",
            verdict="not testable here" if stand_in else paper.below(0.0),
            value=paper.value,
            interval=(paper.low, paper.high),
            why="another data set than the paper's" if stand_in else f"paired over {len(here.best)} runs",
        )


# ------------------------------------------------------------------------------------------------- the gap


def gap_claims(all_runs: Sequence[Runs]) -> Iterator[Claim]:
    """That the gap falls like 1/T without a smooth r2, and how it goes with the critical distance."""
    for here in all_runs:
        if _PAGE in here.methods:
            yield _gap_theorem(here, _PAGE)
        if "dca" in here.methods:
            yield _gap_theorem(here, "dca")


def _gap_theorem(here: Runs, name: str) -> Claim:
    """T · E gap(x̂) ≤ D0 (1 + Θ²/(2 ρ_φ a)), x̂ uniform: the mean gap of a run as a share of the bound; DCA: Θ = 0."""
    stochastic = name == _PAGE
    where, says = ("Theorem on the gap", "E gap(x̂) = O(1/T) without a smooth r2") if stochastic else (
        "Section II", "DCA: the mean gap is O(1/T)")  # fmt: skip
    split = SplitProblem.of(Job(here.recipe, here.data, name, 0))
    chosen = plan(split.P, eps=1e-3, measure="gap", mode="practical")
    if stochastic and not all(c.holds for c in chosen.conditions):
        return Claim(f"gap-{here.data}", where, says, here.data, "–", "not testable here",
                     why="the theorem does not cover κ = L_f on these rows")  # fmt: skip
    bound = chosen.T * chosen.eps if stochastic else chosen.D0
    lines = here.of(name)
    share = mean([float(np.trapezoid(here.column(line, "gap"), line["columns"]["t"])) / bound for line in lines])
    return Claim(
        f"gap-{'' if stochastic else 'dca-'}{here.data}", where, says, here.data,
        f"T · mean gap is {share.value:.2g} [{share.low:.2g}, {share.high:.2g}] of "
        + ("the theorem's bound (own-point gap, with the missing '1 +')" if stochastic else "F(x⁰) − inf F"),
        share.within(), share.value, (share.low, share.high),
        "the theorem bounds the mean over all steps, here taken between looks; how tight it is, one problem cannot say",
    )  # fmt: skip


def gap_square(kind: str, here: Runs) -> Iterator[Claim]:
    """The slope of log gap against log distance along every run of DCA, where r2 is smooth."""
    if "dca" not in here.methods or here.data in BUNDLED:
        return
    slopes = []
    for line in here.of("dca"):
        d, g = here.column(line, "criticality"), here.column(line, "gap")
        kept = (d > 0.0) & (g > 0.0)
        if np.count_nonzero(kept) > 2:
            slopes.append(float(np.polyfit(np.log(d[kept]), np.log(g[kept]), 1)[0]))
    share = mean(slopes or [math.nan])
    inside, apart = share.low - SLACK <= 2.0 <= share.high + SLACK, share.high - share.low > 1.0
    yield Claim(
        f"{kind}-{here.data}-square", "Remark on the gap", "The gap is of the order of the squared critical distance",
        here.data, "along runs of DCA the gap falls like the distance to the power "
        f"{share.value:.2f} [{share.low:.2f}, {share.high:.2f}]",
        _equal(inside, apart or math.isnan(share.value)), share.value, (share.low, share.high),
        f"the interval is widened by {SLACK}; near a kink of G + r1 it is false: the example |x|",
    )  # fmt: skip


def _equal(inside: bool, wide: bool) -> Verdict:
    """The verdict on an exponent that is in the interval or not; one that is too wide says nothing."""
    if wide:
        return "not distinguishable"
    return "supported" if inside else "not supported"


# ------------------------------------------------------------------------------------------------- online


def online_claims(here: Runs) -> Iterator[Claim]:
    """That DCA-PAGE works on a stream, with a floor that falls with b, and that DCA-SVRG does not."""
    floors = _floors(here, "page")
    if len(floors) > 1:
        slope = fit_slope(list(floors), list(floors.values()))
        yield Claim(
            "online-floor", "Theorem, online setting", "DCA-PAGE extends to the online setting; its error falls with b",
            here.data, f"mean gap of the last quarter {_listed(floors)}: slope {slope} in log-log",
            Mean(slope.value, slope.low, slope.high).below(0.0), slope.value, (slope.low, slope.high),
            "the bound on the floor is O(1/b); a slope above −1 means that noise is not all of it yet",
        )  # fmt: skip
    floors = _floors(here, "batch-svrg")
    if floors:
        start = fmean(float(here.column(line, "gap")[0]) for line in here.lines)
        shares = [mean([v / start for v in values]) for values in floors.values()]
        verdicts = [_OPPOSITE.get(v, v) for v in (share.below(_STAYS) for share in shares)]
        worst = max(shares)
        yield Claim(
            "online-others", "Section I", "DCA-SVRG cannot be extended to the online setting", here.data,
            f"with snapshots on b samples, mean gap of the last quarter {_listed(floors)}, at most {worst.value:.2g} "
            f"[{worst.low:.2g}, {worst.high:.2g}] of that at x⁰", weakest(verdicts), worst.value,
            (worst.low, worst.high), "SVRG of this kind has no theorem here; it counts as extended where the gap "
            f"falls below {_STAYS:g} of that at x⁰",
        )  # fmt: skip


_STAYS = 0.1  # The share of the first gap above which a method has not come nearer to a critical point.
_OPPOSITE: dict[Verdict, Verdict] = {"supported": "not supported", "not supported": "supported"}


def _floors(here: Runs, estimator: str) -> dict[int, list[float]]:
    """By b, for the variants with this estimator: the mean gap of the last quarter of every run."""
    variants = {m: here.recipe.variants[m] for m in here.methods if m in here.recipe.variants}
    batches = {m: int(v["b"]) for m, v in variants.items() if v["estimator"] == estimator and "b" in v}
    floors = {b: [float(np.mean(_tail(here.column(line, "gap")))) for line in here.of(m)] for m, b in batches.items()}
    return {b: values for b, values in floors.items() if np.median(values) > 0.0}  # Others have no logarithm.


def _listed(floors: dict[int, list[float]]) -> str:
    return ", ".join(f"{fmean(values):.1e} (b = {b})" for b, values in floors.items())


def _tail(values: np.ndarray) -> np.ndarray:
    return values[3 * len(values) // 4 :]
