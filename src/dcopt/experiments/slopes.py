"""log y ≈ slope · log x + c: exponents of the medians over seeds, with intervals, beside the exponents of Table I."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import BadSettings
from ..report.panels import Verdict
from .contestants import is_dca, step_cost
from .records import Record, beyond

NoClaim = Literal["no claim"]
CLAIMED = {  # The a in O(N + N^a ε⁻²), Table I of the paper; DCA takes N gradients in each of O(ε⁻²) steps.
    "dca": 1.0,
    "dca-saga": 3 / 4,
    "dca-svrg": 2 / 3,
    "mm-saga": 2 / 3,
    "mm-svrg": 2 / 3,
    "mm-sarah": 1 / 2,
    "dca-page": 1 / 2,
}
EPS_CLAIMED = 2.0
_N_RIVALS, _EPS_RIVALS = (1 / 2, 2 / 3, 3 / 4, 1.0), (1.0, 2.0)
SLACK = 0.05  # The error of a slope from rounding batch sizes to integers and from the drift of F with N.


@dataclass(frozen=True)
class Slope:
    """y ≈ exp(offset) x^value, 95 % interval [low, high] over seeds; `xs` are the points with a finite median."""

    value: float
    low: float
    high: float
    offset: float
    xs: tuple[float, ...]
    medians: tuple[float, ...]
    left_out: int  # The points at which half of the runs or more were censored.
    seeds: int  # The largest number at a point.

    def __str__(self) -> str:
        interval = "" if self.seeds == 1 else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.value:.2f}{interval}"

    def at(self, x: float) -> float:
        return math.exp(self.offset + self.value * math.log(x))


def fit_slope(
    xs: Sequence[float],
    values: Sequence[Sequence[float]],
    *,
    middle: Callable[..., Any] = np.median,
    resamples: int = 2000,
    seed: int = 0,
) -> Slope:
    """Least squares in log-log through the medians (or another `middle`); interval: the seeds resampled at each x.

    values[k] has one number for each seed at xs[k]; ∞ is a censored run, which a median takes for what it is.
    """
    middles = [float(middle(v)) for v in values]
    kept = [k for k, m in enumerate(middles) if 0.0 < m < math.inf]
    if len(kept) < 2:
        raise BadSettings("values", values, "positive medians, not censored, at two points or more")
    x = np.log([xs[k] for k in kept])
    value, offset = _line(x, np.log([[middles[k] for k in kept]]))
    rng = np.random.default_rng(seed)
    again = np.empty((resamples, len(kept)))
    for column, k in enumerate(kept):
        v = np.asarray(values[k], float)
        again[:, column] = middle(v[rng.integers(0, len(v), (resamples, len(v)))], axis=1)
    good = again[np.all((again > 0.0) & np.isfinite(again), axis=1)]  # Other resamples do not determine a line.
    low, high = np.percentile(_line(x, np.log(good))[0], [2.5, 97.5]) if len(good) else (-math.inf, math.inf)
    points = tuple(float(xs[k]) for k in kept), tuple(middles[k] for k in kept)
    return Slope(
        float(value[0]), float(low), float(high), float(offset[0]), *points, len(xs) - len(kept), max(map(len, values))
    )


def _line(x: NDArray[np.float64], ys: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slopes and offsets of many lines through the same abscissas."""
    centred = x - x.mean()
    slopes = ys @ centred / (centred @ centred)
    return slopes, ys.mean(axis=1) - slopes * x.mean()


def verdict(slope: Slope, claim: float | None, rivals: Iterable[float]) -> Verdict | NoClaim:
    """What the interval, widened by SLACK, says about an upper bound x^claim.

    "no claim": the method is a control, or Table I has no order for it.
    "supported": the claim is in it and no rival exponent. "not distinguishable": another exponent is in it, too.
    "bound holds, not attained": it lies below the claim. "not supported": it lies above.
    """
    if claim is None:
        return "no claim"
    low, high = slope.low - SLACK, slope.high + SLACK
    if high < claim:
        return "bound holds, not attained"
    if low > claim:
        return "not supported"
    return "not distinguishable" if any(low <= r <= high for r in rivals if r != claim) else "supported"


class Row(NamedTuple):
    """One method on one population."""

    data: str
    method: str
    claim: float | None
    honest: Slope  # The gradients after the first N.
    paper: Slope  # The same in the paper's count.
    total: Slope  # All gradients.
    steps: Slope
    mean: Slope | None  # As `honest`, through means instead of medians, because theorems bound expectations.
    verdict: Verdict | NoClaim  # The verdict on `honest`.
    programs: Slope | None = None  # As `honest`, with the gradients of G that the programs cost; None: they cost none.
    sizes: float = math.nan  # The slope of the expected gradients in one step: what batch sizes alone would give.


def against_N(records: Sequence[Record], level: float) -> list[Row]:
    """Exponents in N at ε = level · d(0), through the sizes at which a method is not DCA itself."""
    chosen = [r for r in records if r.level == level and (r.method == "dca" or not is_dca(r.method, r.n))]
    return _rows(chosen, "n", CLAIMED, _N_RIVALS)


def against_eps(records: Sequence[Record], n: int) -> list[Row]:
    """Exponents in 1/ε at N = n."""
    chosen = [r for r in records if r.n == n]
    return _rows(chosen, "eps", dict.fromkeys(CLAIMED, EPS_CLAIMED), _EPS_RIVALS)


def _rows(records: Sequence[Record], axis: str, claims: dict[str, float], rivals: Iterable[float]) -> list[Row]:
    rows = []
    for data, method in dict.fromkeys((r.data, r.method) for r in records):
        groups: dict[float, list[Record]] = {}
        for r in records:
            if (r.data, r.method) == (data, method):
                groups.setdefault(r.n if axis == "n" else 1.0 / r.eps, []).append(r)
        xs = sorted(groups)
        counts = [
            [[_count(r, count) for r in groups[x]] for x in xs] for count in ("gradients", "paper", "total", "steps")
        ]
        try:
            honest, paper, total, steps = (fit_slope(xs, values) for values in counts)
        except BadSettings:  # Nearly all runs are censored, so that there is no slope.
            continue
        known = all(value < math.inf for values in counts[0] for value in values)  # A mean needs every run to cross.
        mean = fit_slope(xs, counts[0], middle=np.mean) if known else None
        says = verdict(honest, claims.get(method), rivals)
        sizes = _line(np.log(xs), np.log([[step_cost(method, int(x)) for x in xs]]))[0][0] if axis == "n" else math.nan
        programs = None
        if any(r.programs for x in xs for r in groups[x]):
            programs = fit_slope(xs, [[beyond(r, "with programs") for r in groups[x]] for x in xs])
        rows.append(Row(data, method, claims.get(method), honest, paper, total, steps, mean, says, programs, sizes))
    return rows


def _count(record: Record, count: str) -> float:
    if count == "total":
        return math.inf if record.gradients is None else float(record.gradients)
    return beyond(record, count)
